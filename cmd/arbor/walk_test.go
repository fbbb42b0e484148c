//go:build long

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Each address that a payload carries answers a client that follows it, and each
// template expands to one that does (decision 9): from the root of the demo's
// server the walk goes wherever a payload, a header or a page leads, in both
// dialects, as nobody, as who owns things and as who owns little. Addresses
// that GitHub's schemas demand of Arbor in vain are those that ARCHITECTURE.md
// names, no more and no less.
func TestEveryAddressAnswers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := startDemo(t, engine, "git push")
		address, tokens := d.address(), d.tokens()
		silent := silentFields(t)
		first := &walk{t: t, token: tokens["alice"]} // who belongs to the organization for everyone to see
		if status, _, body := first.ask(http.MethodPut,
			address+"/orgs/"+demoOrg+"/public_members/alice", "*/*"); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
		for _, login := range []string{"alice", "bob"} {
			w := &walk{t: t, token: tokens[login]}
			w.send = fmt.Sprintf(`{"key":%q}`, testkit.PublicKey(t))
			if status, _, body := w.ask(http.MethodPost, address+"/repos/"+login+"/greenhouse/keys",
				"*/*"); status != http.StatusCreated {
				t.Fatalf("%d %s", status, body)
			}
		}
		for _, prefix := range []string{"", "/api/v3"} {
			for _, login := range []string{"alice", "bob", ""} {
				// The engine decides neither which addresses there are nor how they begin, and what each
				// caller gets by one route is tested on both engines beside it. So on PostgreSQL each dialect
				// has one walk: of who sees most, and of who sees least.
				if walked := login == "alice" && prefix == "" ||
					login == "" && prefix != ""; engine == db.PostgreSQL && !walked {
					continue
				}
				t.Run("as "+login+" at "+prefix+"/", func(t *testing.T) {
					w := &walk{t: t, site: address, api: address + prefix, token: tokens[login],
						silent: silent,
						seen:   map[string]bool{}, bodies: map[string]any{}, anchors: map[string]map[string]bool{}, met: map[string]bool{}, alike: map[string]int{},
						// pages are the same on both engines
						links: engine == db.SQLite && prefix == "" && login != "bob"}
					w.run()
				})
			}
		}
	})
}

// silentFields are the fields that ARCHITECTURE.md says not to answer, as
// "repositories hooks_url".
func silentFields(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	testkit.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "## Addresses that do not answer\n")
	section, _, _ = strings.Cut(section, "\n## ")
	fields, kind := map[string]bool{}, ""
	for _, m := range regexp.MustCompile(
		"in (users|organizations|repositories|commits|tags|branches)\\b|`(\\w+_url)`").FindAllStringSubmatch(
		section, -1) {
		if m[1] != "" {
			kind = m[1]
		} else {
			fields[kind+" "+m[2]] = true
		}
	}
	if len(fields) == 0 {
		t.Fatal("ARCHITECTURE.md lists no addresses that do not answer; then this test needs no list")
	}
	return fields
}

// link is an address with the field in which it stands.
type link struct {
	kind, field, address, from string
	beside                     map[string]any // the object that holds it
}

func (l link) name() string { return l.kind + " " + l.field }

// walk goes through all that one caller can reach.
type walk struct {
	t         *testing.T
	site, api string
	token     string
	silent    map[string]bool

	queue     []link
	templates []link
	seen      map[string]bool
	bodies    map[string]any             // of JSON, by address
	anchors   map[string]map[string]bool // of pages, by address
	links     bool                       // what pages lead to is visited, too
	alike     map[string]int             // pages that were met, by kind
	met       map[string]bool            // fields that do not answer
	requests  int
	send      string // with the next requests
}

func (w *walk) run() {
	w.found(link{field: "root", address: w.api + "/"})
	for len(w.queue) > 0 {
		for len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			w.visit(next)
		}
		w.expand()
	}
	for field := range w.silent {
		if !w.met[field] {
			w.t.Errorf("ARCHITECTURE.md lists %s, which no payload has: take it off the list", field)
		}
	}
	w.checkExpanded()
	if w.requests < 300 {
		w.t.Errorf("the walk ended after %d requests", w.requests)
	}
}

// found notes a link once. Of a field that does not answer, one is tried.
func (w *walk) found(l link) {
	if w.silent[l.name()] && !strings.Contains(l.address, "{") {
		if status := http.StatusNotFound; !w.met[l.name()] {
			if status, _, _ = w.get(l.address); status < 400 {
				w.t.Errorf("%s answers %d at %s: take it off the list in ARCHITECTURE.md", l.name(),
					status, l.address)
			}
		}
		w.met[l.name()] = true
		return
	}
	key := l.address
	if strings.Contains(key, "{") {
		key = l.name() + " " + key
	}
	if w.seen[key] || w.manyAlike(l) {
		return
	}
	w.seen[key] = true
	if strings.Contains(l.address, "{") {
		w.templates = append(w.templates, l)
	} else {
		w.queue = append(w.queue, l)
	}
}

// inLink is an address in a header Link.
var inLink = regexp.MustCompile(`<([^>]*)>`)

var atCommit = regexp.MustCompile(`/(tree|blob|blame|commits|find|last-changes)/[0-9a-f]{40}`)

// manyAlike reports a page when some of its kind were visited: there is one of a file or a directory for each
// file at each commit, and one of a list for each choice of filters.
func (w *walk) manyAlike(l link) bool {
	if l.field != "href" {
		return false
	}
	kind, _, hasQuery := strings.Cut(l.address, "?")
	most := 40
	if m := atCommit.FindStringSubmatch(l.address); m != nil {
		kind, most = m[1], 8
	} else if !hasQuery {
		return false
	}
	w.alike[kind]++
	return w.alike[kind] > most
}

// visit follows a link.
func (w *walk) visit(l link) {
	if l.field == "clone_url" {
		w.clone(l.address)
		return
	}
	page, anchor, _ := strings.Cut(l.address, "#")
	if w.anchors[page] == nil {
		w.read(l, page)
	}
	if ids := w.anchors[page]; anchor != "" && !ids[anchor] {
		w.t.Errorf("%s in %s: %s has no anchor #%s", l.name(), l.from, page, anchor)
	}
}

// read asks for what is at an address and notes where it leads.
func (w *walk) read(l link, address string) {
	w.anchors[address] = map[string]bool{}
	accept := "*/*"
	if l.field == "href" {
		accept = "text/html, */*" // of a page, which a browser follows
	}
	status, header, body := w.ask(http.MethodGet, address, accept)
	if status >= 300 && status < 400 {
		to := header.Get("Location")
		if strings.HasPrefix(to, "/") { // of a page
			to = w.site + to
		}
		w.found(link{field: "Location", address: to, from: address})
		return
	}
	if status < 200 || status > 299 {
		if !w.excused(l, address, status, body) {
			w.t.Errorf("%s in %s leads to %s: %d %s", l.name(), l.from, address, status,
				bytes.TrimSpace(body))
		}
		return
	}
	for _, m := range inLink.FindAllStringSubmatch(header.Get("Link"), -1) {
		w.found(link{field: "Link", address: m[1], from: address})
	}
	if strings.HasPrefix(address, w.site+"/openapi/") {
		return // the examples of a description lead to a world that is not there
	}
	switch kind, _, _ := strings.Cut(header.Get("Content-Type"), ";"); kind {
	case "application/json":
		if !strings.HasPrefix(address, w.api+"/") && !strings.HasPrefix(address, w.site+"/plants") {
			w.t.Errorf("%s in %s leaves the prefix: %s", l.name(), l.from, address)
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			w.t.Errorf("%s: %v", address, err)
		}
		w.bodies[address] = v
		w.payload(v, address)
	case "text/html":
		w.page(body, address)
	}
}

func (w *walk) get(address string) (int, http.Header, []byte) {
	return w.ask(http.MethodGet, address, "*/*")
}

func (w *walk) ask(method, address, accept string) (int, http.Header, []byte) {
	w.t.Helper()
	w.requests++
	r, err := http.NewRequestWithContext(w.t.Context(), method, address, strings.NewReader(w.send))
	if err != nil {
		w.t.Fatalf("%q: %v", address, err)
	}
	r.Header.Set("Accept", accept)
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	a, err := client.Do(r)
	testkit.NoError(w.t, err)
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		w.t.Fatalf("%s: %v", address, err)
	}
	return a.StatusCode, a.Header, body
}

// writeOnly are addresses to which one posts, or below which there is something.
var writeOnly = []string{"repositories merges_url", "repositories blobs_url", "repositories trees_url",
	"repositories git_tags_url", "repositories git_commits_url", "issues labels_url"}

// forAdmins are addresses that only administrators and owners may read.
var forAdmins = []string{"repositories keys_url", "repositories hooks_url", "organizations hooks_url"}

// excused reports whether an error is an answer: what one must sign in for or may not
// see is there; an empty repository has no commits; and nobody has to be
// subscribed.
func (w *walk) excused(l link, address string, status int, body []byte) bool {
	switch status {
	case http.StatusUnauthorized:
		return w.token == ""
	case http.StatusForbidden:
		return l.name() == "repositories collaborators_url" && bytes.Contains(body, []byte("push")) ||
			(slices.Contains(forAdmins, l.name()) || l.field == "protection_url") && (bytes.Contains(body, []byte("admin")) ||
				bytes.Contains(body, []byte("owner")))
	case http.StatusMethodNotAllowed:
		return slices.Contains(writeOnly, l.name())
	case http.StatusGone: // decision 16
		return strings.Contains(address, "/bob/greenhouse/issues") &&
			bytes.Contains(body, []byte("Issues are disabled"))
	case http.StatusConflict:
		return strings.Contains(address, "/"+demoOrg+"/seeds/") &&
			bytes.Contains(body, []byte("Git Repository is empty."))
	case http.StatusNotFound:
		return l.field == "subscription_url" && bytes.Contains(body, []byte("Not Found")) ||
			l.field == "protection_url" && bytes.Contains(body, []byte("Branch not protected")) ||
			elsewhere(l.from, address)
	case http.StatusUnprocessableEntity: // words of one kind of search that another does not know
		return strings.HasPrefix(address, w.site+"/search?")
	}
	return false
}

var atRef = regexp.MustCompile(`^(.*/(?:tree|blob|blame|commits))/[^/]+/(.+)$`)

// elsewhere reports the same path on another branch, to which a page leads whether it is there or not.
func elsewhere(from, to string) bool {
	a, b := atRef.FindStringSubmatch(from), atRef.FindStringSubmatch(to)
	return a != nil && b != nil && a[1] == b[1] && a[2] == b[2]
}

// byPeople are fields whose addresses people wrote.
var byPeople = []string{"homepage", "blog", "target_url", "submodule_git_url"}

var addressField = regexp.MustCompile(`(^|_)(url|href)$`)

// payload notes the links of a value within a body.
func (w *walk) payload(v any, from string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			w.payload(e, from)
		}
	case map[string]any:
		kind := kindOf(v)
		for field, e := range v {
			s, ok := e.(string)
			l := link{kind, field, s, from, v}
			switch {
			case !ok:
				w.payload(e, from)
			case s == w.site || strings.HasPrefix(s, w.site+"/"):
				w.found(l)
			case s == "" || !addressField.MatchString(field) || slices.Contains(byPeople, field):
			case w.silent[l.name()]:
				w.met[l.name()] = true // another scheme than HTTP
			default:
				w.t.Errorf("%s in %s leads elsewhere: %s", l.name(), from, s)
			}
		}
	}
}

// kindOf names what an object is, as ARCHITECTURE.md does.
func kindOf(o map[string]any) string {
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { _, ok := o[k]; return !ok })
	}
	switch {
	case has("login", "members_url"):
		return "organizations"
	case has("login"):
		return "users"
	case has("full_name", "owner"):
		return "repositories"
	case has("zipball_url", "commit"):
		return "tags"
	case has("protected", "commit"):
		return "branches"
	case has("number", "labels_url", "title"):
		return "issues"
	case has("sha", "commit", "parents"):
		return "commits"
	default:
		return ""
	}
}

// page notes the anchors and the links of a page.
func (w *walk) page(body []byte, from string) {
	base, err := url.Parse(from)
	testkit.NoError(w.t, err)
	for z := html.NewTokenizer(bytes.NewReader(body)); z.Next() != html.ErrorToken; {
		for _, a := range z.Token().Attr {
			switch a.Key {
			case "id":
				w.anchors[from][a.Val] = true
			case "href", "src":
				to, err := base.Parse(a.Val)
				if err != nil {
					w.t.Errorf("%s leads to %q: %v", from, a.Val, err)
				} else if w.links && strings.HasPrefix(to.String(), w.site+"/") {
					w.found(link{field: a.Key, address: to.String(), from: from})
				}
			}
		}
	}
}

// clone asks git for what is at an address.
func (w *walk) clone(address string) {
	if w.token != "" {
		address = strings.Replace(address, "://", "://x:"+w.token+"@", 1)
	}
	cmd := exec.CommandContext(w.t.Context(), "git", "ls-remote", address)
	cmd.Env = gittest.Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Errorf("git ls-remote %s: %v\n%s", address, err, out)
	}
}
