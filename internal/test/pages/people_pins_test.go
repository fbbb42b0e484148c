package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// pinsOf returns the names of the repositories that a page shows as pinned, in order.
func pinsOf(t *testing.T, s *apitest.Server, as, login string) string {
	t.Helper()
	body := string(page(t, s, as, "/"+login, 200).Body)
	_, list, ok := strings.Cut(body, "<h2>Pinned</h2>")
	if !ok {
		return ""
	}
	list, _, _ = strings.Cut(list, "</ul>")
	var names []string
	for _, m := range strings.Split(list, `<a href="/`)[1:] {
		name, _, _ := strings.Cut(m, `"`)
		if strings.Count(name, "/") == 1 && !strings.HasPrefix(name, "settings/") {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func wantPins(t *testing.T, s *apitest.Server, as, login, want string) {
	t.Helper()
	if got := pinsOf(t, s, as, login); got != want {
		t.Errorf("%s sees the pins %q of %s, want %q", as, got, login, want)
	}
}

// A person pins up to six public repositories that they own, have a role on or contributed to, in an order of their own;
// nobody else pins for them.
func TestPins(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		ids := map[string]string{}
		for n := range 7 {
			name := fmt.Sprintf("alice/r%d", n)
			ids[name] = fmt.Sprint(s.Repo(t, name, false).ID)
		}
		ids["alice/secret"] = fmt.Sprint(s.Repo(t, "alice/secret", true).ID)
		for _, name := range []string{"bob/open", "bob/shared", "bob/talked"} {
			ids[name] = fmt.Sprint(s.Repo(t, name, false).ID)
		}
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/shared/collaborators/alice", As: "bob", Status: 204})
		s.Check(t, apitest.Case{Do: "POST /repos/bob/talked/issues", As: "alice", Send: `{"title": "A question"}`, Status: 201})
		const at = "/settings/pins"
		alice := as(t, s, "alice")
		s.Visit(t, "alice", "GET "+at).Shows(t, 200, "Nothing is pinned yet.", "bob/shared", "bob/talked", "alice/r0", "!secret", "!bob/open")
		s.Visit(t, "alice", "GET "+at+"?q=SHARE").Shows(t, 200, "bob/shared", "!alice/r0")
		s.Visit(t, "alice", "GET "+at+"?q=%25").Shows(t, 200, "No other repository has these words")
		for _, name := range []string{"alice/r0", "bob/shared", "bob/talked"} {
			alice.post(at, "pin", ids[name]).Leads(t, at)
		}
		wantPins(t, s, "", "alice", "alice/r0 bob/shared bob/talked")
		alice.post(at, "up", ids["bob/talked"]).Leads(t, at)
		alice.post(at, "down", ids["alice/r0"]).Leads(t, at)
		wantPins(t, s, "bob", "alice", "bob/talked alice/r0 bob/shared")
		alice.post(at, "up", ids["bob/talked"]).Leads(t, at) // it is the first one
		alice.post(at, "order", ids["bob/shared"], "order", ids["bob/open"], "order", "x", "order", ids["bob/talked"]).Leads(t, at)
		wantPins(t, s, "bob", "alice", "bob/shared bob/talked alice/r0")
		for _, name := range []string{"bob/open", "alice/secret"} {
			alice.post(at, "pin", ids[name]).Shows(t, 422, "cannot be pinned")
		}
		alice.post(at, "pin", "999999").Shows(t, 422, "cannot be pinned")
		for n := range 3 {
			alice.post(at, "pin", ids[fmt.Sprintf("alice/r%d", n+1)]).Leads(t, at)
		}
		alice.post(at, "pin", ids["alice/r6"]).Shows(t, 422, "Unpin one first")
		alice.post(at, "unpin", ids["alice/r0"]).Leads(t, at)
		wantPins(t, s, "", "alice", "bob/shared bob/talked alice/r1 alice/r2 alice/r3")
		wantPins(t, s, "", "bob", "")
		s.Visit(t, "", "POST "+at, "pin", ids["alice/r0"]).Leads(t, "/login")

		const query = `{"query": "{user(login: \"alice\") {pinnedItems(first: 2, types: REPOSITORY) {totalCount
			nodes {... on Repository {nameWithOwner}}} gists: pinnedItems(first: 1, types: [GIST]) {totalCount}
			pinnedItemsRemaining viewerCanChangePinnedItems anyPinnableItems
			pinnableItems(first: 20) {totalCount} itemShowcase {hasPinnedItems items(first: 1) {totalCount}}}}"}`
		answer := func(mine bool, pinnable int) string {
			return fmt.Sprintf(`{"data": {"user": {"pinnedItems": {"totalCount": 5, "nodes": [{"nameWithOwner": "bob/shared"},
				{"nameWithOwner": "bob/talked"}]}, "gists": {"totalCount": 0}, "pinnedItemsRemaining": 1,
				"viewerCanChangePinnedItems": %t, "anyPinnableItems": true, "pinnableItems": {"totalCount": %d},
				"itemShowcase": {"hasPinnedItems": true, "items": {"totalCount": 5}}}}}`, mine, pinnable)
		}
		ask := strings.Join(strings.Fields(query), " ")
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: ask, Status: 200, Want: answer(true, 9)})
		// Where alice has a role, bob does not learn.
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "bob", Send: ask, Status: 200, Want: answer(false, 8)})
	})
}

// What becomes of pins when repositories are hidden, renamed, transferred and deleted, and when access is lost.
func TestPinsFollow(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "olive", "mia")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/mia", As: "olive", Status: 204})
		id := func(name string, private bool) string { return fmt.Sprint(s.Repo(t, name, private).ID) }
		alice, olive := as(t, s, "alice"), as(t, s, "olive")
		const mine, ours = "/settings/pins", "/orgs/guild/settings/pins"
		own, shared := id("alice/own", false), id("bob/shared", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/bob/shared/collaborators/alice", As: "bob", Status: 204})
		open, inside := id("guild/open", false), id("guild/inside", true)
		for _, repo := range []string{own, shared} {
			alice.post(mine, "pin", repo).Leads(t, mine)
		}
		for _, repo := range []string{inside, open} {
			olive.post(ours, "pin", repo).Leads(t, ours)
		}
		olive.post(ours, "pin", own).Shows(t, 422, "cannot be pinned")
		for who, status := range map[string]int{"mia": 403, "alice": 403} {
			s.Visit(t, who, "POST "+ours, "unpin", open).Shows(t, status)
			s.Visit(t, who, "GET "+ours).Shows(t, status)
		}
		wantPins(t, s, "mia", "guild", "guild/inside guild/open")
		wantPins(t, s, "alice", "guild", "guild/open")
		wantPins(t, s, "", "guild", "guild/open")
		if n := strings.Count(string(page(t, s, "", "/guild", 200).Body), `<a href="/guild/open">`); n != 1 {
			t.Errorf("the overview links %d times to a pinned repository", n)
		}

		change := func(repo, who, send string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PATCH /repos/" + repo, As: who, Send: send, Status: 200})
		}
		// Private: alice's own shows to her alone; bob's is pinned by somebody else and shows to nobody.
		change("alice/own", "alice", `{"private": true}`)
		change("bob/shared", "bob", `{"private": true}`)
		wantPins(t, s, "alice", "alice", "alice/own")
		wantPins(t, s, "bob", "alice", "")
		wantPins(t, s, "", "alice", "")
		change("bob/shared", "bob", `{"private": false, "name": "seeds"}`)
		change("alice/own", "alice", `{"private": false, "name": "bed"}`)
		wantPins(t, s, "", "alice", "alice/bed bob/seeds")
		// A role that is lost keeps what is public; to pin it once more is refused.
		s.Check(t, apitest.Case{Do: "DELETE /repos/bob/seeds/collaborators/alice", As: "bob", Status: 204})
		wantPins(t, s, "", "alice", "alice/bed bob/seeds")
		alice.post(mine, "up", shared).Leads(t, mine)
		wantPins(t, s, "", "alice", "alice/bed")
		alice.post(mine, "pin", shared).Shows(t, 422, "cannot be pinned")

		// A transfer takes the pins of the organization that had it.
		s.Check(t, apitest.Case{Do: "POST /repos/guild/open/transfer", As: "olive", Send: `{"new_owner": "olive"}`, Status: 202})
		wantPins(t, s, "mia", "guild", "guild/inside")
		s.Check(t, apitest.Case{Do: "POST /repos/olive/open/transfer", As: "olive", Send: `{"new_owner": "guild"}`, Status: 202})
		wantPins(t, s, "mia", "guild", "guild/inside")
		// Who leaves sees no private pin.
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild/members/mia", As: "olive", Status: 204})
		wantPins(t, s, "mia", "guild", "")
		s.Check(t, apitest.Case{Do: "DELETE /repos/guild/inside", As: "olive", Status: 204})
		wantPins(t, s, "olive", "guild", "")
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "olive", Status: 200,
			Send: `{"query": "{organization(login: \"guild\") {pinnedItemsRemaining viewerCanChangePinnedItems itemShowcase {hasPinnedItems items(first: 1) {totalCount}}}}"}`,
			Want: `{"data": {"organization": {"pinnedItemsRemaining": 6, "viewerCanChangePinnedItems": true,
				"itemShowcase": {"hasPinnedItems": false, "items": {"totalCount": 1}}}}}`})
	})
}

// The overview of an organization shows its readme, to members that of the private repository, what is popular while
// nothing is pinned, and its repositories; a person's shows the readme of the repository of the same name.
func TestOverview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "mia", "bob")
		s.Org(t, "guild", "olive")
		s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/mia", As: "olive", Status: 204})
		put := func(name, path, text string, private bool) {
			t.Helper()
			h := &history{}
			h.commit("main", "", "Begin", path, text)
			h.into(t, s, name, private)
		}
		s.Repo(t, "guild/plot", false)
		s.Visit(t, "", "GET /guild").Shows(t, 200, `href="/guild/plot"`, "!Popular repositories", "!Readme")
		put("guild/.github", "profile/README.md", "# We grow *things*\n\n[Rules](../RULES.md) ![Map](map.png)\n", false)
		put("guild/.github-private", "profile/README.md", "For gardeners alone\n", true)
		s.Check(t, apitest.Case{Do: "PUT /user/starred/guild/plot", As: "bob", Status: 204})
		s.Visit(t, "", "GET /guild").Shows(t, 200, "We grow <em>things</em>", `href="/guild/.github/blob/main/RULES.md"`,
			`src="/guild/.github/raw/main/profile/map.png"`, "!alone", "Popular repositories", "!Pin repositories", "No public members")
		s.Visit(t, "bob", "GET /guild").Shows(t, 200, "We grow", "!alone")
		s.Visit(t, "mia", "GET /guild").Shows(t, 200, "For gardeners alone", "!We grow", "!Pin repositories", "New repository")
		s.Visit(t, "olive", "GET /guild").Shows(t, 200, "For gardeners alone", `href="/orgs/guild/settings/pins"`)
		s.Visit(t, "", "GET /guild?tab=repositories").Shows(t, 200, `href="/guild/plot"`, "!We grow", `id="language"`)
		s.Check(t, apitest.Case{Do: "DELETE /orgs/guild/members/mia", As: "olive", Status: 204})
		s.Visit(t, "mia", "GET /guild").Shows(t, 200, "We grow", "!alone")
		put("bob/bob", "README.md", apitest.Markup+"\n\nHello, I am bob\n", false)
		s.Visit(t, "", "GET /bob").Shows(t, 200, "Hello, I am bob")
		s.Check(t, apitest.Case{Do: "PATCH /repos/bob/bob", As: "bob", Send: `{"private": true}`, Status: 200})
		s.Visit(t, "bob", "GET /bob").Shows(t, 200, "!Hello, I am bob")
	})
}
