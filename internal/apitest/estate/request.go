package estate

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/apidoc/check"
	"arbor/internal/apitest"
	"arbor/internal/route"
)

// Request is a request that does something, for a caller whom nothing but the right decides about.
type Request struct {
	apitest.Case // Do, Send and Headers
	Route        *route.Route
	Values       []string // of the pattern's placeholders, in their order
	Who          string   // the login of one who may
	Repo         string   // the name of the repository
	Rule         Rule
}

// Rule says who may use a route that changes something.
type Rule struct {
	Role      account.Role // what everybody needs but keeper, who made the thing; zero: pull
	Own       bool         // only keeper may, and for reactions site administrators
	Owner     bool         // only who owns the repository may, and site administrators
	Outsiders []string     // of a route of no repository: signed in, and still without the right
}

// RoleOf is the role that a right on a repository demands.
func RoleOf(right route.Right) account.Role {
	switch right {
	case route.Push:
		return account.Push
	case route.Admin:
		return account.Admin
	default:
		return account.Pull
	}
}

// things say what a placeholder stands for, by the end of what the pattern has before it; the first
// that fits counts. Routes that change something get a fresh one, where there is a way to make it.
var things = []struct {
	after, is string
	fresh     func(*World, *testing.T, *Home) string
}{
	{"/issues/{number}/reactions", "reaction", nil},
	{"/issues/comments/{id}/reactions", "comment reaction", nil},
	{"/pulls/comments/{id}/reactions", "line reaction", nil},
	{"{repo}/comments/{id}/reactions", "remark reaction", nil},
	{"{repo}/comments", "remark", (*World).remark},
	{"/issues/comments", "comment", (*World).comment}, {"/issues/events", "event", nil},
	{"/pulls/comments", "line", (*World).line}, {"/pulls/{number}/comments", "line", nil},
	{"/reviews", "review", nil},
	{"/issues", "issue", (*World).issue}, {"/pulls", "pull", (*World).pull}, {"/pull", "pull", nil},
	{"/milestones", "milestone", (*World).milestone}, {"/milestone", "milestone", nil},
	{"/labels", "label", (*World).label},
	{"/git/blobs", "blob", nil}, {"/git/trees", "tree", nil}, {"/git/tags", "tag", nil},
	{"/commits", "commit", nil},
	{"/commit", "commit", nil}, {"/statuses", "commit", nil}, {"/git/ref", "ref", nil},
	{"/git/refs", "ref", nil},
	{"/git/matching-refs", "ref", nil}, {"/branches", "branch", nil}, {"/compare", "range", nil},
	{"/contents", "file", nil}, {"/blob", "main file", nil}, {"/tree", "main", nil},
	{"/raw", "main file", nil},
	{"/check-runs", "check run", nil}, {"/runs", "check run", nil}, {"/check-suites", "check suite", nil},
	{"/releases/assets", "asset", (*World).asset}, {"/releases/tags", "release tag", nil},
	{"/releases/tag", "release tag", nil},
	{"/releases/latest/download", "asset name", nil}, {"/releases/download", "asset path", nil},
	{"/releases", "release", (*World).release}, {"/attachments", "attachment", nil},
	{"/archive", "archive", nil}, {"/tarball", "branch", nil}, {"/zipball", "branch", nil},
	{"/readme", "dir", nil},
	{"/assignees", "assignee", nil}, {"/collaborators", "guest", nil}, {"/users", "keeper", nil},
	{"/following", "keeper", nil},
	{"/app/installations", "installation", nil}, {"/apps", "app", nil}, {"/github-apps", "app", nil},
	{"/app/hook/deliveries", "app delivery", nil},
	{"/app-manifests", "manifest code", nil},
	{"/user/installations", "holder installation", nil},
	{"/user/installations/{installation_id}/repositories", "repository id", nil},
	{"/orgs", "guild", nil}, {"/organizations", "guild", nil}, {"/members", "member", nil},
	{"/memberships", "member", nil}, {"/public_members", "member", nil},
	{"/user/keys", "key", (*World).ownKey}, {"/admin/keys", "key", (*World).ownKey},
	{"/keys", "deploy key", (*World).deployKey},
	{"/repositories", "repository id", nil}, {"/user", "account id", nil},
	{"/licenses", "license", nil}, {"/gitignore/templates", "template", nil}, {"/emojis", "emoji", nil},
	{"/orgs/{org}/settings/hooks", "guild hook", nil},
	{"/orgs/{org}/settings/hooks/{hook_id}/deliveries", "guild delivery", nil},
	{"/orgs/{org}/hooks", "guild hook", nil}, {"/hooks", "hook", nil},
	{"/settings/apps/{app_slug}/deliveries", "app delivery", nil},
	{"/orgs/{org}/hooks/{hook_id}/deliveries", "guild delivery", nil},
	{"/hooks/{hook_id}/deliveries", "delivery", nil},
	{"/notifications/threads", "thread", (*World).thread},
	{"/issues/{number}/comments", "comment", nil}, {"/pull/{number}/comments", "line", nil},
	{"/assets", "page asset", nil},
	{"/dashboard/filter", "order", nil}, {"/filter", "filter", nil},
	{"/dashboard/notifications", "thread", (*World).thread}, {"/site/people", "keeper", nil},
	{"/site/organizations", "guild", nil}, {"/settings/installations", "holder installation", nil},
	{"/releases/edit", "release tag", nil}, {"/blame", "main file", nil}, {"/edit", "main file", nil},
	{"/delete", "main file", nil},
	{"/new", "main", nil}, {"/find", "main", nil}, {"/upload", "main", nil}, {"/last-changes", "main", nil},
	{"/avatars", "avatar", nil}, {"/plants", "plant", nil},
}

// thing is what stands for a placeholder of that kind.
func (h *Home) thing(is string) string {
	if value := h.Is[is]; value != "" {
		return value
	}
	return map[string]string{
		"manifest code": "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
		"ref":           "heads/" + h.Mark + "-topic", "branch": h.Mark + "-side", "range": "main..." + h.Mark + "-topic",
		"file": h.Mark + ".txt", "main file": "main/" + h.Mark + ".txt", "main": "main",
		"archive": h.Mark + "-side.zip",
		"dir":     h.Mark + "-dir", "assignee": "writer", "guest": "guest", "keeper": "keeper", "guild": "guild",
		"app": "robot", "release tag": h.Mark + "-v1", "asset name": h.Mark + ".bin",
		"asset path": h.Mark + "-v1/" + h.Mark + ".bin",
		"filter":     "label", "member": "member", "avatar": "1", "account id": "1", "emoji": "1f44d.svg",
		"order": "sort", "license": "mit", "template": "Go", "plant": "1",
	}[is]
}

var placeholder = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// values are those of a pattern's placeholders: made, if they were, else what the home has.
func (h *Home) values(t *testing.T, pattern string, made map[string]string) []string {
	t.Helper()
	var list []string
	for _, at := range placeholder.FindAllStringSubmatchIndex(pattern, -1) {
		name := pattern[at[2]:at[3]]
		value := made[name]
		switch {
		case value != "":
		case name == "owner":
			value = h.Owner
		case name == "repo":
			value = h.Name
		case at[0] == 1:
			value = h.thing("keeper")
		default:
			value = h.thing(thingAfter(pattern[:at[0]-1]))
		}
		if value == "" {
			t.Fatalf("%s: nothing is known to stand for {%s}: say in things of package estate what does",
				pattern, name)
		}
		list = append(list, value)
	}
	return list
}

// thingAfter is the kind of thing that a placeholder stands for.
func thingAfter(before string) string {
	for _, thing := range things {
		if strings.HasSuffix(before, thing.after) {
			return thing.is
		}
	}
	return ""
}

// Address fills a pattern with what the home has; made, by the names of placeholders, comes first.
func (h *Home) Address(t *testing.T, pattern string, made map[string]string) string {
	t.Helper()
	values := h.values(t, pattern, made)
	return placeholder.ReplaceAllStringFunc(pattern, func(string) string {
		value := values[0]
		values = values[1:]
		return value
	})
}

// Request makes what a route needs, and a request that it answers with success.
func (w *World) Request(t *testing.T, r *route.Route, h *Home) *Request {
	t.Helper()
	how, made := actOf(r), map[string]string{}
	if how.make != nil {
		maps.Copy(made, how.make(w, t, h))
	}
	q := &Request{Route: r, Values: h.values(t, r.Pattern, made), Who: Asker(r, "keeper"), Repo: h.Name,
		Rule: how.Rule}
	q.Do, q.Headers = r.Method+" "+h.Address(t, r.Pattern, made)+how.query, Headers(r)
	q.Send = fill(how.body, made, h.Is, map[string]string{"mark": h.Mark})
	if how.who != "" {
		q.Who = fill(how.who, h.Is)
	}
	if how.Owner {
		q.Who = h.holder()
	}
	if made["repo"] != "" {
		q.Repo = made["repo"]
	}
	return q
}

// Asker is who asks for a route in place of a person, in the first home: an App, or its bot, for what these
// alone may.
func Asker(r *route.Route, person string) string {
	switch r.Right {
	case route.App:
		return Robot
	case route.Installation:
		return Bot
	}
	if actOf(r).who == byInspector {
		return firstInspector
	}
	return person
}

// Body is the body of such a request, with the given values for names in braces; "" where none is read.
func Body(r *route.Route, values ...map[string]string) string { return fill(actOf(r).body, values...) }

// Headers are what each group's clients send.
func Headers(r *route.Route) map[string]string {
	switch r.Group {
	case route.API:
		return maps.Clone(Graduated)
	case route.Plants:
		return map[string]string{"Content-Type": "application/json"}
	}
	if kind := actOf(r).kind; kind != "" {
		return map[string]string{"Content-Type": kind}
	}
	return nil
}

// actOf is how a route is asked for. Of those that are not in acts, the pattern says what to make, the
// description what to send, and the right who may.
func actOf(r *route.Route) act {
	how, ok := acts[r.Method+" "+strings.Replace(r.Pattern, "/repos/{owner}/{repo}", "", 1)]
	if ok || r.Method == http.MethodGet {
		return how
	}
	how.Role = RoleOf(r.Right)
	how.make = func(w *World, t *testing.T, h *Home) map[string]string { return w.makeFor(t, r.Pattern, h) }
	if c, err := check.Default(); err == nil {
		for _, sample := range c.Samples(r.Method, r.Pattern) {
			how.body = sample
			break
		}
	}
	return how
}

// makeFor makes a fresh thing for each placeholder for which there is a way.
func (w *World) makeFor(t *testing.T, pattern string, h *Home) map[string]string {
	t.Helper()
	made := map[string]string{}
	for _, at := range placeholder.FindAllStringSubmatchIndex(pattern, -1) {
		for _, thing := range things {
			if !strings.HasSuffix(pattern[:max(at[0]-1, 0)], thing.after) {
				continue
			}
			if thing.fresh != nil {
				made[pattern[at[2]:at[3]]] = thing.fresh(w, t, h)
			}
			break
		}
	}
	return made
}

// fill writes values for the names in braces.
func fill(text string, values ...map[string]string) string {
	for _, m := range values {
		for name, value := range m {
			text = strings.ReplaceAll(text, "{"+name+"}", value)
		}
	}
	return text
}

// Walked are the routes that the walks ask: all but the forms of pages. What a form does is a request to the
// API, which is walked; who may send one is seen to for all forms at once.
func Walked(routes []route.Route) (list []route.Route) {
	for _, r := range routes {
		if !IsForm(&r) {
			list = append(list, r)
		}
	}
	return list
}

// IsForm reports what a page sends a form to.
func IsForm(r *route.Route) bool { return r.Group == route.Pages && r.Method != http.MethodGet }

// NamesMain reports a route whose address, as the estate fills it, names the branch main, which all
// repositories have.
func NamesMain(r *route.Route) bool {
	before, ok := strings.CutSuffix(r.Pattern, "/{path...}")
	return ok && thingAfter(before) == "main"
}
