package apitest

import (
	"net/url"
	"strings"
	"testing"
)

// Markup is a text that would be an element and a script in a page that does not escape it.
const Markup = `"><img src=x onerror=alert(1)><script>alert(2)</script>`

// FormType is the content type of a form.
const FormType = "application/x-www-form-urlencoded"

// Form encodes names and values, which stand in turn.
func Form(pairs ...string) string {
	form := url.Values{}
	for n := 0; n < len(pairs); n += 2 {
		form.Add(pairs[n], pairs[n+1])
	}
	return form.Encode()
}

// SendForm sends a form of names and values in turn to a page, as a browser does; as is who sends it, see
// Case.
func SendForm(t *testing.T, s *Server, as, path string, pairs ...string) *Answer {
	t.Helper()
	return s.Do(t, Case{Do: "POST " + path, As: as, Send: Form(pairs...), Headers: map[string]string{
		"Content-Type": FormType, "Accept": "text/html"}})
}

// Taken expects that a form was taken, and that the answer leads to a path.
func Taken(t *testing.T, a *Answer, to string) {
	t.Helper()
	if a.Status != 303 || a.Header.Get("Location") != to {
		t.Fatalf("%d, leads to %q, want %q\n%s", a.Status, a.Header.Get("Location"), to, a.Body)
	}
}

// FormAgain expects an answer of a status that has the form again, with these parts.
func FormAgain(t *testing.T, a *Answer, status int, parts ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d\n%s", a.Status, status, a.Body)
	}
	HasParts(t, string(a.Body), parts...)
}

// HasParts expects that a page has all parts, and that [Markup] is a text wherever it stands in it.
func HasParts(t *testing.T, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			t.Errorf("it has no %q\n%s", part, body)
		}
	}
	if strings.Contains(body, "<img src=x") || strings.Contains(body, "<script>") {
		t.Errorf("a text is markup\n%s", body)
	}
}
