package branch

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// API loads linked branches for GraphQL.
type API struct{ s *Service }

// NewAPI returns the API of s.
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

// NewPayload renders a link to a branch of a repository.
func NewPayload(l *Link, in *repo.Access, tip git.SHA) *Payload {
	return &Payload{account.NodeID("LinkedBranch", l.ID), in.FullName(), heads + l.Name,
		pointer{tip, "commit"}}
}

// Linked returns the branches linked to each issue, as far as they are visible to the caller. Error: 410.
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
					out[l.number] = append(out[l.number], NewPayload(&l.Link, in, l.tip))
				}
			}
		}
		return err
	})
	return out, err
}
