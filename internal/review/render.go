package review

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// renderComments renders comments with a fixed number of queries, after updating their positions.
func (s *Service) renderComments(out *web.Output, a *repo.Access, list []*Comment, single bool) error {
	p, err := s.preparedComments(out, a, list)
	if err != nil {
		return err
	}
	return out.Items(len(list), single, func(n int) (any, error) { return p.comment(n, list[n]) })
}

// preparedComments returns a page with everything that the payloads of the comments need, and with the
// users in others.
func (s *Service) preparedComments(
	out *web.Output, a *repo.Access, list []*Comment, others ...account.ID,
) (*page, error) {
	ctx := out.Context()
	p, err := s.loadComments(ctx, a, web.From(ctx).Media.Preview(web.Reactions), list, others...)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	for n, c := range list {
		texts[n] = c.Body
	}
	return p, p.prepare(out, s.issues, texts)
}

// loadComments finds out where comments are now, and reads what they refer to, but for their texts.
func (s *Service) loadComments(
	ctx context.Context, a *repo.Access, reactions bool, list []*Comment, others ...account.ID,
) (*page, error) {
	if err := s.follow(ctx, list); err != nil {
		return nil, err
	}
	p, authors := newPage(ctx, a), others
	var reacted []int64
	for _, c := range list {
		authors = append(authors, c.AuthorID)
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	return p, s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if err := p.load(tx, authors); err != nil {
			return err
		}
		if reactions && len(reacted) > 0 {
			p.rollups, err = reaction.Rollups(tx, reaction.ReviewComment, reacted)
		}
		return err
	})
}

// renderReviews renders reviews of one pull request.
func (s *Service) renderReviews(
	out *web.Output, a *repo.Access, pull int64, list []*Review, single bool,
) error {
	p, err := s.preparedReviews(out, a, list)
	if err != nil {
		return err
	}
	return out.Items(len(list), single, func(n int) (any, error) {
		return p.review(n, list[n], pull, list[n].State.String())
	})
}

// preparedReviews returns a page with everything that the payloads of the reviews need.
func (s *Service) preparedReviews(out *web.Output, a *repo.Access, list []*Review) (*page, error) {
	p := newPage(out.Context(), a)
	authors, texts := make([]account.ID, len(list)), make([]string, len(list))
	for n, v := range list {
		authors[n], texts[n] = v.AuthorID, v.Body
	}
	err := s.db.Read(out.Context(), func(tx *db.Tx) error { return p.load(tx, authors) })
	if err == nil {
		err = p.prepare(out, s.issues, texts)
	}
	return p, err
}

// answerComment writes one comment as the response.
func (api *API) answerComment(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment,
) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		return api.s.renderComments(out, a, []*Comment{c}, true)
	})
}

// serve answers a GET from the cache or with the output of render. Texts can refer to anything that the
// caller can see in any repository. So a cached response is valid only until the next commit of any kind,
// and is not cached if commits cannot be observed.
func (api *API) serve(w http.ResponseWriter, r *http.Request, a *repo.Access, render web.Render) error {
	return api.answers.Serve(w, r, a.AsOf, web.Key(r, account.ViewOf(a.Caller)), render)
}

// answer writes one review as the response.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, pull int64, v *Review) error {
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return api.s.renderReviews(out, a, pull, []*Review{v}, true)
	})
}
