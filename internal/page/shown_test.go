package page_test

import (
	"net/url"
	"slices"
	"testing"

	"arbor/internal/page"
)

// A form sends the fields that a person changed, and no others; without "shown" all of them.
func TestChanged(t *testing.T) {
	t.Parallel()
	type body = map[string]any
	shown := page.Shown(body{"name": "a", "text": "x\r\ny ", "on": true, "due": nil, "empty": ""})
	names := func(shown string, sent body) (list []string) {
		for name := range (page.Form{Values: url.Values{"shown": {shown}}}).Changed(sent) {
			list = append(list, name)
		}
		slices.Sort(list)
		return list
	}
	same := body{"name": "a", "text": "x\ny", "on": true, "due": nil, "empty": ""}
	if got := names(shown, same); len(got) != 0 {
		t.Errorf("nothing was changed, but %q", got)
	}
	if got := names(shown, body{"name": "b", "text": "x y", "on": false, "due": "", "empty": nil,
		"more": 1}); len(got) != 6 {
		t.Errorf("all was changed, but only %q", got)
	}
	for _, nothing := range []string{"", "name", "name= text=x", "="} {
		if got := names(nothing, same); len(got) != 5 {
			t.Errorf("%q: %q", nothing, got)
		}
	}
}
