package markdown

import (
	"strings"
	"testing"
)

// Words with a prefix become links where a word begins and ends, outside code and links; nothing else changes.
func TestAutolinks(t *testing.T) {
	t.Parallel()
	l := NewAutolinks([]Autolink{{"TICKET-", "https://t.example/?a=1&q=<num>", true}, {"#", "https://n.example/<num>", false},
		{"JIRA-", "https://j.example/<num>/<num>", false}})
	link := func(url, text string) string { return `<a href="` + url + `" rel="nofollow">` + text + `</a>` }
	for source, want := range map[string]string{
		`<p>See TICKET-7b, ok &amp; fine</p>`:      `<p>See ` + link("https://t.example/?a=1&amp;q=7b", "TICKET-7b") + `, ok &amp; fine</p>`,
		`JIRA-12 JIRA-12x JIRA-`:                   link("https://j.example/12/12", "JIRA-12") + ` JIRA-12x JIRA-`,
		`XTICKET-7 éTICKET-7 TICKET-7_`:            `XTICKET-7 éTICKET-7 TICKET-7_`,
		`TICKET-a-b- (TICKET-9)`:                   link("https://t.example/?a=1&amp;q=a-b", "TICKET-a-b") + `- (` + link("https://t.example/?a=1&amp;q=9", "TICKET-9") + `)`,
		`<code>TICKET-7</code> <a href="x">#7</a>`: `<code>TICKET-7</code> <a href="x">#7</a>`,
		`a #7 b`:           `a ` + link("https://n.example/7", "#7") + ` b`,
		`&lt;TICKET-7&gt;`: `&lt;` + link("https://t.example/?a=1&amp;q=7", "TICKET-7") + `&gt;`,
		`ticket-7`:         `ticket-7`,
	} {
		if got := l.HTML(source); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
	if got := l.Text(`<b>JIRA-1`); got != `&lt;b&gt;`+link("https://j.example/1/1", "JIRA-1") {
		t.Error(got)
	}
	if n := len(l.HTML(strings.Repeat("TICKET-1 ", 100_000))); n > 1_200_000 {
		t.Errorf("%d bytes", n)
	}
	if got := (Autolinks{}).HTML("x"); got != "x" {
		t.Error(got)
	}
}
