package pull

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// ListChosen returns pull requests in their full form for GraphQL, filtered by states (OPEN, CLOSED,
// MERGED, separated by commas), by the base branch base and by head, the name of a branch of any owner. The
// order is that of GET /repos/{owner}/{repo}/pulls. Errors: 422.
func (api *API) ListChosen(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	at, values := web.ReadPage(r), web.QueryOf(r)
	find := func(tx *db.Tx) ([]*issue.Issue, error) {
		where := posting.And{posting.HasOne(posting.ByPull.Of(0)), inStates(values.Get("states"))}
		if base := values.Get("base"); base != "" {
			id, err := branchID(tx, a.ID, 0, base)
			if err != nil {
				return nil, err
			}
			where = append(where, posting.Has{Kind: posting.ByBranch, Values: known(id)})
		}
		if head := values.Get("head_ref"); head != "" {
			ids, err := headBranches(tx, a.ID, head)
			if err != nil {
				return nil, err
			}
			where = append(where, posting.Has{Kind: posting.ByBranch, Values: ids})
		}
		in := []posting.Repo{{ID: a.ID}}
		list, found, err := api.s.issues.Find(tx, posting.Query{Repos: in, Where: where, Order: c.order},
			at.Offset(), at.Size)
		tx.OnCommit(func() { web.Link(w, r, at, found.Total) })
		return list, err
	}
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		p, err := api.full(out, a, find)
		if err != nil {
			return err
		}
		return p.write(out)
	})
}

// known returns the index values of a branch: none if no pull request ever had it.
func known(id int64) []int64 {
	if id == 0 {
		return nil
	}
	return []int64{id}
}

// inStates returns the condition for GraphQL's states. No states means all.
func inStates(names string) posting.Expr {
	if names == "" {
		return posting.And{}
	}
	merged := posting.Between{Field: posting.MergedAt, From: 1, To: int64(^uint64(0) >> 1)}
	var states posting.Or
	for name := range strings.SplitSeq(names, ",") {
		switch name {
		case "OPEN":
			states = append(states, posting.InState(issuekit.Open))
		case "CLOSED":
			states = append(states, posting.And{posting.InState(issuekit.Closed), posting.Not{Expr: merged}})
		case "MERGED":
			states = append(states, merged)
		}
	}
	return states
}

// Numbered loads pull requests by number in their full form. Unknown numbers are omitted.
func (api *API) Numbered(ctx context.Context, a *repo.Access, numbers []int64) (map[int64]*Payload, error) {
	p, err := api.full(web.Unsent(ctx), a, func(tx *db.Tx) ([]*issue.Issue, error) {
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		var list []*issue.Issue
		for _, i := range found {
			if i.Pull {
				list = append(list, i)
			}
		}
		return list, err
	})
	if err != nil {
		return nil, err
	}
	out := map[int64]*Payload{}
	for _, i := range p.Issues() {
		if out[i.Number], err = p.payload(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// full returns a page of pull requests in their full form, loaded with a fixed number of queries.
func (api *API) full(
	out *web.Output, a *repo.Access, find func(tx *db.Tx) ([]*issue.Issue, error),
) (*page, error) {
	var p *page
	err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
		p = newPage(out.Context(), a)
		p.full = true
		list, err := find(tx)
		if err != nil {
			return err
		}
		p.Add(list...)
		return p.load(tx)
	})
	if err == nil {
		err = p.Bodies(out, api.s.issues)
	}
	return p, err
}

// SetDraft converts the pull request to a draft, or back if draft is false, and returns it. It is for
// GraphQL; GitHub's REST API has no such endpoint. Errors: those of Service.SetDraft.
func (api *API) SetDraft(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	draft := body.Bool("draft")
	body.Require("draft")
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.SetDraft(r.Context(), a, n, draft.Value); err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, n)
}
