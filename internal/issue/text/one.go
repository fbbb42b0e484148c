package text

import (
	"context"

	"arbor/internal/admission"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// HTML renders a text that is not stored, with links for the caller of a. If a has no repository (its ID is
// 0), the text does not belong to one.
func (r *Renderer) HTML(ctx context.Context, a *repo.Access, source string) (string, error) {
	doc, err := r.parseOnce(ctx, source)
	if err != nil {
		return "", err
	}
	to, err := r.findTargets(ctx, []Source{{Access: a, Body: &source}}, []*markdown.Document{doc})
	if err != nil {
		return "", err
	}
	return to.html(doc, a), nil
}

// Plain is HTML without links to people, issues and commits.
func (r *Renderer) Plain(ctx context.Context, source string) (string, error) {
	doc, err := r.parseOnce(ctx, source)
	if err != nil {
		return "", err
	}
	return r.Images.HTML(ctx, doc.HTML(markdown.Links{})), nil
}

// parseOnce parses a text without caching it, since it is not rendered again.
func (r *Renderer) parseOnce(ctx context.Context, source string) (*markdown.Document, error) {
	release, err := admission.Memory(ctx, markdown.Cost(len(source)))
	if err != nil {
		return nil, err
	}
	defer release()
	return markdown.Parse(source), nil
}
