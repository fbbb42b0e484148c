package pull

import (
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// longRunning is how lately a pull request of sort=long-running was updated
// (decision 40).
const longRunning = 30 * 24 * time.Hour

// GET /repos/{owner}/{repo}/pulls
//
// List answers a page of the pull requests. Errors: 422.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q, err := readQuery(r)
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	return api.serve(w, r, a, "", func(out *web.Output) error {
		ctx := out.Context()
		var p *page
		err := api.s.db.Read(ctx, func(tx *db.Tx) error {
			p = newPage(ctx, a)
			has, some, err := branches(tx, a, r)
			if err != nil || !some {
				return err
			}
			q := q
			if q.Since != 0 {
				q.Since = max(1, tx.Now-db.Time(longRunning.Microseconds()))
			}
			q.Parts = []posting.Part{{RepoID: a.ID, Has: append(has, posting.Property{Kind: posting.ByPull})}}
			list, total, err := api.s.issues.List(tx, q, at.Offset(), at.Size)
			if err != nil {
				return err
			}
			tx.OnCommit(func() { web.Link(w, r, at, total) })
			p.Add(list...)
			return p.load(tx)
		})
		if err == nil {
			err = p.Bodies(out, api.s.issues)
		}
		if err != nil {
			return err
		}
		return p.write(out)
	})
}

// readQuery reads state, sort and direction. Since is set, to any value, where
// only those lately updated count.
func readQuery(r *http.Request) (posting.Query, error) {
	var q posting.Query
	state, err := web.QueryEnum(r, Resource, "state", "open", "closed", "all")
	if err != nil {
		return q, err
	}
	q.States = []issue.State{issue.Open, issue.Closed}
	if s, ok := tracker.ParseState(state); ok {
		q.States = []issue.State{s}
	}
	sort, err := web.QueryEnum(r, Resource, "sort", "created", "updated", "popularity", "long-running")
	if err != nil {
		return q, err
	}
	usual := "asc"
	switch sort {
	case "created":
		usual = "desc"
	case "updated":
		q.Order.Sort = posting.Updated
	case "popularity":
		q.Order.Sort = posting.Comments
	default: // by age, the oldest first where the direction is asc
		q.Since, q.States = 1, []issue.State{issue.Open}
	}
	direction, err := web.QueryEnum(r, Resource, "direction", usual, "asc", "desc")
	q.Order.Asc = direction == "asc"
	return q, err
}

// branches reads the filters base and head; some is false when no pull request
// ever had such a branch. Error: 422 for a head that is not USER:BRANCH.
func branches(tx *db.Tx, a *repo.Access, r *http.Request) (has []posting.Property, some bool, err error) {
	values := web.QueryOf(r)
	add := func(ownerID int64, name string) error {
		id, err := branchID(tx, a.ID, ownerID, name)
		if some = some && id != 0; some {
			has = append(has, posting.Property{Kind: posting.ByBranch, Value: id})
		}
		return err
	}
	some = true
	if base := values.Get("base"); base != "" {
		if err := add(0, base); err != nil {
			return nil, false, err
		}
	}
	if head := values.Get("head"); head != "" && some {
		login, branch, ok := strings.Cut(head, ":")
		if !ok {
			return nil, false, wrong("head", errs.InvalidField, head)
		}
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
