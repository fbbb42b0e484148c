package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GitHub's REST API has no threads. GraphQL uses these loaders.

// maxOfThread is the number of comments returned with a thread.
const maxOfThread = 100

// ThreadPayload is a review thread.
type ThreadPayload struct {
	NodeID     string           `json:"node_id"`
	Resolved   bool             `json:"resolved"`
	ResolvedBy *account.Simple  `json:"resolved_by"`
	Total      int64            `json:"total"` // number of comments
	MayResolve bool             `json:"may_resolve"`
	Comments   []*ThreadComment `json:"comments"`
}

// ThreadComment is a review comment with the fields that only GraphQL has.
type ThreadComment struct {
	*commentPayload
	Pending  bool `json:"pending"`
	Outdated bool `json:"outdated"`
}

// ListManyThreads loads a page of the threads of each pull request. Unknown numbers have no threads.
func (api *API) ListManyThreads(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[*ThreadPayload], error) {
	of := map[issue.ID]*issue.Issue{}
	var list []*conversation
	var totals map[issue.ID]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(of)
		found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range found {
			if i.Pull {
				ids, of[i.ID] = append(ids, i.ID), i
			}
		}
		if totals, err = countThreads(tx, ids, account.IDOf(a.Caller)); err != nil {
			return err
		}
		list, err = threadsOf(tx, ids, account.IDOf(a.Caller), page.Size+1, page.Offset(), maxOfThread)
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, err := api.s.showThreads(web.Unsent(ctx), a, list, of)
	if err != nil {
		return nil, err
	}
	out := map[int64]*web.List[*ThreadPayload]{}
	for id, i := range of {
		out[i.Number] = &web.List[*ThreadPayload]{Total: totals[id]}
	}
	for n, t := range list {
		out[of[t.issueID].Number].Add(page, shown[n])
	}
	return out, nil
}

// showThreads renders threads of several pull requests.
func (s *Service) showThreads(
	out *web.Output, a *repo.Access, list []*conversation, of map[issue.ID]*issue.Issue,
) ([]*ThreadPayload, error) {
	var comments []*Comment
	var people []account.ID
	for _, t := range list {
		comments = append(comments, t.comments...)
		if t.by != 0 {
			people = append(people, t.by)
		}
	}
	p, err := s.preparedComments(out, a, comments, people...)
	if err != nil {
		return nil, err
	}
	shown, at := make([]*ThreadPayload, len(list)), 0
	for n, t := range list {
		shown[n] = &ThreadPayload{NodeID: account.NodeID(ThreadKind, t.root), Total: t.total,
			Resolved:   t.by != 0,
			MayResolve: a.Caller != nil && mayResolve(a, of[t.issueID]) == nil, Comments: []*ThreadComment{}}
		if t.by != 0 {
			shown[n].ResolvedBy = p.User(t.by)
		}
		for _, c := range t.comments {
			one, err := p.threadComment(at, c)
			if err != nil {
				return nil, err
			}
			shown[n].Comments = append(shown[n].Comments, one)
			at++
		}
	}
	return shown, nil
}

func (p *page) threadComment(n int, c *Comment) (*ThreadComment, error) {
	one, err := p.comment(n, c)
	return &ThreadComment{one, c.Pending, c.Outdated()}, err
}

// ListManyOfReviews loads a page of the comments of each review. All reviews must belong to the repository.
func (api *API) ListManyOfReviews(
	ctx context.Context, a *repo.Access, ids []int64, page web.Page,
) (map[int64]*web.List[*ThreadComment], error) {
	var list []*Comment
	var totals map[int64]int64
	ids = db.Unique(ids)
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if totals, err = countOf(tx, `review_comments`, `review_id`, ids); err != nil {
			return err
		}
		list, err = commentsOfReviews(tx, ids, account.IDOf(a.Caller), page.Size+1, page.Offset())
		return err
	})
	for _, c := range list {
		if err == nil && c.RepoID != a.ID {
			err = errs.Absent()
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := api.s.preparedComments(web.Unsent(ctx), a, list)
	if err != nil {
		return nil, err
	}
	out := map[int64]*web.List[*ThreadComment]{}
	for n, c := range list {
		one, err := p.threadComment(n, c)
		if err != nil {
			return nil, err
		}
		if out[c.ReviewID] == nil {
			out[c.ReviewID] = &web.List[*ThreadComment]{Total: totals[c.ReviewID]}
		}
		out[c.ReviewID].Add(page, one)
	}
	return out, nil
}

// Threads returns threads of the repository by the ids of their first comments. It omits those whose
// comments are hidden from the caller.
func (api *API) Threads(ctx context.Context, a *repo.Access, roots []int64) (map[int64]*ThreadPayload, error) {
	var list []*conversation
	of := map[issue.ID]*issue.Issue{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = threadsByRoots(tx, a.ID, account.IDOf(a.Caller), db.Unique(roots)); err != nil {
			return err
		}
		ids := make([]issue.ID, len(list))
		for n, t := range list {
			ids[n] = t.issueID
		}
		issues, err := issue.ByIDs(tx, db.Unique(ids))
		for _, i := range issues {
			of[i.ID] = i
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, err := api.s.showThreads(web.Unsent(ctx), a, list, of)
	if err != nil {
		return nil, err
	}
	out := map[int64]*ThreadPayload{}
	for n, t := range list {
		out[t.root] = shown[n]
	}
	return out, nil
}

// CommentsByIDs loads the comments of the repository by their ids. Those that the caller does not see are
// missing.
func (api *API) CommentsByIDs(
	ctx context.Context, a *repo.Access, ids []int64,
) (map[int64]*ThreadComment, error) {
	var list []*Comment
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = commentsByIDs(tx, a.ID, account.IDOf(a.Caller), db.Unique(ids))
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := api.s.preparedComments(web.Unsent(ctx), a, list)
	if err != nil {
		return nil, err
	}
	out := map[int64]*ThreadComment{}
	for n, c := range list {
		if out[c.ID], err = p.threadComment(n, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}
