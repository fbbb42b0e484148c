package gitdata

import (
	"context"
	"html"
	"net/http"
	"path"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/markdown"
	"arbor/internal/web"
)

// html answers a file as HTML that is safe to show: Markdown rendered, anything
// else as it is written. Of a longer text the first markdown.MaxSource bytes
// are shown. Error: 422 for a file that is no text.
func (api *API) html(w http.ResponseWriter, r *http.Request, v *view, e git.TreeEntry) error {
	target, _, err := v.follow(r.Context(), e)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; img-src http: https:; sandbox")
	rendered := isMarkdown(e.Path)
	etag := `W/"` + string(target.SHA) + `-html"`
	key := "html " + etag
	if rendered {
		key += " md"
	}
	k, ok := api.kept.Get(cache.Forever, key)
	body := k.Body
	if !ok {
		source, err := v.text(r, target)
		if err != nil {
			return err
		}
		if body, err = toHTML(r.Context(), source, rendered); err != nil {
			return err
		}
		if len(body) <= web.MaxHeld {
			api.kept.Put(cache.Forever, key, web.Kept{Body: body})
		}
	}
	if web.NotModified(w, r, etag) {
		return nil
	}
	if err := admission.Hold(r.Context(), int64(len(body))); err != nil {
		return err
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write(body)
	return err
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
func (v *view) text(r *http.Request, e git.TreeEntry) (string, error) {
	_, contents, err := v.objects.Contents(r.Context(), e.SHA, maxInline)
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
