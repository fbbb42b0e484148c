package review

import (
	"context"
	"fmt"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// renderComments renders comments, with a fixed number of queries; where they
// are now is found before (see follow).
func (s *Service) renderComments(ctx context.Context, a *repo.Access, list []*Comment, single bool) ([]byte, error) {
	if err := s.follow(ctx, list); err != nil {
		return nil, err
	}
	p := newPage(ctx, a)
	var authors, reacted []int64
	texts := make([]string, len(list))
	for n, c := range list {
		authors, texts[n] = append(authors, c.AuthorID), c.Body
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if err := p.load(tx, authors); err != nil {
			return err
		}
		if p.info.Media.Preview(web.Reactions) && len(reacted) > 0 {
			p.rollups, err = reaction.Rollups(tx, reaction.ReviewComment, reacted)
		}
		return err
	})
	if err == nil {
		err = p.render(ctx, s.issues, texts)
	}
	if err != nil {
		return nil, err
	}
	if single {
		return p.appendComment(nil, 0, list[0]), nil
	}
	b := append(make([]byte, 0, 4<<10*(len(list)+1)), '[')
	for n, c := range list {
		if n > 0 {
			b = append(b, ',')
		}
		b = p.appendComment(b, n, c)
	}
	return append(b, ']'), nil
}

// renderReviews renders reviews of one pull request.
func (s *Service) renderReviews(ctx context.Context, a *repo.Access, pull int64, list []*Review, single bool) ([]byte, error) {
	p := newPage(ctx, a)
	authors, texts := make([]int64, len(list)), make([]string, len(list))
	for n, v := range list {
		authors[n], texts[n] = v.AuthorID, v.Body
	}
	err := s.db.Read(ctx, func(tx *db.Tx) error { return p.load(tx, authors) })
	if err == nil {
		err = p.render(ctx, s.issues, texts)
	}
	if err != nil {
		return nil, err
	}
	if single {
		return p.appendReview(nil, 0, list[0], pull), nil
	}
	b := append(make([]byte, 0, 2<<10*(len(list)+1)), '[')
	for n, v := range list {
		if n > 0 {
			b = append(b, ',')
		}
		b = p.appendReview(b, n, v, pull)
	}
	return append(b, ']'), nil
}

// answerComment answers with one comment.
func (api *API) answerComment(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment) error {
	body, err := api.s.renderComments(r.Context(), a, []*Comment{c}, true)
	if err != nil {
		return err
	}
	return web.Bytes(w, r, status, body, "")
}

// serve answers a GET with what is kept under its address, or with what render
// makes. Texts lead wherever this caller may go, in any repository: an answer is
// kept only while nothing at all is committed, and where that cannot be known
// not at all.
func (api *API) serve(w http.ResponseWriter, r *http.Request, a *repo.Access, render func(ctx context.Context) ([]byte, error)) error {
	stamp, ok := api.s.db.Stamp()
	if !ok {
		body, err := render(r.Context())
		if err != nil {
			return err
		}
		return web.Bytes(w, r, http.StatusOK, body, "")
	}
	info := web.From(r.Context())
	key := fmt.Sprint(stamp, callerID(a), info.Media.Preview(web.Reactions), info.Media.Kind, " ", info.Prefix, " ",
		r.URL.EscapedPath(), " ", r.URL.RawQuery)
	return api.answers.Serve(w, r, key, func(ctx context.Context) ([]byte, string, error) {
		body, err := render(ctx)
		return body, web.Tag(body), err
	})
}

// answer answers with one review.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, pull int64, v *Review) error {
	body, err := api.s.renderReviews(r.Context(), a, pull, []*Review{v}, true)
	if err != nil {
		return err
	}
	return web.Bytes(w, r, http.StatusOK, body, "")
}
