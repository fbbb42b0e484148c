package pull

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// Outlooks loads what the rules of their bases ask of pull requests, with a fixed number of statements. Those whose
// base has no rules are missing.
func (api *API) Outlooks(ctx context.Context, list []repo.Of[int64]) (map[repo.Of[int64]]*rule.Outlook, error) {
	var ruled []repo.Of[int64]
	for _, of := range list {
		if of.In.Ruled {
			ruled = append(ruled, of)
		}
	}
	if len(ruled) == 0 {
		return nil, nil
	}
	found := map[repo.Of[int64]]*rule.Outlook{}
	var candidates []rule.Candidate
	var outlooks map[int64]*rule.Outlook
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		issues, err := Numbered(tx, ruled)
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range issues {
			ids = append(ids, i.ID)
		}
		pulls, err := ByIDs(tx, ids)
		if err != nil {
			return err
		}
		candidates = nil
		for _, p := range pulls {
			candidates = append(candidates, p.candidate())
		}
		outlooks, err = rule.Outlooks(tx, candidates)
		for of, i := range issues {
			if o := outlooks[int64(i.ID)]; o != nil {
				found[of] = o
			}
		}
		return err
	})
	if err == nil {
		err = api.s.askGit(ctx, candidates, outlooks)
	}
	return found, err
}

// Queues is [Service.Queues].
func (api *API) Queues(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]*Queue, error) {
	return api.s.Queues(ctx, list)
}
