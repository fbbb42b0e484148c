package repos_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Somebody who manages access reads three answers: the list, the check and the
// permission. If they disagreed, somebody would keep a right that nobody sees
// (decision 12).
func TestOrganizationCollaborators(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guild := s.Org(t, "guild", s.User(t, "owner").Login)
		s.Users(t, "outside", "member", "raised", "lowered", "stranger", "sorter", "warden")
		s.Admin(t, "operator") // a member who administers the site
		for _, login := range []string{"member", "raised", "lowered", "operator"} {
			s.Ask(t, "owner", "PUT /orgs/guild/memberships/"+login, `{"role": "member"}`, 200)
		}
		s.User(t, "second")
		s.Ask(t, "owner", "PUT /orgs/guild/memberships/second", `{"role": "admin"}`, 200)
		for _, private := range []bool{true, false} {
			r := s.Repo(t, fmt.Sprintf("guild/hall-%t", private), private)
			s.Grant(t, r, "outside", account.Push)
			s.Grant(t, r, "raised", account.Admin)
			s.Grant(t, r, "lowered", account.Pull)
			s.Grant(t, r, "second", account.Pull) // an owner whom someone granted less
			s.Grant(t, r, "sorter", account.Triage)
			s.Grant(t, r, "warden", account.Maintain)
		}
		for permission, others := range map[string]map[string]string{
			"none":  {"lowered": "read"},
			"read":  {"lowered": "read", "member": "read", "operator": "admin"},
			"write": {"lowered": "write", "member": "write", "operator": "admin"},
			"admin": {"lowered": "admin", "member": "admin", "operator": "admin"},
		} {
			s.Check(t, apitest.Case{Do: "PATCH /orgs/guild", As: "owner", Status: 200,
				Send: fmt.Sprintf(`{"default_repository_permission": %q}`, permission)})
			want := map[string]string{"owner": "admin", "second": "admin", "outside": "write",
				"raised": "admin", "sorter": "triage", "warden": "maintain"}
			maps.Copy(want, others)
			for _, private := range []bool{true, false} {
				sameCollaborators(t, s, fmt.Sprintf("guild/hall-%t", private), private, want)
			}
		}
		s.Ask(t, "owner", "GET /repos/guild/hall-true/collaborators/"+guild.Login, "", 404)
	})
}

// sameCollaborators reads all three answers about everyone.
func sameCollaborators(t *testing.T, s *apitest.Server, name string, private bool, want map[string]string) {
	t.Helper()
	path := "/repos/" + name + "/collaborators"
	listed := map[string]string{}
	last := int64(0)
	pages := (len(want) + 2) / 3
	for page := 1; page <= pages+1; page++ {
		a := s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s?per_page=3&page=%d", path, page), As: "owner",
			Status: 200})
		if link := a.Header.Get("Link"); page > pages &&
			!strings.Contains(link, fmt.Sprintf(`page=%d>; rel="last"`, pages)) {
			t.Errorf("%s: %d people, and past the end the links are %s", name, len(want), link)
		}
		var people []struct {
			ID    int64
			Login string
			Role  string `json:"role_name"`
		}
		testkit.NoError(t, json.Unmarshal(a.Body, &people))
		for _, p := range people {
			if listed[p.Login] = p.Role; p.ID <= last {
				t.Errorf("%s: %s is listed out of order or twice", name, p.Login)
			}
			last = p.ID
		}
	}
	if !maps.Equal(listed, want) {
		t.Errorf("%s: listed are %v, want %v", name, listed, want)
	}
	for _, login := range []string{"owner", "outside", "member", "raised", "lowered", "stranger",
		"operator", "second", "sorter", "warden"} {
		status, permission := 204, want[login]
		if permission == "" {
			status, permission = 404, "read"
			switch {
			case login == "operator":
				permission = "admin"
			case private:
				permission = "none"
			}
		}
		s.Check(t, apitest.Case{Do: "GET " + path + "/" + login, As: "owner", Status: status})
		s.Check(t, apitest.Case{Do: "GET " + path + "/" + login + "/permission", As: "owner", Status: 200,
			Want: fmt.Sprintf(`{"permission": %q, "role_name": %q, "user": {"permissions": %s}}`,
				strings.NewReplacer("triage", "read", "maintain", "write").Replace(permission), permission,
				fiveOf(permission))})
	}
}

// fiveOf is what permissions has for a role.
func fiveOf(name string) string {
	role, _ := account.RoleNamed(name)
	var five []string
	for _, permission := range account.Grants() {
		least, _ := account.ParseRole(permission)
		five = append(five, fmt.Sprintf("%q: %t", permission, role >= least))
	}
	return "{" + strings.Join(five, ", ") + "}"
}

// Filters of collaborators must not include others, because people act on such lists.
func TestCollaboratorsAreChosen(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Org(t, "guild", s.User(t, "owner").Login)
		s.Users(t, "member", "raised", "outside", "reader")
		s.Admin(t, "operator")
		s.Users(t, "sorter", "warden")
		for _, login := range []string{"member", "raised", "operator"} {
			s.Ask(t, "owner", "PUT /orgs/guild/memberships/"+login, `{"role": "member"}`, 200)
		}
		for _, name := range []string{"guild/hall", "guild/attic", "owner/own"} {
			r := s.Repo(t, name, name != "guild/hall")
			s.Grant(t, r, "outside", account.Push)
			s.Grant(t, r, "reader", account.Pull)
			s.Grant(t, r, "raised", account.Admin)
			s.Grant(t, r, "sorter", account.Triage)
			s.Grant(t, r, "warden", account.Maintain)
		}
		for _, c := range []struct{ repo, query, want string }{
			{"guild/hall", "", "owner member raised outside reader operator sorter warden"},
			{"guild/hall", "?affiliation=all", "owner member raised outside reader operator sorter warden"},
			{"guild/hall", "?affiliation=direct", "raised outside reader sorter warden"},
			{"guild/hall", "?affiliation=outside", "outside reader sorter warden"},
			{"guild/hall", "?permission=pull", "owner member raised outside reader operator sorter warden"},
			{"guild/hall", "?permission=triage", "owner raised outside operator sorter warden"},
			{"guild/hall", "?permission=push", "owner raised outside operator warden"},
			{"guild/hall", "?permission=maintain", "owner raised operator warden"},
			{"guild/hall", "?permission=admin", "owner raised operator"},
			{"guild/hall", "?permission=push&affiliation=outside", "outside warden"},
			{"guild/attic", "?permission=pull", "owner member raised outside reader operator sorter warden"},
			{"owner/own", "?affiliation=direct", "owner raised outside reader sorter warden"},
			{"owner/own", "?affiliation=outside", "raised outside reader sorter warden"},
			{"owner/own", "?permission=push", "owner raised outside warden"},
		} {
			chosenCollaborators(t, s, c.repo, c.query, c.want)
		}
		s.Ask(t, "owner", "PATCH /orgs/guild", `{"default_repository_permission": "write"}`, 200)
		chosenCollaborators(t, s, "guild/attic", "?permission=push",
			"owner member raised outside operator warden")
		s.Ask(t, "owner", "PATCH /orgs/guild", `{"default_repository_permission": "none"}`, 200)
		chosenCollaborators(t, s, "guild/attic", "?affiliation=outside", "outside reader sorter warden")
		chosenCollaborators(t, s, "guild/attic", "?permission=pull",
			"owner raised outside reader sorter warden")
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/guild/hall/collaborators?affiliation=near", As: "owner", Status: 422,
				Want: `{"errors": [{"resource": "Collaborator", "field": "affiliation", "code": "invalid"}]}`},
			{Do: "GET /repos/guild/hall/collaborators?permission=write", As: "owner", Status: 422,
				Want: `{"errors": [{"resource": "Collaborator", "field": "permission", "code": "invalid"}]}`},
		})
	})
}

// chosenCollaborators reads a list whole and in pages of two.
func chosenCollaborators(t *testing.T, s *apitest.Server, name, query, want string) {
	t.Helper()
	list := func(more string) []string {
		sep := "?"
		if query != "" {
			sep = "&"
		}
		var people []struct{ Login string }
		s.Check(t, apitest.Case{Do: "GET /repos/" + name + "/collaborators" + query + sep + more, As: "owner",
			Status: 200}).JSON(t, &people)
		logins := make([]string, len(people))
		for i, p := range people {
			logins[i] = p.Login
		}
		return logins
	}
	if got := strings.Join(list("per_page=100"), " "); got != want {
		t.Errorf("%s%s: %s, want %s", name, query, got, want)
	}
	var paged []string
	for page := 1; page <= 4; page++ {
		paged = append(paged, list(fmt.Sprintf("per_page=2&page=%d", page))...)
	}
	if got := strings.Join(paged, " "); got != want {
		t.Errorf("%s%s in pages: %s, want %s", name, query, got, want)
	}
}
