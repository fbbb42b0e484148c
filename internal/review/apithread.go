package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GitHub's REST API has no threads. GraphQL uses these loaders.

// maxOfThread is the number of comments returned with a thread.
const maxOfThread = 100

// ThreadPayload is a review thread.
type ThreadPayload struct {
	Root       int64            `json:"-"` // the id of the first comment
	Number     int64            `json:"-"` // of the pull request
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
	ctx context.Context, pulls []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*ThreadPayload], error) {
	p := pageOf(ctx, pulls)
	at, of := map[issue.ID]repo.Of[int64]{}, map[issue.ID]*issue.Issue{}
	var list []*conversation
	var totals map[issue.ID]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := pull.Numbered(tx, pulls)
		if err != nil {
			return err
		}
		var ids []issue.ID
		for key, i := range found {
			ids, at[i.ID], of[i.ID] = append(ids, i.ID), key, i
		}
		if totals, err = countThreads(tx, ids, p.caller()); err != nil {
			return err
		}
		list, err = threadsOf(tx, ids, p.caller(), page.Size+1, page.Offset(), maxOfThread)
		return err
	})
	if err != nil {
		return nil, err
	}
	shown, err := api.s.showThreads(web.Unsent(ctx), p, list, of)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*ThreadPayload]{}
	for id, key := range at {
		out[key] = &web.List[*ThreadPayload]{Total: totals[id]}
	}
	for n, t := range list {
		out[at[t.issueID]].Add(page, shown[n])
	}
	return out, nil
}

// showThreads renders threads of several pull requests.
func (s *Service) showThreads(
	out *web.Output, p *page, list []*conversation, of map[issue.ID]*issue.Issue,
) ([]*ThreadPayload, error) {
	var comments []*Comment
	var people []account.ID
	for _, t := range list {
		comments = append(comments, t.comments...)
		if t.by != 0 {
			people = append(people, t.by)
		}
	}
	if err := s.prepareComments(out, p, comments, people...); err != nil {
		return nil, err
	}
	shown, at := make([]*ThreadPayload, len(list)), 0
	for n, t := range list {
		i := of[t.issueID]
		shown[n] = &ThreadPayload{Root: t.root, Number: i.Number, NodeID: account.NodeID(ThreadKind, t.root), Total: t.total,
			Resolved:   t.by != 0,
			MayResolve: p.caller() != 0 && mayResolve(p.in[i.RepoID], i) == nil, Comments: []*ThreadComment{}}
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

// ListManyOfReviews loads a page of the comments of each review. Reviews of other repositories have none.
func (api *API) ListManyOfReviews(
	ctx context.Context, reviews []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*ThreadComment], error) {
	p, ids := pageOf(ctx, reviews), db.Unique(repo.Keys(reviews))
	var list []*Comment
	var totals map[int64]int64
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if totals, err = countOf(tx, `review_comments`, `review_id`, ids); err != nil {
			return err
		}
		list, err = commentsOfReviews(tx, ids, p.caller(), page.Size+1, page.Offset())
		return err
	})
	list = inside(p, list, commentRepo)
	if err == nil {
		err = api.s.prepareComments(web.Unsent(ctx), p, list)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*ThreadComment]{}
	for n, c := range list {
		one, err := p.threadComment(n, c)
		if err != nil {
			return nil, err
		}
		at := repo.Of[int64]{In: p.in[c.RepoID], Key: c.ReviewID}
		if out[at] == nil {
			out[at] = &web.List[*ThreadComment]{Total: totals[c.ReviewID]}
		}
		out[at].Add(page, one)
	}
	return out, nil
}

// Threads returns threads by the ids of their first comments. It omits those of other repositories and those
// whose comments are hidden from the caller.
func (api *API) Threads(ctx context.Context, roots []repo.Of[int64]) (map[repo.Of[int64]]*ThreadPayload, error) {
	p := pageOf(ctx, roots)
	var list []*conversation
	of := map[issue.ID]*issue.Issue{}
	err := api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if list, err = threadsByRoots(tx, p.caller(), db.Unique(repo.Keys(roots))); err != nil {
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
	list = inside(p, list, func(t *conversation) repo.ID { return of[t.issueID].RepoID })
	shown, err := api.s.showThreads(web.Unsent(ctx), p, list, of)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*ThreadPayload{}
	for n, t := range list {
		out[repo.Of[int64]{In: p.in[of[t.issueID].RepoID], Key: t.root}] = shown[n]
	}
	return out, nil
}

// CommentsByIDs loads comments by their ids. Those of other repositories and those that the caller does not
// see are missing.
func (api *API) CommentsByIDs(
	ctx context.Context, ids []repo.Of[int64],
) (map[repo.Of[int64]]*ThreadComment, error) {
	p := pageOf(ctx, ids)
	list, err := db.Get(ctx, api.s.db, func(tx *db.Tx) ([]*Comment, error) {
		return commentsByIDs(tx, p.caller(), db.Unique(repo.Keys(ids)))
	})
	list = inside(p, list, commentRepo)
	if err == nil {
		err = api.s.prepareComments(web.Unsent(ctx), p, list)
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*ThreadComment{}
	for n, c := range list {
		if out[repo.Of[int64]{In: p.in[c.RepoID], Key: c.ID}], err = p.threadComment(n, c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func commentRepo(c *Comment) repo.ID { return c.RepoID }
