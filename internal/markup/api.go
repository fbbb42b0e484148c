package markup

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about texts and emojis.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Routes are the endpoints of texts and emojis.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.SignedIn("POST /markdown", api.Render).InAnyMedia(),
		free.SignedIn("POST /markdown/raw", api.RenderRaw).InAnyMedia().WithLimit(markdown.MaxSource),
		free.Anyone("GET /emojis", api.ListEmojis),
		free.Anyone("GET /emojis/{picture}", api.GetEmoji).In(route.Pages),
	}
}

// POST /markdown
//
// Render answers a text as HTML that is safe to show. In the mode gfm it links people,
// issues and commits, those that have no repository with them in the one that context names.
// Errors: 422.
func (api *API) Render(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadObject(r, "Markdown")
	if err != nil {
		return err
	}
	source, mode, near := body.String("text", 0), body.Enum("mode", "markdown", "gfm"),
		body.String("context", 0)
	switch {
	case !source.Given() && !source.Set:
		body.Wrong("text", errs.MissingField, "")
	case source.Null:
		body.Wrong("text", errs.InvalidField, `"text" must be a string`)
	case len(source.Value) > markdown.MaxSource:
		body.Wrong("text", errs.Custom,
			"text is too long (maximum is "+strconv.Itoa(markdown.MaxSource)+" bytes)")
	}
	if err := body.Err(); err != nil {
		return err
	}
	return api.answer(w, r, source.Value, near.Value, mode.Value == "gfm")
}

// POST /markdown/raw
//
// RenderRaw answers the request's body, which is Markdown, as HTML that is safe to show,
// without links to people, issues and commits. Error: 413.
func (api *API) RenderRaw(w http.ResponseWriter, r *http.Request) error {
	source, err := web.ReadBody(r)
	if err != nil {
		return err
	}
	return api.answer(w, r, string(source), "", false)
}

func (api *API) answer(w http.ResponseWriter, r *http.Request, source, near string, links bool) error {
	html, err := api.s.HTML(r.Context(), account.CallerFrom(r.Context()), source, near, links)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; img-src http: https:; sandbox")
	h.Set("Content-Length", strconv.Itoa(len(html)))
	_, err = w.Write([]byte(html))
	return err
}
