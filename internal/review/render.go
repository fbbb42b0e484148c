package review

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// renderComments renders comments with a fixed number of queries, after updating their positions.
func (s *Service) renderComments(out *web.Output, a *repo.Access, list []*Comment, single bool) error {
	p := newPage(out.Context(), a)
	if err := s.prepareComments(out, p, list); err != nil {
		return err
	}
	return out.Items(len(list), single, func(n int) (any, error) { return p.comment(n, list[n]) })
}

// prepareComments loads everything that the payloads of the comments need, and the users in others.
func (s *Service) prepareComments(
	out *web.Output, p *page, list []*Comment, others ...account.ID,
) error {
	if err := s.loadComments(out.Context(), p, p.info.Media.Preview(web.Reactions), list, others...); err != nil {
		return err
	}
	texts := make([]text.Source, len(list))
	for n, c := range list {
		texts[n] = text.Source{Access: p.in[c.RepoID], Body: &c.Body}
	}
	var err error
	p.bodies, err = s.issues.Bodies(out, texts)
	return err
}

// loadComments finds out where comments are now, and reads what they refer to, but for their texts.
func (s *Service) loadComments(
	ctx context.Context, p *page, reactions bool, list []*Comment, others ...account.ID,
) error {
	if err := s.follow(ctx, list); err != nil {
		return err
	}
	authors := others
	var reacted []int64
	for _, c := range list {
		authors = append(authors, c.AuthorID)
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	return s.db.Read(ctx, func(tx *db.Tx) (err error) {
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
	p := newPage(out.Context(), a)
	if err := s.prepareReviews(out, p, list); err != nil {
		return err
	}
	return out.Items(len(list), single, func(n int) (any, error) {
		return p.review(n, list[n], pull, list[n].State.String())
	})
}

// prepareReviews loads everything that the payloads of the reviews need.
func (s *Service) prepareReviews(out *web.Output, p *page, list []*Review) error {
	authors, texts := make([]account.ID, len(list)), make([]text.Source, len(list))
	for n, v := range list {
		authors[n], texts[n] = v.AuthorID, text.Source{Access: p.in[v.RepoID], Body: &v.Body}
	}
	err := s.db.Read(out.Context(), func(tx *db.Tx) error { return p.load(tx, authors) })
	if err == nil {
		p.bodies, err = s.issues.Bodies(out, texts)
	}
	return err
}

// answerComment writes one comment as the response.
func (api *API) answerComment(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment,
) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		return api.s.renderComments(out, a, []*Comment{c}, true)
	})
}

// answer writes one review as the response.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, pull int64, v *Review) error {
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return api.s.renderReviews(out, a, pull, []*Review{v}, true)
	})
}
