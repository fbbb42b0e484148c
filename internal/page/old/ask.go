package old

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// question is one request to the API, made within the server for a page.
type question struct {
	handler repo.Handler
	path    string // below the repository's resource, escaped: the API keeps answers under it
	params  []string
	query   url.Values
	bodies  bool   // texts are wanted as HTML
	kind    string // of the media type, instead of bodies
}

// ask answers a question as the API would answer the page's caller, and reads
// the answer into a value. So a page shows what the API shows this caller, and
// can show nothing else. more tells that there is another page. Errors: those
// of the API.
func ask(r *http.Request, a *repo.Access, q question, into any) (more bool, err error) {
	answer, err := send(r, a, q)
	if err != nil {
		return false, err
	}
	if answer.Status != http.StatusOK {
		return false, fmt.Errorf("page: %s answers %d", q.path, answer.Status)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		return false, fmt.Errorf("page: %s: %w", q.path, err)
	}
	return strings.Contains(answer.Header().Get("Link"), `rel="next"`), nil
}

// send asks a question.
func send(r *http.Request, a *repo.Access, q question) (*web.Captured, error) {
	info := web.From(r.Context())
	accept := "application/vnd.github+json"
	switch {
	case q.kind != "":
		accept = "application/vnd.github." + q.kind
	case q.bodies:
		accept = "application/vnd.github.html+json"
	}
	inner := &web.Info{Brief: true, ID: info.ID, Site: info.Site, Prefix: info.Prefix, Docs: info.Docs,
		Media: web.ParseAccept([]string{accept})}
	for n := 0; n < len(q.params); n += 2 {
		inner.SetParam(q.params[n], q.params[n+1])
	}
	address := web.Path("repos", a.Owner.Login, a.Name) + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address, nil)
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, "Not Found", err)
	}
	answer := web.Capture()
	answer.Limit(maxAnswer, func(bytes int64) error { return admission.Hold(r.Context(), bytes) })
	return answer, q.handler(answer, web.With(request, inner), a)
}

// maxAnswer is the size in bytes of the largest answer of which a page is made.
const maxAnswer = 32 << 20

// part is the query for a page of a list, as the request numbers it.
func part(r *http.Request, size int, more ...string) url.Values {
	v := url.Values{"page": {strconv.FormatInt(web.ReadPage(r).Number, 10)}, "per_page": {strconv.Itoa(size)}}
	for n := 0; n < len(more); n += 2 {
		v.Set(more[n], more[n+1])
	}
	return v
}

// next is the address of the page after this one.
func next(r *http.Request, more bool) string {
	if !more {
		return ""
	}
	return "?page=" + strconv.FormatInt(web.ReadPage(r).Number+1, 10)
}

// absent makes a 404 of what the API says of names that name nothing: to who
// follows a link it is the same.
func absent(err error) error {
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return errs.Absent()
	}
	return err
}
