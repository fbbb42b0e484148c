package search

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/web"
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

// SearchBy finds a page of what a query finds of each of several authors, as Search finds it with author:. The number
// of statements does not depend on the authors, as far as each finds few issues. Errors: those of Search.
func (s *Service) SearchBy(
	ctx context.Context, caller *account.Caller, q *Query, authors []account.ID, at web.Page,
) (map[account.ID]*web.List[*issue.View], error) {
	if at.Offset() >= MaxReach {
		return nil, errs.Newf(errs.Invalid, "Only the first %d search results are available", MaxReach)
	}
	at.Size = min(at.Size, MaxReach-at.Offset())
	var lists [][]*issue.Issue
	var found []posting.Found
	var page *issue.Page
	err := s.read(ctx, q.asksIndex(), func(tx *db.Tx, _ bool) error {
		lists, page = nil, issue.NewPage(ctx)
		in, err := q.prepare(tx, caller)
		if err != nil || posting.IsFalse(in.Where) {
			return err
		}
		if err := posting.Prepare(tx, &in); err != nil {
			return err
		}
		queries := make([]posting.Query, len(authors))
		for n, id := range authors {
			queries[n] = in
			queries[n].Where = posting.And{in.Where, posting.HasUser(posting.ByAuthor, []account.ID{id})}
		}
		if lists, found, err = s.issues.FindPages(tx, queries, at); err != nil {
			return err
		}
		for _, list := range lists {
			page.Add(list...)
		}
		if err := page.Enter(tx, caller); err != nil {
			return err
		}
		return page.Load(tx)
	})
	if err == nil {
		err = page.Bodies(web.Unsent(ctx), s.issues)
	}
	if err != nil {
		return nil, err
	}
	out := map[account.ID]*web.List[*issue.View]{}
	for n, list := range lists {
		total := found[n].Total
		rows := make([]*issue.View, len(list))
		for k, i := range list {
			if rows[k], err = page.Shown(i); err != nil {
				return nil, err
			}
		}
		out[authors[n]] = &web.List[*issue.View]{Rows: rows, Total: total,
			More: at.Offset()+at.Size < min(total, MaxReach)}
	}
	return out, nil
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
