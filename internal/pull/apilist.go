package pull

import (
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// longRunning is the maximum time since the last update for sort=long-running (decision 40).
const longRunning = 30 * 24 * time.Hour

// GET /repos/{owner}/{repo}/pulls
//
// List lists the pull requests. Errors: 422.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	c, err := readChoice(r)
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	return api.renderList(out, a, func(tx *db.Tx) ([]*issue.Issue, error) {
		list, total, err := api.s.list(tx, a, c, at)
		tx.OnCommit(func() { web.Link(out, r, at, total) })
		return list, err
	})
}

// renderList renders the pull requests that find reads.
func (api *API) renderList(
	out *web.Output, a *repo.Access, find func(tx *db.Tx) ([]*issue.Issue, error),
) error {
	p, err := api.s.readPage(out.Context(), brief, []*repo.Access{a}, find)
	if err == nil {
		err = p.Bodies(out, api.s.issues)
	}
	if err != nil {
		return err
	}
	return p.write(out)
}

// list reads a page of the chosen pull requests and their total number.
func (s *Service) list(tx *db.Tx, a *repo.Access, c choice, at web.Page) ([]*issue.Issue, int64, error) {
	where, some, err := c.branches(tx, a)
	if err != nil || !some {
		return nil, 0, err
	}
	where = append(append(where, c.where...), posting.HasOne(posting.ByPull.Of(0)))
	if c.longRunning {
		where = append(where, posting.Since(max(1, tx.Now-db.Time(longRunning.Microseconds()))))
	}
	in := []posting.Repo{{ID: a.ID}}
	q := posting.Query{Repos: in, Where: where, Order: c.order}
	list, found, err := s.issues.Find(tx, q, at.Offset(), at.Size)
	return list, found.Total, err
}

// choice holds the filters and the order of a list.
type choice struct {
	base, head  string // a branch, and OWNER:BRANCH; empty: any
	where       posting.And
	longRunning bool // only those updated within longRunning
	order       posting.Order
}

// readChoice reads the parameters of a list.
func readChoice(r *http.Request) (choice, error) {
	c := choice{base: web.QueryOf(r).Get("base"), head: web.QueryOf(r).Get("head")}
	state, err := web.QueryEnum(r, Resource, "state", "open", "closed", "all")
	if err != nil {
		return c, err
	}
	sort, err := web.QueryEnum(r, Resource, "sort", "created", "updated", "popularity", "long-running")
	if err != nil {
		return c, err
	}
	usual := "asc"
	switch sort {
	case "created":
		usual = "desc"
	case "updated":
		c.order.Sort = posting.Updated
	case "popularity":
		c.order.Sort = posting.Comments
	default: // by age; oldest first if direction is asc
		c.longRunning, state = true, "open"
	}
	if s, ok := issuekit.ParseState(state); ok {
		c.where = append(c.where, posting.InState(s))
	}
	direction, err := web.QueryEnum(r, Resource, "direction", usual, "asc", "desc")
	c.order.Asc = direction == "asc"
	return c, err
}

// branches are the conditions of base and head; some is false when no pull request ever had such a branch.
func (c *choice) branches(tx *db.Tx, a *repo.Access) (has posting.And, some bool, err error) {
	add := func(ownerID account.ID, name string) error {
		id, err := branchID(tx, a.ID, ownerID, name)
		if some = some && id != 0; some {
			has = append(has, posting.HasOne(posting.ByBranch.Of(id)))
		}
		return err
	}
	some = true
	if c.base != "" {
		if err := add(0, c.base); err != nil {
			return nil, false, err
		}
	}
	login, branch, whose := strings.Cut(c.head, ":")
	if whose && some { // a branch alone is ignored, as at GitHub
		owner, err := account.ByLogin(tx, login)
		if errs.Is(err, errs.NotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		err = add(owner.ID, branch)
		return has, some, err
	}
	return has, some, nil
}
