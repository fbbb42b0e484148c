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
