package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Webhook payloads have positions of comments as stored: finding the position in a newer head needs git,
// and git must not run within a transaction.

// ForHook renders a review of a pull request for a webhook payload. Error: 404.
func ForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, issues *issue.Service, number, id int64,
) (any, error) {
	f, err := inHook(ctx, tx, a, issues, []int64{id}, nil)
	if err != nil || len(f.reviews) == 0 {
		return nil, orAbsent(err)
	}
	v := f.reviews[0]
	return f.page.review(0, v, number, eventNames[v.State])
}

// CommentForHook renders a comment for a webhook payload. Error: 404.
func CommentForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, issues *issue.Service, id int64,
) (any, error) {
	f, err := inHook(ctx, tx, a, issues, nil, []int64{id})
	if err != nil || len(f.comments) == 0 {
		return nil, orAbsent(err)
	}
	return f.Comment(id)
}

// threadTold is a thread in webhook payloads.
type threadTold struct {
	NodeID   string `json:"node_id"`
	Comments []any  `json:"comments"`
}

// ThreadForHook renders the thread of a comment for a webhook payload. Error: 404.
func ThreadForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, issues *issue.Service, id int64,
) (any, error) {
	c, err := commentByID(tx, a.ID, id, account.IDOf(a.Caller))
	if err != nil {
		return nil, err
	}
	list, err := threadsByRoots(tx, account.IDOf(a.Caller), []int64{c.root()})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, t := range list {
		for _, c := range t.comments {
			ids = append(ids, c.ID)
		}
	}
	f, err := inHook(ctx, tx, a, issues, nil, ids)
	if err != nil {
		return nil, err
	}
	out := &threadTold{NodeID: account.NodeID(ThreadKind, c.root()), Comments: []any{}}
	for _, id := range ids {
		one, err := f.Comment(id)
		if err != nil {
			return nil, err
		}
		if one != nil {
			out.Comments = append(out.Comments, one)
		}
	}
	return out, nil
}

// inHook loads reviews and comments for a webhook payload and renders their bodies.
func inHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, issues *issue.Service, reviews, comments []int64,
) (*Feed, error) {
	f, err := LoadFeed(ctx, tx, []*repo.Access{a}, nil, reviews, comments)
	if err != nil {
		return nil, err
	}
	return f, f.Bodies(web.Unsent(ctx), issues)
}
