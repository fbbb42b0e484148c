// Package estate is the world through which tests walk the whole interface: every kind of caller, and
// repositories with one of each thing in them. It knows for each route a request that succeeds there.
//
//   - estate.go: the people
//   - home.go: a repository and what is in it
//   - request.go: a request for any route, made of what its pattern says
//   - app.go: a GitHub App
//   - acts.go: the routes of which the pattern does not say enough
package estate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/scope"
)

// Marks of what is private beside repositories.
const (
	PendingMark = "wolfsbane" // a review that reader has not submitted
	EmailMark   = "oleander"  // addresses, for who signed in
	PlantMark   = "foxglove"  // plants of keeper
)

// World is everyone and everything that a walk through the interface meets.
type World struct {
	*apitest.Server
	Homes         []*Home
	inspectors    map[string]*apitest.App // that write checks, by owners of repositories
	Tokens        map[string]string       // by login; also of those that are not in force
	fresh         int
	key           string // the id of an SSH key of keeper's
	robot         *apitest.App
	installations map[string]string // of the robot, by the login of the account
	// the ids of a hook of the organization, and of what was delivered to it
	guildHook, guildDelivery string
}

// Graduated asks for everything that can be shown.
var Graduated = map[string]string{"Accept": "application/vnd.github.v3+json"}

// People are every kind of caller; "" is nobody, and two have no valid token.
var People = []string{"", "wrong", "expired", "stranger", "neighbour", "reader", "writer", "keeper",
	"member", "owner", "holder", "chief"}

// New registers everyone, with a public repository each of an organization
// and of a person. Hide adds a private one of each.
func New(t *testing.T, s *apitest.Server) *World {
	t.Helper()
	w := &World{Server: s, Tokens: map[string]string{"wrong": "arb_" + strings.Repeat("a", 40)}}
	for _, login := range append([]string{"guest"}, People[3:]...) {
		if login == "chief" {
			s.Admin(t, login)
		} else {
			s.User(t, login)
		}
		w.Tokens[login] = s.Token(t, login)
		w.OK(t, login, "PATCH /user", fmt.Sprintf(`{"email":"%s-%s@example.org"}`, EmailMark, login))
	}
	var err error
	w.Tokens["expired"], _, err = s.Accounts.CreateToken(t.Context(),
		account.NewToken{Login: "chief", Note: "old", Scopes: scope.All, Expires: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	s.Org(t, "guild", "owner")
	w.OK(t, "owner", "PATCH /orgs/guild", `{"members_can_fork_private_repositories":true}`)
	w.OK(t, "owner", "PUT /orgs/guild/members/member", "")
	w.OK(t, "owner", "PATCH /orgs/guild", `{"members_can_fork_private_repositories":true}`)
	w.OK(t, "keeper", "POST /plants", `{"id":1,"name":"`+PlantMark+`","tag":"`+PlantMark+`"}`)
	w.employ(t)
	w.inspectors = map[string]*apitest.App{}
	w.Build(t, "guild", "goldenrod", false)
	w.Build(t, "holder", "chamomile", false)
	return w
}

// Hide adds a private repository of each owner.
func (w *World) Hide(t *testing.T) {
	t.Helper()
	w.Build(t, "guild", "nightshade", true)
	w.Build(t, "holder", "belladonna", true)
}

// OK makes a request that must succeed, and gives its answer.
func (w *World) OK(t *testing.T, as, do, send string) map[string]any {
	t.Helper()
	headers := map[string]string{"Accept": Graduated["Accept"]}
	if strings.HasSuffix(do, "/plants") {
		headers = map[string]string{"Content-Type": "application/json"}
	}
	a := w.Do(t, apitest.Case{Do: do, As: as, Send: send, Headers: headers})
	if a.Status >= 300 {
		t.Fatalf("%s as %s: %d %s", do, as, a.Status, a.Body)
	}
	var made map[string]any
	_ = json.Unmarshal(a.Body, &made) // lists and nothing are no objects
	return made
}

// made is OK for what has an id or another name under key.
func (w *World) made(t *testing.T, as, do, send, key string) string {
	t.Helper()
	switch v := w.OK(t, as, do, send)[key].(type) {
	case float64:
		return fmt.Sprint(int64(v))
	case string:
		return v
	}
	t.Fatalf("%s made nothing with %q", do, key)
	return ""
}
