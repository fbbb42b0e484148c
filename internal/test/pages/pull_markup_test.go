package pages_test

import (
	"fmt"
	stdhtml "html"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// A page of changes adds at most 100 KB to what it shows, whether these are few large files or many small
// ones, to a reviewer who is offered all forms; and the way to the rest is on it.
func TestChangesAddLittleMarkup(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	h := &history{}
	commit := func(branch, from string, files int, text func() string) {
		var all []string
		for n := range files {
			all = append(all, fmt.Sprintf("some/directory/file%03d.txt", n), text())
		}
		h.commit(branch, from, "Words", all...)
	}
	lines := func(text string, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, text+"\n", k)
		}
		return b.String()
	}
	commit("main", "", 150, func() string { return lines("the line %d of a text", 20) })
	commit("new", "main", 6, func() string { return lines("another line %d", 900) })
	commit("words", "main", 100, func() string { return lines("the line %d of that text", 20) })
	commit("many", "main", 150, func() string { return lines("the line %d of a text", 21) })
	commit("large", "main", 100, func() string { return lines("other %d", 1100) })
	h.into(t, s, "alice/plot", false)
	for n, branch := range []string{"new", "words", "many", "large"} {
		api(t, s, "alice", "POST /repos/alice/plot/pulls", 201,
			changeObject{"title": branch, "head": branch, "base": "main"}, nil)
		for _, path := range []string{fmt.Sprintf("/pull/%d/files", n+1),
			fmt.Sprintf("/pull/%d/files?diff=split", n+1), "/commit/" + branch,
			"/commit/" + branch + "?diff=split", "/compare/main..." + branch} {
			body := get(t, s, "alice", "/alice/plot"+path, 200, "file000.txt")
			shown := len(stdhtml.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, "")))
			t.Logf("%s %s: %d bytes of markup beside %d of text", branch, path, len(body)-shown, shown)
			if len(body)-shown > 100_000 {
				t.Errorf("%s %s has %d bytes of markup beside %d of text", branch, path,
					len(body)-shown, shown)
			}
		}
	}
}
