package branch

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
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
				out[at] = append(out[at], NewPayload(&l.Link, to, l.tip))
			}
		}
		return err
	})
	return out, err
}
