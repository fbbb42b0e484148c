package page

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Get asks the API for what is at a path, as the page's caller, and reads the answer into a value. more tells
// that the list has another page. Errors: those of the API; one for any status but 200 and 204.
func (k *Kit) Get(r *http.Request, path string, query url.Values, into any) (more bool, err error) {
	return k.Read(r, inside.Request{Path: path, Query: query}, into)
}

// Read is Get for a request that says more. Texts come as HTML, too, unless Media says otherwise.
func (k *Kit) Read(r *http.Request, q inside.Request, into any) (more bool, err error) {
	answer, err := k.Send(r, q)
	if err != nil {
		return false, err
	}
	if err := decode(q.Path, answer, into); err != nil {
		return false, err
	}
	return strings.Contains(answer.Header().Get("Link"), `rel="next"`), nil
}

// Holds asks the API a question that it answers by 204 or 404, such as whether the caller stars a repository.
func (k *Kit) Holds(r *http.Request, path string) (bool, error) {
	answer, err := k.Send(r, inside.Request{Path: path})
	switch {
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Forbidden): // not so, or nothing that the token opens
		return false, nil
	case err != nil:
		return false, err
	}
	return answer.Status/100 == 2, nil
}

// Change asks the API for a change, and reads the answer into a value, which may be nil. The body is anything
// that encoding/json takes; nil: none. Errors: those of the API.
func (k *Kit) Change(r *http.Request, method, path string, body, into any) error {
	return k.Do(r, inside.Request{Method: method, Path: path}, body, into)
}

// Do is Change with more to say of the request, such as the handler that answers it.
func (k *Kit) Do(r *http.Request, q inside.Request, body, into any) error {
	if body != nil {
		var err error
		if q.Body, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := k.Send(r, q)
	if err != nil || into == nil {
		return err
	}
	return decode(q.Path, answer, into)
}

// Send sends a request to the API and returns its complete response. Errors: those of the API, including a
// 404 without a body.
func (k *Kit) Send(r *http.Request, q inside.Request) (*web.Captured, error) {
	if q.Media == "" {
		q.Media = "full"
	}
	q.Brief = true
	answer, err := k.Ask(r.Context(), q)
	switch {
	case err != nil:
		return nil, err
	case answer.Status == http.StatusNotFound: // as some routes say no
		return nil, errs.Absent()
	case answer.Status == http.StatusMovedPermanently:
		return nil, moved(answer.Header().Get("Location"))
	case answer.Status >= 400:
		return nil, fmt.Errorf("page: %s answers %d", q.Path, answer.Status)
	}
	return answer, nil
}

// Answer is Send by a handler that has no address in the API, with the placeholders and the query of the
// page's own. The handler asks for the rights. Errors: those of the handler.
func (k *Kit) Answer(r *http.Request, h web.Handler) (*web.Captured, error) {
	answer := web.Capture()
	answer.Limit(maxAnswer, func(bytes int64) error { return admission.Hold(r.Context(), bytes) })
	if err := h(answer, r); err != nil {
		return nil, err
	}
	return answer, nil
}

// maxAnswer is the size in bytes of the largest answer of a handler.
const maxAnswer = 32 << 20

// Markdown renders a text of a repository as sanitized HTML as in a conversation, for all who can see the
// repository. Errors: those of POST /markdown.
func (k *Kit) Markdown(r *http.Request, a *repo.Access, text string) (template.HTML, error) {
	if text == "" {
		return "", nil
	}
	html, err := k.Markups.HTML(r.Context(), a.Caller, text, a.FullName(), true)
	return template.HTML(html), err
}

// movedError is a 404 for a resource that has moved, such as a transferred issue. Whoever opens the page is
// redirected to path.
type movedError struct{ path string }

func (e *movedError) Error() string { return "moved to " + e.path }

// Unwrap is the 404.
func (e *movedError) Unwrap() error { return errs.Absent() }

// moved returns the error for a redirect of the API. Pages of a repository's resources have the same paths.
func moved(location string) error {
	u, err := url.Parse(location)
	if err != nil {
		return errs.Absent()
	}
	path := u.EscapedPath()
	if at := strings.Index(path, "/repos/"); at >= 0 {
		return &movedError{path[at+len("/repos"):]}
	}
	return errs.Absent()
}

func decode(path string, answer *web.Captured, into any) error {
	if into == nil || answer.Status == http.StatusNoContent {
		return nil
	}
	if answer.Status >= 300 {
		return fmt.Errorf("page: %s answers %d", path, answer.Status)
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		return fmt.Errorf("page: %s: %w", path, err)
	}
	return nil
}

// Query returns a query of alternating names and values. Empty values are omitted.
func Query(pairs ...string) url.Values {
	v := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n+1] != "" {
			v.Set(pairs[n], pairs[n+1])
		}
	}
	return v
}

// Part is the query for a page of a list, as the request numbers it, with names and values in turn.
func Part(r *http.Request, size int, pairs ...string) url.Values {
	v := Query(pairs...)
	v.Set("page", strconv.FormatInt(web.ReadPage(r).Number, 10))
	v.Set("per_page", strconv.Itoa(size))
	return v
}

// Absent turns the API's errors for names that name nothing into a 404: for who follows a link they are the
// same.
func Absent(err error) error {
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return errs.Absent()
	}
	return err
}
