package gitlab

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/test/testkit"
)

// quiet are options with a token.
func quiet() remote.Options {
	return remote.Options{Token: "secret", Progress: func(string, int64, int64) {}}
}

// sourceAt returns a Source of the project acme/tools/cli on a server, with a folder for records.
func sourceAt(t testing.TB, address string) *Source {
	t.Helper()
	base, err := url.Parse(address)
	testkit.NoError(t, err)
	s := newSource(&Place{Base: base, Path: "acme/tools/cli"}, quiet(), &migration.Numbers{Next: 1})
	s.about = project{ID: 42, Path: "acme/tools/cli", Visibility: "public"}
	s.path, s.Mirror = "projects/42", &git.Mirror{}
	s.texts = newTexts(s, &migration.Repository{Name: nameOf(s.about.Path), Source: address + "/acme/tools/cli"})
	s.Out, err = migration.NewSpool(filepath.Join(t.TempDir(), "records"))
	testkit.NoError(t, err)
	t.Cleanup(func() { testkit.NoError(t, s.Out.Discard()) })
	return s
}

// source is sourceAt for a server with one handler.
func source(t testing.TB, h http.HandlerFunc) *Source {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return sourceAt(t, server.URL)
}

// An address is found on a GitLab server, at the root of its host or below it, and is a project or a group
// there. The server's kind is asked for without the token.
func TestFind(t *testing.T) {
	t.Parallel()
	below := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.EscapedPath(), below+"/api/v4/")
		switch {
		case ok && path == "version":
			if token := r.Header.Get("Private-Token") + r.Header.Get("Authorization"); token != "" {
				t.Errorf("the version is asked for with %q", token)
			}
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message":"401 Unauthorized"}`)
		case ok && (path == "projects/acme%2Ftools%2Fcli" || path == "groups/acme%2Ftools"):
			if r.Header.Get("Private-Token") != "secret" {
				t.Errorf("%s is asked for with the token %q", path, r.Header.Get("Private-Token"))
			}
			fmt.Fprint(w, `{}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"404 Not Found"}`)
		}
	}))
	t.Cleanup(server.Close)
	for _, below = range []string{"", "/gitlab"} {
		for address, want := range map[string]string{
			"/acme/tools/cli": "project acme/tools-cli", "/acme/tools/cli.git": "project acme/tools-cli",
			"/acme/tools/cli/-/issues/1": "project acme/tools-cli", "/acme/tools": "group acme-tools",
			"/groups/acme/tools/-/activity": "group acme-tools", "/acme/other": "error", "/acme//cli": "none", "/": "none",
			"/acme/../cli": "none",
		} {
			if below != "" && strings.HasPrefix(address, "/groups") {
				continue
			}
			got := "none"
			p, err := Find(t.Context(), server.URL+below+address, quiet())
			switch {
			case err != nil:
				got = "error"
			case p != nil:
				got = map[bool]string{false: "project ", true: "group "}[p.Group] + p.Name()
			}
			if got != want {
				t.Errorf("%s%s is %s (%v), want %s", below, address, got, err, want)
			}
		}
	}
	for _, address := range []string{"https://github.com/acme/tool", "nonsense", "ssh://git@example.com/acme/tool"} {
		if p, err := Find(t.Context(), address, quiet()); p != nil || err != nil {
			t.Errorf("%s is %v, %v", address, p, err)
		}
	}
}

// Other servers do not pass for GitLab.
func TestFindNone(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`200 {"version":"1.0"}`, `401 {"message":"Requires authentication"}`, "401 <html>", "404 {}",
		`200 {}`, `403 {"message":"403 Forbidden"}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var code int
			fmt.Sscan(answer, &code)
			w.WriteHeader(code)
			fmt.Fprint(w, answer[4:])
		}))
		if p, err := Find(t.Context(), server.URL+"/acme/tool", quiet()); p != nil || err != nil {
			t.Errorf("%s: %v, %v", answer, p, err)
		}
		server.Close()
		if p, err := Find(t.Context(), server.URL+"/acme/tool", quiet()); p != nil || err != nil {
			t.Errorf("no server: %v, %v", p, err)
		}
	}
}

// A list is read on the server that the operator named, wherever the server says that its next page is; one
// without an end takes a bounded amount of memory.
func TestPages(t *testing.T) {
	t.Parallel()
	var asked []string
	s := source(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch len(asked) {
		case 1:
			w.Header().Set("Link", `<http://elsewhere.invalid/x?id_after=7&pagination=keyset>; rel="next"`)
		case 2:
			w.Header().Set("X-Next-Page", "3")
		}
		fmt.Fprintf(w, `[%d]`, len(asked))
	})
	sum := 0
	testkit.NoError(t, each(t.Context(), s.Client, "list?a=b", func(n *int) error { sum += *n; return nil }))
	if want := []string{"a=b&per_page=100", "id_after=7&pagination=keyset", "a=b&page=3&per_page=100"}; sum != 6 || !slices.Equal(asked, want) {
		t.Errorf("the sum is %d, asked for %q, want %q", sum, asked, want)
	}
	asked = nil
	s = source(t, func(w http.ResponseWriter, r *http.Request) {
		if asked = append(asked, r.URL.RawQuery); strings.Contains(r.URL.RawQuery, "keyset") {
			w.WriteHeader(http.StatusMethodNotAllowed)
			fmt.Fprint(w, `{"error":"no keysets"}`)
			return
		}
		fmt.Fprint(w, `[5]`)
	})
	sum = 0
	testkit.NoError(t, walkAll(t.Context(), s.Client, "list?a=b", func(n *int) error { sum += *n; return nil }))
	if want := []string{"a=b&pagination=keyset&per_page=100", "a=b&per_page=100"}; sum != 5 || !slices.Equal(asked, want) {
		t.Errorf("the sum is %d, asked for %q, want %q", sum, asked, want)
	}
	page, long := 0, strings.Repeat("x", 8<<20)
	s = source(t, func(w http.ResponseWriter, _ *http.Request) {
		page++
		w.Header().Set("X-Next-Page", fmt.Sprint(page+1))
		fmt.Fprint(w, `[{"id":`, page, `,"title":"`, long, `"}]`)
	})
	err := s.readMilestones(t.Context())
	if err == nil || !strings.Contains(err.Error(), "too large") || page > 20 {
		t.Errorf("%d pages: %v", page, err)
	}
}

// Issues keep their numbers and merge requests stand behind them; what was numbered stays so, and nothing
// has two.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		issues, merges []int64
		known          map[string]int64
		next           int64
		want           string
	}{
		"the first time":         {[]int64{1, 2, 5}, []int64{1, 2}, nil, 1, "1:1 2:2 5:5 !1:6 !2:7"},
		"no issues":              {nil, []int64{3, 4}, nil, 1, "!3:1 !4:2"},
		"newer ones":             {[]int64{1, 2, 3, 4}, []int64{1, 2}, map[string]int64{"1": 1, "2": 2, "!1": 3}, 4, "1:1 2:2 !1:3 4:4 !2:5 3:6"},
		"once more":              {[]int64{1, 2, 3}, []int64{1, 2}, map[string]int64{"1": 1, "2": 2, "!1": 3, "!2": 4, "3": 5}, 6, "1:1 2:2 !1:3 !2:4 3:5"},
		"a number had by others": {[]int64{1}, []int64{1}, map[string]int64{"1": 1}, 9, "1:1 !1:9"},
	} {
		s := sourceAt(t, "http://gitlab.example")
		s.known = &migration.Numbers{Of: c.known, Next: c.next}
		s.number(c.issues, c.merges)
		var got []string
		for _, key := range s.inOrder() {
			got = append(got, fmt.Sprintf("%s:%d", key, s.numbers[key]))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// A group comes with those whom GitLab lets do something, by their levels, and with the projects below it.
func TestReadOrganization(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"groups/acme":                   `{"name":"Acme","description":"Tools\nand more","full_path":"acme"}`,
		"groups/acme/projects":          `[{"path_with_namespace":"acme/tools/cli"},{"path_with_namespace":"acme/tools-cli"},{"path_with_namespace":"acme/web"},{"path_with_namespace":"other/x"},{"path_with_namespace":"acme/../x"}]`,
		"groups/acme/descendant_groups": `[{"full_path":"acme/tools"},{"full_path":"other"}]`,
		"groups/acme/members":           `[{"username":"olive","access_level":50},{"username":"mary","access_level":40},{"username":"dan","access_level":30},{"username":"guest","access_level":10},{"username":"","access_level":50}]`,
		"groups/acme%2Ftools/members":   `[{"username":"olive","access_level":50},{"username":"tom","access_level":50},{"username":"rita","access_level":20}]`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, answers[strings.TrimPrefix(r.URL.EscapedPath(), "/api/v4/")])
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	testkit.NoError(t, err)
	got, err := (&Place{Base: base, Path: "acme", Group: true}).ReadOrganization(t.Context(), quiet())
	testkit.NoError(t, err)
	all, tools := map[string]string{}, map[string]string{}
	for _, name := range []string{"tools-cli", "tools-cli-2", "web"} {
		all[name] = "maintain"
	}
	tools["tools-cli-2"] = "maintain"
	want := &migration.Organization{Login: "acme", Name: "Acme", Permission: "none", Description: "Tools and more", Owners: []string{"olive"},
		Members: []string{"mary", "dan", "tom", "rita"}, Repositories: []string{"tools-cli", "tools-cli-2", "web"},
		Paths: map[string]string{"tools-cli": "tools-cli", "tools-cli-2": "tools/cli", "web": "web"},
		Teams: []migration.Team{{Slug: "Maintainers", Name: "Maintainers", Members: []string{"mary"}, Roles: all},
			{Slug: "Developers", Name: "Developers", Members: []string{"dan"}, Roles: map[string]string{"tools-cli": "push", "tools-cli-2": "push", "web": "push"}},
			{Slug: "tools Maintainers", Name: "tools Maintainers", Members: []string{"olive", "tom"}, Roles: tools},
			{Slug: "tools Reporters", Name: "tools Reporters", Members: []string{"rita"}, Roles: map[string]string{"tools-cli-2": "triage"}}}}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the organization is\n%+v\nwant\n%+v", got, want)
	}
}

// A protection becomes rules, and the report lists what the rules cannot express.
func TestProtections(t *testing.T) {
	t.Parallel()
	for there, want := range map[string]string{
		`{}`: `deletion pull_request non_fast_forward`,
		`{"push_access_levels":[{"access_level":30}],"merge_access_levels":[{"access_level":30}],"allow_force_push":true}`:         `deletion`,
		`{"push_access_levels":[{"access_level":0}],"merge_access_levels":[{"access_level":40}]}`:                                  `deletion pull_request non_fast_forward: that only some may merge`,
		`{"push_access_levels":[{"access_level":40},{"access_level":40,"user_id":7}],"merge_access_levels":[{"access_level":30}]}`: `deletion pull_request non_fast_forward: that maintainers may push without a pull request: single users, groups and keys who may push without a pull request`,
		`{"push_access_levels":[{"access_level":30}],"code_owner_approval_required":true}`:                                         `deletion pull_request non_fast_forward: that everybody may push without a pull request`,
	} {
		s := sourceAt(t, "http://gitlab.example")
		p := protectionAnswer{Name: "main"}
		testkit.NoError(t, json.Unmarshal([]byte(there), &p))
		var kinds []string
		for _, r := range s.body(&p)["rules"].([]remote.Entry) {
			kinds = append(kinds, r["type"].(string))
		}
		got := strings.Join(kinds, " ")
		for _, left := range s.Left() {
			got += strings.TrimPrefix(left, `protection of "main"`)
		}
		if got != want {
			t.Errorf("%s became %s, want %s", there, got, want)
		}
	}
}

// What only members see makes the repository private.
func TestHiddenProjectsArePrivate(t *testing.T) {
	t.Parallel()
	for more, private := range map[string]bool{
		`"visibility":"public"`: false, `"visibility":"internal"`: true, `"visibility":"private"`: true, `"x":1`: true,
		`"visibility":"public","issues_access_level":"private"`:     true,
		`"visibility":"public","repository_access_level":"private"`: true,
		`"visibility":"public","issues_access_level":"disabled"`:    false,
	} {
		s := source(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"id":42,"path_with_namespace":"acme/tools/cli","web_url":"https://elsewhere.example/x",
				"description":"`+strings.Repeat(`a long\n\ntext `, 100)+`",`+more+`}`)
		})
		s.about = project{}
		about, err := s.repository(t.Context())
		testkit.NoError(t, err)
		if text := about.Description; len(text) != 350 || !strings.HasSuffix(text, "a long text...") {
			t.Errorf("the description is %q", text)
		}
		if about.Private != private || about.Source != s.Base.String()+"/acme/tools/cli" {
			t.Errorf("%s: %v, from %s", more, about.Private, about.Source)
		}
	}
	strangers := source(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":42,"path_with_namespace":"acme/tools/cli"}`)
	})
	strangers.token, strangers.about = false, project{}
	about, err := strangers.repository(t.Context())
	if testkit.NoError(t, err); about.Private {
		t.Error("what strangers see is private")
	}
	for _, answer := range []string{`{"id":1,"path_with_namespace":"acme"}`, `{}`, `[]`, `{"id":1,"path_with_namespace":"a/../b"}`,
		`{"id":0,"path_with_namespace":"a/b"}`, `{"id":1,"path_with_namespace":"a/b","repository_object_format":"sha256"}`} {
		s := source(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		s.about = project{}
		if _, err := s.repository(t.Context()); err == nil {
			t.Errorf("%s is taken", answer)
		}
	}
}
