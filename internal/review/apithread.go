package review

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GitHub's REST API knows no threads: GraphQL asks these handlers.

// maxOfThread is how many comments of one thread are shown.
const maxOfThread = 100

// threadPayload is a thread.
type threadPayload struct {
	NodeID     string           `json:"node_id"`
	Resolved   bool             `json:"resolved"`
	ResolvedBy *account.Simple  `json:"resolved_by"`
	Total      int64            `json:"total"`    // comments
	Threads    int64            `json:"total_of"` // of the pull request
	MayResolve bool             `json:"may_resolve"`
	Comments   []*threadComment `json:"comments"`
}

// threadComment is a comment, which only GraphQL's clients are told is pending.
type threadComment struct {
	*commentPayload
	Pending  bool `json:"pending"`
	Outdated bool `json:"outdated"`

	OfReview int64 `json:"total_of,omitzero"` // comments of its review, where that was asked for
}

// ListThreads answers a page of the threads of one pull request.
func (api *API) ListThreads(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, i, err := api.find(r, a)
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		var list []*conversation
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			total, err := countThreads(tx, p.IssueID, account.IDOf(a.Caller))
			if err != nil {
				return err
			}
			tx.OnCommit(func() { web.Link(w, r, at, total) })
			list, err = threadsOf(tx, []issue.ID{p.IssueID}, account.IDOf(a.Caller), at.Size,
				at.Offset(), maxOfThread)
			return err
		})
		if err != nil {
			return err
		}
		shown, err := api.s.showThreads(out, a, list, map[issue.ID]*issue.Issue{i.ID: i})
		if err != nil {
			return err
		}
		return out.JSON(shown)
	})
}

// ListManyThreads is ListThreads for the pull requests of the parameter numbers: an object with a list for
// each, and one thread more where there are more than the page holds.
func (api *API) ListManyThreads(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxMany)
	at := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		of := map[issue.ID]*issue.Issue{}
		var list []*conversation
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
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
			list, err = threadsOf(tx, ids, account.IDOf(a.Caller), at.Size+1, at.Offset(), maxOfThread)
			return err
		})
		if err != nil {
			return err
		}
		shown, err := api.s.showThreads(out, a, list, of)
		if err != nil {
			return err
		}
		lists := map[string][]*threadPayload{}
		for n, t := range list {
			key := strconv.FormatInt(of[t.issueID].Number, 10)
			lists[key] = append(lists[key], shown[n])
		}
		return out.JSON(lists)
	})
}

// showThreads renders threads of the pull requests.
func (s *Service) showThreads(
	out *web.Output, a *repo.Access, list []*conversation, of map[issue.ID]*issue.Issue,
) ([]*threadPayload, error) {
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
	shown, at := make([]*threadPayload, len(list)), 0
	for n, t := range list {
		shown[n] = &threadPayload{NodeID: account.NodeID(ThreadKind, t.root), Total: t.total,
			Threads: t.threads, Resolved: t.by != 0,
			MayResolve: a.Caller != nil && mayResolve(a, of[t.issueID]) == nil, Comments: []*threadComment{}}
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

func (p *page) threadComment(n int, c *Comment) (*threadComment, error) {
	one, err := p.comment(n, c)
	return &threadComment{one, c.Pending, c.Outdated(), 0}, err
}

// ListManyOfReviews answers the comments of the reviews of the parameter ids: an object with a list for each,
// and one comment more where there are more than the page holds.
func (api *API) ListManyOfReviews(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ids := db.Unique(web.ParseNumbers(web.QueryOf(r).Get("ids"), maxMany))
	at := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		var list []*Comment
		var totals map[int64]int64
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			if totals, err = countOf(tx, `review_comments`, `review_id`, ids); err != nil {
				return err
			}
			list, err = commentsOfReviews(tx, ids, account.IDOf(a.Caller), at.Size+1, at.Offset())
			return err
		})
		for _, c := range list {
			if err == nil && c.RepoID != a.ID {
				err = errs.Absent()
			}
		}
		if err != nil {
			return err
		}
		p, err := api.s.preparedComments(out, a, list)
		if err != nil {
			return err
		}
		lists := map[string][]*threadComment{}
		for n, c := range list {
			one, err := p.threadComment(n, c)
			if err != nil {
				return err
			}
			one.OfReview = totals[c.ReviewID]
			lists[strconv.FormatInt(c.ReviewID, 10)] = append(lists[strconv.FormatInt(c.ReviewID, 10)], one)
		}
		return out.JSON(lists)
	})
}

// GetThread answers the thread of the comment that {id} names. Error: 404.
func (api *API) GetThread(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		list := []*conversation{{root: c.root(), issueID: c.IssueID}}
		var i *issue.Issue
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			t, found, err := threadByRoot(tx, a, c)
			list[0], i = t, found
			return err
		})
		if err != nil {
			return err
		}
		shown, err := api.s.showThreads(out, a, list, map[issue.ID]*issue.Issue{c.IssueID: i})
		if err != nil {
			return err
		}
		return out.JSON(shown[0])
	})
}

// GetDraft answers the comment that {id} names, and whether it is pending. Error: 404.
func (api *API) GetDraft(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	return api.answerDraft(w, r, a, http.StatusOK, c)
}

func (api *API) answerDraft(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment,
) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		p, err := api.s.preparedComments(out, a, []*Comment{c})
		if err != nil {
			return err
		}
		shown, err := p.threadComment(0, c)
		if err != nil {
			return err
		}
		return out.JSON(shown)
	})
}

// ResolveThread marks the thread of the comment that {id} names as resolved, or with resolved false as not:
// 204. Errors: those of Service.Resolve.
func (api *API) ResolveThread(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, CommentResource)
	if err != nil {
		return err
	}
	resolved := body.Bool("resolved")
	body.Require("resolved")
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.Resolve(r.Context(), a, c, resolved.Value); err != nil {
		return err
	}
	return web.NoContent(w)
}

// CreateDraft is CreateComment for a comment that waits in the caller's pending review.
func (api *API) CreateDraft(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	made, err := api.createComment(r, a, true)
	if err != nil {
		return err
	}
	return api.answerDraft(w, r, a, http.StatusCreated, made)
}
