package branch

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the questions about linked branches. It has no routes.
type API struct{ s *Service }

// NewAPI makes the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// Payload is a link.
type Payload struct {
	NodeID string  `json:"node_id"`
	Repo   string  `json:"repo"` // OWNER/NAME
	Ref    string  `json:"ref"`
	Object pointer `json:"object"`
}

// pointer is what the branch names, as in payloads of refs.
type pointer struct {
	SHA  git.SHA `json:"sha"`
	Type string  `json:"type"`
}

func newPayload(l *Link, in *repo.Access, tip git.SHA) *Payload {
	return &Payload{account.NodeID("LinkedBranch", l.ID), in.FullName(), heads + l.Name,
		pointer{tip, "commit"}}
}

// Linked finds the branches that are linked to each issue of the numbers, as far as the caller sees them.
// Error: 410.
func (api *API) Linked(ctx context.Context, a *repo.Access, numbers []int64) (map[int64][]*Payload, error) {
	out := map[int64][]*Payload{}
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		list, err := of(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		ids := make([]repo.ID, len(list))
		for n, l := range list {
			ids[n] = l.RepoID
		}
		visible, err := repo.VisibleByID(tx, a.Caller, db.Unique(ids))
		for _, l := range list {
			for _, in := range visible {
				if in.ID == l.RepoID {
					out[l.number] = append(out[l.number], newPayload(&l.Link, in, l.tip))
				}
			}
		}
		return err
	})
	return out, err
}

// Create makes the branch name of the commit sha in the repository, and links it to the issue number of the
// repository owner/repo, by default the same: under the right to make refs. Errors: those of Service.Create,
// 404 for the other repository.
func (api *API) Create(w http.ResponseWriter, r *http.Request, to *repo.Access) error {
	body, err := web.ReadObject(r, "LinkedBranch")
	if err != nil {
		return err
	}
	owner, in, number := body.String("owner", 0), body.String("repo", 0), body.Int("number")
	name, oid := body.String("name", 0).Value, body.String("sha", 0).Value
	body.Require("sha", "number")
	if err := body.Err(); err != nil {
		return err
	}
	sha, err := git.ParseSHA(oid)
	if err != nil {
		return err
	}
	a := to
	if in.Set {
		found, err := api.s.repos.Find(r.Context(), to.Caller, owner.Value, in.Value)
		if err != nil {
			return err
		}
		a = &found.Access
	}
	made, err := api.s.Create(r.Context(), a, number.Value, to, name, sha)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newPayload(made, to, sha))
}

// Remove ends the link with the id of the body. Errors: those of Service.Remove.
func (api *API) Remove(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, "LinkedBranch")
	if err != nil {
		return err
	}
	id := body.Int("id")
	body.Require("id")
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.Remove(r.Context(), a, number, id.Value); err != nil {
		return err
	}
	return web.NoContent(w)
}
