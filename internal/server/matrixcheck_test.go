package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// exchange is a request of a caller to a route, and its answer.
type exchange struct {
	route *route.Route
	home  *fixture.Home // the repository; of a route about none, the one whose things the address names
	as    caller
	c     apitest.Case
	want  int // a status, allowed or refused
	*apitest.Answer
	ran []string // the statements
}

// checks hold each answer of the matrix. They may ask again in other ways. A new rule about all answers is a
// function here.
var checks = []func(*matrix, *testing.T, *exchange){
	hasStatus, tellsNothing, hasForm, writesNothing, looksAbsent, asHead, asPrefixed, asBrowser, asBroken,
	asKept, staysPrivate,
}

func (e *exchange) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Errorf("%s as %q: %d %s\n%.600s", e.c.Do, e.as.name(), e.Status, fmt.Sprintf(format, args...), e.Body)
}

// again is another request of the same caller.
func (m *matrix) again(t *testing.T, e *exchange, c apitest.Case) *exchange {
	t.Helper()
	f := *e
	f.c = c
	m.ran.take()
	f.Answer = m.ask(t, e.as.name(), c)
	f.ran = m.ran.take()
	if tag := f.Header.Get("ETag"); tag != "" && m.tags != nil {
		m.tags[c.Do+" as "+e.as.name()] = tag
	}
	return &f
}

// hasStatus holds the status against the right that is written on the route (decisions 11, 13, 49, 51).
func hasStatus(_ *matrix, t *testing.T, e *exchange) {
	t.Helper()
	refuses := e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	switch {
	case e.Status >= 500:
		e.errorf(t, "is an error of the server")
	case e.want == refused:
		if e.Status < 400 || e.Status == http.StatusUnauthorized && !e.as.isBot() {
			e.errorf(t, "though it must be refused")
		}
	case e.want != allowed:
		if e.Status != e.want {
			e.errorf(t, "instead of %d", e.want)
		}
	case asksMore(e):
	case refuses:
		e.errorf(t, "though the caller has the right")
	case onRepo(e.route) && e.Status >= 400 && e.route.Method == http.MethodGet && !mayLack(e):
		e.errorf(t, "though it is there")
	}
}

// mayLack reports whether the route returns 404 even if everything is visible: it asks whether the caller
// or the resource has something. Apps have no account that could be subscribed.
func mayLack(e *exchange) bool {
	switch strings.TrimPrefix(e.route.Pattern, "/repos/{owner}/{repo}") {
	case "/user/starred/{owner}/{repo}", "/subscription", "/issues/{number}/subscription":
		return !e.as.isOne("keeper")
	case "/pulls/{number}/merge", "/collaborators/{username}", "/codeowners/errors": // without a file
		return true
	}
	_, _, never := e.route.Need.ByApp()
	return e.as == poor || e.as.isBot() && never
}

// asksMore reports whether the response depends on the caller and not only on the right: a page that shows
// a form only to users who may send it, or something for which an App needs a permission or that it cannot
// have.
func asksMore(e *exchange) bool {
	signsIn := e.Status == http.StatusSeeOther && strings.HasPrefix(e.Header.Get("Location"), "/login")
	refuses := e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	return e.route.Group == route.Pages && (signsIn || refuses) || e.as == poor && e.Status < 500
}

// tellsNothing looks through all that an answer says for what its caller must not know.
func tellsNothing(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	var text strings.Builder
	for name, values := range e.Header {
		text.WriteString(name + ": " + strings.Join(values, ", ") + "\n")
	}
	text.Write(e.Body)
	all := strings.ToLower(text.String())
	objects := objectNames(all)
	for _, h := range m.Homes {
		if e.as.role(h) > account.None && !m.withholds(e, h) {
			continue
		}
		if _, knew := h.Changed[e.as.login]; knew && e.route.Pattern == "/orgs/{org}/audit-log" {
			continue // which has the names of then
		}
		if strings.Contains(all, h.Mark) || slices.ContainsFunc(h.SHAs,
			func(sha string) bool { return objects[sha] }) {
			e.errorf(t, "tells of %s in\n%.600s", h.Mark, all)
		}
	}
	aToken := strings.Contains(all, "arb_")
	for of, token := range m.Tokens {
		if of != "wrong" && (aToken || !strings.HasPrefix(token, "arb_")) &&
			strings.Contains(all, strings.ToLower(token)) {
			e.errorf(t, "tells the token of %s", of)
		}
	}
	for mark, hidden := range map[string]bool{
		fixture.PendingMark: e.as.login != "reader",
		fixture.PlantMark:   !e.as.isOne("keeper", "chief"),
		fixture.EmailMark:   e.as.login == "" || !e.as.valid(),
	} {
		if hidden && strings.Contains(all, mark) {
			e.errorf(t, "tells of %s", mark)
		}
	}
}

// withholds reports a route for which an App without permissions is not shown what is private.
func (m *matrix) withholds(e *exchange, h *fixture.Home) bool {
	permission, _, never := e.route.Need.ByApp()
	free := !never && permission == "" || permission == "metadata" && roleFor(e.route, "") <= account.Push
	return e.as == poor && h.Private && h == e.home && !free && onRepo(e.route) &&
		e.route.Method == http.MethodGet
}

// objectNames returns all object names in a text, and any other forty hexadecimal digits.
func objectNames(text string) map[string]bool {
	const size = 40
	found, digits := map[string]bool{}, 0
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' && c < 'a' || c > 'f' {
			digits = 0
			continue
		}
		if digits++; digits >= size {
			found[text[i+1-size:i+1]] = true
		}
	}
	return found
}

// beforeRights are how statements begin that refused requests run, too: who was refused is recorded, and rows are
// locked on which a right depends.
var beforeRights = []string{"INSERT INTO audit (", "UPDATE accounts SET kind = kind ",
	"UPDATE repos SET owner_id = owner_id ", "UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1"}

// writesNothing holds that a request which is refused begins no change. Stars ask for the right in the
// statement that changes them. PostgreSQL runs the same code.
func writesNothing(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if m.Engine == db.PostgreSQL || e.want == allowed || e.want == refused ||
		strings.HasPrefix(e.route.Pattern, "/user/starred/") {
		return
	}
	for _, query := range e.ran {
		verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
		isBefore := func(prefix string) bool { return strings.HasPrefix(query, prefix) }
		if slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, verb) && !slices.ContainsFunc(beforeRights, isBefore) {
			e.errorf(t, "though it is refused, it runs %s", query)
		}
	}
}

// looksAbsent checks that an invisible resource looks exactly like a missing one, under its current and its
// former name, and however invalid the request is (decision 13). The time must not differ either: for
// anonymous callers and strangers the same statements run, at first and repeatedly.
func looksAbsent(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	hidden := e.as.valid() && e.as.role(e.home) == account.None && e.route.Group != route.Git
	if e.want != http.StatusNotFound && !hidden || !onRepo(e.route) || e.home.Name == nowhere {
		return
	}
	same(t, e, m.again(t, e, m.at(e, nowhere)))
	if !e.as.isOne("", "stranger") || !e.home.Private || e.route.Method != http.MethodGet &&
		e.route.Group != route.Git {
		return
	}
	if e.want == http.StatusNotFound {
		m.runsAlike(t, e)
	}
	path, query, _ := strings.Cut(e.c.Do, "?")
	odd, absent := e.c, m.at(e, nowhere)
	odd.Do = path + "?state=foo&sort=foo&milestone=9&ref=foo&" + query
	at, _, _ := strings.Cut(absent.Do, "?")
	absent.Do = at + "?state=foo&sort=foo&milestone=9&ref=foo&" + query
	same(t, m.again(t, e, odd), m.again(t, e, absent))
}

// runsAlike compares the statements for a hidden repository, for its former name and for an absent one.
func (m *matrix) runsAlike(t *testing.T, e *exchange) {
	t.Helper()
	var absent string
	for _, name := range []string{nowhere, e.home.Name, e.home.Mark} {
		c := m.at(e, name)
		again := m.again(t, e, c)
		if e.home.Name != name {
			same(t, e, again)
		}
		ran := strings.Join(again.ran, "\n") + "\nagain:\n" + strings.Join(m.again(t, e, c).ran, "\n")
		if name == nowhere {
			absent = ran
		} else if ran != absent {
			again.errorf(t, "it runs\n%s\nfor an absent name\n%s", ran, absent)
		}
	}
}

// at is the request for another repository of the same owner, which may be in place of a spare one.
func (m *matrix) at(e *exchange, name string) apitest.Case {
	c := e.c
	before, after, _ := strings.Cut(c.Do, "/"+e.home.Owner+"/")
	end := strings.IndexAny(after, "/?")
	if end < 0 {
		end = len(after)
	}
	suffix := ""
	if strings.HasSuffix(after[:end], ".git") {
		suffix = ".git"
	}
	c.Do = before + "/" + e.home.Owner + "/" + name + suffix + after[end:]
	return c
}

// same fails unless two answers are alike to the byte.
func same(t *testing.T, e, absent *exchange) {
	t.Helper()
	if e.Status != absent.Status || string(e.Body) != string(absent.Body) {
		e.errorf(t, "differs from that to %s: %d %s", absent.c.Do, absent.Status, absent.Body)
	}
	for _, header := range [2]http.Header{e.Header, absent.Header} {
		header.Del("X-Request-Id")
		header.Del("X-GitHub-Request-Id")
		header.Del("Date")
	}
	if got, want := fmt.Sprint(e.Header), fmt.Sprint(absent.Header); got != want {
		e.errorf(t, "has the header\n%s, where nothing is\n%s", got, want)
	}
}

// asHead and the next are other ways to ask, which lead to the same statements: one engine has them.
func asHead(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.route.Method != http.MethodGet || !e.as.isOne("", "stranger") || m.Engine == db.PostgreSQL {
		return
	}
	c := e.c
	c.Do = "HEAD " + strings.TrimPrefix(c.Do, "GET ")
	head := m.again(t, e, c)
	tellsNothing(m, t, head)
	if head.Status != e.Status || len(head.Body) > 0 {
		head.errorf(t, "where GET answers %d", e.Status)
	}
}

// asPrefixed asks at /api/v3, where clients of GitHub Enterprise ask.
func asPrefixed(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.route.Method != http.MethodGet || !e.as.isOne("", "stranger") || m.Engine == db.PostgreSQL ||
		e.route.Group != route.API {
		return
	}
	c := e.c
	c.Do = "GET /api/v3" + strings.TrimPrefix(c.Do, "GET ")
	prefixed := m.again(t, e, c)
	tellsNothing(m, t, prefixed)
	if prefixed.Status != e.Status {
		prefixed.errorf(t, "where it is %d without the prefix", e.Status)
	}
}

// asBrowser checks that a browser gets the page of a missing repository if the repository is not visible.
func asBrowser(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.want != http.StatusNotFound || !onRepo(e.route) || e.route.Group != route.Pages || e.as.kind != "" ||
		e.home.Name == nowhere || e.as.role(e.home) > account.None {
		return
	}
	c := e.c
	c.Headers = map[string]string{"Accept": "text/html"}
	maps.Copy(c.Headers, e.c.Headers)
	page := m.again(t, e, c)
	absent := m.again(t, e, m.at(page, nowhere))
	unnamed := func(e *exchange) string { return strings.ReplaceAll(string(e.Body), page.home.Name, nowhere) }
	if page.Status != e.want || absent.Status != e.want || unnamed(page) != unnamed(absent) {
		page.errorf(t, "in a browser, where nothing is %d\n%s", absent.Status, absent.Body)
	}
}

// staysPrivate checks that private responses are not cached for others.
func staysPrivate(_ *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.home.Private && e.Status < 400 && onRepo(e.route) &&
		strings.Contains(e.Header.Get("Cache-Control"), "public") {
		e.errorf(t, "may be kept: %s", e.Header.Get("Cache-Control"))
	}
}

// asBroken holds that the right is asked for before the body is read.
func asBroken(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	if e.want == allowed || e.want == refused || e.as.kind != "" || e.c.Send == "" ||
		e.route.Group != route.API || !onRepo(e.route) && e.want != http.StatusUnauthorized {
		return
	}
	c := e.c
	c.Send = "{"
	broken := m.again(t, e, c)
	if broken.Status != e.want {
		broken.errorf(t, "to a body that is no JSON, instead of %d", e.want)
	}
	if e.want == http.StatusNotFound && e.home.Name != nowhere {
		same(t, broken, m.again(t, e, m.at(broken, nowhere)))
	}
}

// asKept holds that who kept an answer is not told that it still holds, once it is out of sight.
func asKept(m *matrix, t *testing.T, e *exchange) {
	t.Helper()
	tag := m.tags[e.c.Do+" as "+e.as.name()]
	if e.want != http.StatusNotFound || tag == "" {
		return
	}
	c := e.c
	c.Headers = map[string]string{"If-None-Match": tag}
	maps.Copy(c.Headers, e.c.Headers)
	if kept := m.again(t, e, c); kept.Status != e.want {
		kept.errorf(t, "to a condition, instead of %d", e.want)
	}
}
