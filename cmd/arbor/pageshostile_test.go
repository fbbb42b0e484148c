//go:build long

package main

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// hostileNames are texts of 256 characters that pages have to show whole: wide, from right to left, and without a place to
// break.
var hostileNames = map[string]string{
	"wide":     strings.Repeat("漢字仮名交り文、", 32),
	"reversed": strings.Repeat("שלום \u202eعالم ", 23) + "סוף",
	"unbroken": strings.Repeat("W", 256),
}

// beginOf is the beginning of a text, of as many characters or fewer, and bytes.
func beginOf(text string, characters, bytes int) string {
	runes := []rune(text)
	runes = runes[:min(len(runes), characters)]
	for len(string(runes)) > bytes {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes))
}

// hostileStops creates a repository whose name, issues, pull requests, labels, milestones, releases, branches, files and
// people have such names.
func (m *madePages) hostileStops() (stops []browser.Stop) {
	m.t.Helper()
	send := func(v any) string {
		text, err := json.Marshal(v)
		testkit.NoError(m.t, err)
		return string(text)
	}
	type object = map[string]any
	name := "r" + strings.Repeat("w", 99)
	m.ask("POST", "/user/repos", send(object{"name": name, "auto_init": true, "description": beginOf(hostileNames["unbroken"], 255, 255)}))
	at, page := "/repos/alice/"+name, "/alice/"+name
	var main struct{ Object struct{ SHA string } }
	testkit.NoError(m.t, json.Unmarshal(m.ask("GET", at+"/git/ref/heads/main", ""), &main))
	visit := func(kind string, paths ...string) {
		for _, path := range paths {
			stops = append(stops, browser.Stop{Name: kind, Path: page + path, As: "alice"})
		}
	}
	number := func(text []byte) string {
		var made struct{ Number json.Number }
		testkit.NoError(m.t, json.Unmarshal(text, &made))
		return made.Number.String()
	}
	for kind, text := range hostileNames {
		label, title := beginOf(text, 50, 200), beginOf(text, 255, 1000)
		short := strings.ReplaceAll(strings.ReplaceAll(beginOf(text, 80, 200), " ", "-"), "\u202e", "")
		m.ask("POST", at+"/labels", send(object{"name": label, "color": "a0c0e0", "description": beginOf(text, 100, 400)}))
		stone := number(m.ask("POST", at+"/milestones", send(object{"title": title, "description": text, "due_on": "2020-02-02T00:00:00Z"})))
		issue := number(m.ask("POST", at+"/issues", send(object{"title": beginOf(text, 256, 1024), "body": text + "\n\n`" + text + "`", "labels": []string{label},
			"milestone": json.Number(stone), "assignees": []string{"alice"}})))
		m.ask("POST", at+"/issues/"+issue+"/comments", send(object{"body": "# " + text + "\n\n- " + text}))
		m.ask("PATCH", at+"/issues/"+issue, send(object{"title": beginOf(text, 200, 1024)}))
		m.ask("POST", at+"/git/refs", send(object{"ref": "refs/heads/" + short, "sha": main.Object.SHA}))
		m.ask("PUT", at+"/contents/"+url.PathEscape(short)+"/"+url.PathEscape(short+".go"), send(object{"message": title, "branch": short,
			"content": base64.StdEncoding.EncodeToString([]byte("package x // " + text + "\n"))}))
		pull := number(m.ask("POST", at+"/pulls", send(object{"title": beginOf(text, 256, 1024), "head": short, "base": "main", "body": text})))
		m.ask("POST", at+"/pulls/"+pull+"/reviews", send(object{"event": "COMMENT", "body": text}))
		m.ask("POST", at+"/releases", send(object{"tag_name": "v-" + beginOf(short, 60, 180), "target_commitish": short, "name": title, "body": text}))
		branch := url.PathEscape(short)
		visit(kind, "/issues/"+issue, "/issues/"+issue+"/edits", "/pull/"+pull, "/pull/"+pull+"/files", "/pull/"+pull+"/commits", "/milestone/"+stone,
			"/releases/tag/v-"+url.PathEscape(beginOf(short, 60, 180)), "/tree/"+branch, "/tree/"+branch+"/"+branch, "/blob/"+branch+"/"+branch+"/"+branch+".go",
			"/blame/"+branch+"/"+branch+"/"+branch+".go", "/edit/"+branch+"/"+branch+"/"+branch+".go", "/commits/"+branch, "/commit/"+branch,
			"/compare/main..."+branch, "/issues?q="+url.QueryEscape("label:\""+label+"\""))
	}
	visit("list", "", "/issues", "/pulls", "/labels", "/milestones", "/releases", "/branches", "/tags", "/find/main", "/issues/new", "/pulls/new",
		"/releases/new", "/settings", "/contributors")
	for login, kind := range map[string]string{"alice": "reversed", "bob": "wide"} {
		text := hostileNames[kind]
		m.askAs(login, "PATCH", "/user", send(object{"name": beginOf(text, 255, 255), "bio": beginOf(text, 160, 600), "company": beginOf(text, 60, 200), "location": beginOf(text, 60, 200)}))
		stops = append(stops, browser.Stop{Name: kind, Path: "/" + login, As: "alice"}, browser.Stop{Name: kind, Path: "/" + login + "?tab=repositories", As: "alice"})
	}
	for _, path := range []string{"/dashboard/issues", "/dashboard/pulls", "/search?q=" + name + "&type=repositories", "/search?type=issues&q=repo:alice/" + name,
		"/orgs/orchard/people", "/explore", "/"} {
		stops = append(stops, browser.Stop{Name: "list", Path: path, As: "alice"})
	}
	return stops
}

// Nothing is cut off, covered or out of the window where names and titles are as long and odd as they can be.
func TestPagesOfHostileNames(t *testing.T) {
	t.Parallel()
	d := startDemo(t, db.SQLite, "git push")
	m := &madePages{t: t, d: d, session: demoSession(t, d.address(), "alice")}
	w := &browser.Walk{Base: d.address(), Stops: m.hostileStops(), Session: func(string) string { return m.session }}
	if len(w.Stops) < 60 {
		t.Fatalf("%d pages", len(w.Stops))
	}
	w.Run(t)
}
