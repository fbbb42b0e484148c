package branch

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the handlers of linked branches. They have no routes.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Payload is a link.
type Payload struct {
	NodeID string  `json:"node_id"`
	Repo   string  `json:"repo"` // OWNER/NAME
	Ref    string  `json:"ref"`
	Object pointer `json:"object"`
}

// pointer is the commit of the branch, as in payloads of refs.
type pointer struct {
	SHA  git.SHA `json:"sha"`
	Type string  `json:"type"`
}

func newPayload(l *Link, in *repo.Access, tip git.SHA) *Payload {
	return &Payload{account.NodeID("LinkedBranch", l.ID), in.FullName(), heads + l.Name,
		pointer{tip, "commit"}}
}

// Linked returns the branches linked to each issue, as far as they are visible to the caller.
func (api *API) Linked(ctx context.Context, issues []repo.Of[int64]) (map[repo.Of[int64]][]*Payload, error) {
	in, out := repo.In(issues), map[repo.Of[int64]][]*Payload{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		list, err := of(tx, issues)
		if err != nil || len(list) == 0 {
			return err
		}
		ids := make([]repo.ID, len(list))
		for n, l := range list {
			ids[n] = l.RepoID
		}
		visible, err := repo.ByIDs(tx, issues[0].In.Caller, db.Unique(ids))
		for _, l := range list {
			if to := visible[l.RepoID]; to != nil {
				at := repo.Of[int64]{In: in[l.issueRepo], Key: l.number}
				out[at] = append(out[at], newPayload(&l.Link, to, l.tip))
			}
		}
		return err
	})
	return out, err
}

// Create creates the branch name at the commit sha and links it to the issue number of the repository
// owner/repo, by default the same repository. It requires the right to create refs. Errors: those of
// Service.Create, 404 for the other repository.
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

// Remove removes the link with the id in the body. Errors: those of Service.Remove.
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
