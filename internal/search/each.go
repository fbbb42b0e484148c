package search

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/posting"
)

// SearchEach finds the first size issues of each query, for the page of issues waiting for a user. If each
// finds few issues, it takes a few statements for all, and reads of their references only the repositories.
// Errors: those of Search; 422 for a query with words.
func (s *Service) SearchEach(
	ctx context.Context, caller *account.Caller, queries []*Query, size int64,
) ([]*Results, error) {
	for _, q := range queries {
		if q.asksIndex() {
			return nil, errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField})
		}
	}
	var found []*Results
	err := s.read(ctx, false, func(tx *db.Tx, _ bool) (err error) {
		found, err = readEach(ctx, tx, s.issues, caller, queries, size)
		return err
	})
	return found, err
}

func readEach(ctx context.Context, tx *db.Tx, issues *issue.Service, caller *account.Caller, queries []*Query,
	size int64) ([]*Results, error) {
	in := make([]posting.Query, len(queries))
	for n, q := range queries {
		var err error
		if in[n], err = q.prepare(tx, caller); err != nil {
			return nil, err
		}
	}
	lists, found, err := issues.FindEach(tx, in, size)
	if err != nil {
		return nil, err
	}
	page := issue.NewPage(ctx)
	results := make([]*Results, len(queries))
	for n, list := range lists {
		page.Add(list...)
		results[n] = &Results{Total: found[n].Total, page: page}
		for _, i := range list {
			results[n].Hits = append(results[n].Hits, Hit{Issue: i})
		}
	}
	return results, page.Enter(tx, caller)
}
