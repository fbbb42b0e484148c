package gitdata

import (
	"context"
	"html"
	"path"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// FileHTML returns the file at a path of a revision as HTML that is safe to show: Markdown rendered,
// anything else as it is written. Of a longer text the first markdown.MaxSource bytes are shown. Errors:
// those of File; 422 for a file that is not text.
func (s *Service) FileHTML(ctx context.Context, a *repo.Access, ref, path string) ([]byte, error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type != git.TypeBlob {
		return nil, errs.Absent()
	}
	body, _, err := s.htmlOf(ctx, v, entry)
	if err != nil {
		return nil, err
	}
	return body, hold(ctx, len(body))
}

// htmlOf renders a file, or the file that a symlink leads to, whose SHA it returns, too.
func (s *Service) htmlOf(ctx context.Context, v *view, e git.TreeEntry) (body []byte, sha git.SHA, err error) {
	if body, sha, err = s.keptHTML(ctx, v, e); err != nil {
		return nil, "", err
	}
	return []byte(s.Images.HTML(ctx, string(body))), sha, nil
}

// keptHTML is htmlOf with the images as they are written, for all readers.
func (s *Service) keptHTML(ctx context.Context, v *view, e git.TreeEntry) (body []byte, sha git.SHA, err error) {
	target, _, err := v.follow(ctx, e)
	if err != nil {
		return nil, "", err
	}
	rendered := isMarkdown(e.Path)
	key := "html " + string(target.SHA)
	if rendered {
		key += " md"
	}
	if k, ok := s.kept.Get(cache.Forever, key); ok {
		return k.Body, target.SHA, nil
	}
	source, err := v.text(ctx, target)
	if err != nil {
		return nil, "", err
	}
	if body, err = toHTML(ctx, source, rendered); err != nil {
		return nil, "", err
	}
	if len(body) <= web.MaxHeld {
		s.kept.Put(cache.Forever, key, web.Kept{Body: body})
	}
	return body, target.SHA, nil
}

// toHTML renders a text, from Markdown or as it is written. Its memory is not held while
// a slow client reads the outcome: it is hundreds of times as much.
func toHTML(ctx context.Context, source string, rendered bool) ([]byte, error) {
	release, err := admission.Memory(ctx, markdown.Cost(len(source)))
	if err != nil {
		return nil, err
	}
	defer release()
	if rendered {
		return []byte(markdown.Parse(source).HTML(markdown.Links{})), nil
	}
	return []byte("<pre>" + html.EscapeString(source) + "</pre>"), nil
}

// text reads the beginning of a file that holds text.
func (v *view) text(ctx context.Context, e git.TreeEntry) (string, error) {
	_, contents, err := v.objects.Contents(ctx, e.SHA, maxInline)
	if errs.Is(err, errs.TooLarge) {
		return "", tooLargeFile()
	}
	if err != nil {
		return "", err
	}
	contents = contents[:min(len(contents), markdown.MaxSource)]
	if strings.IndexByte(string(contents), 0) >= 0 {
		return "", errs.New(errs.Invalid, "the file is not text, and has no form in HTML")
	}
	return strings.ToValidUTF8(string(contents), "\ufffd"), nil
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkdn", ".mkd":
		return true
	}
	return false
}
