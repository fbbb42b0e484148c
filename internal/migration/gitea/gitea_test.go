package gitea

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
	"arbor/internal/test/testkit"
)

// source starts a server with one handler, and returns a Source that reads from it, with a folder for records.
func source(t testing.TB, h http.HandlerFunc) *Source {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return sourceAt(t, server.URL)
}

func sourceAt(t testing.TB, address string) *Source {
	t.Helper()
	c, _, err := newClient(address+"/prefix/acme/tool", remote.Options{Token: "secret",
		Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	s := &Source{Source: remote.NewSource(c), path: "repos/acme/tool", attachments: map[string]bool{}}
	s.about.FullName, s.Mirror = "acme/tool", &git.Mirror{}
	s.Out, err = migration.NewSpool(filepath.Join(t.TempDir(), "records"))
	testkit.NoError(t, err)
	t.Cleanup(func() { testkit.NoError(t, s.Out.Discard()) })
	return s
}

// A list ends where its length says, where a page is empty, or where a server that knows no pages repeats itself.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total  string // X-Total-Count
		pages  []string
		rest   string // of further pages
		empty  int
		counts bool
		asked  int
		want   string
	}{
		"the length":           {total: "3", pages: []string{"[1,2]", "[3]"}, rest: "[9]", counts: true, asked: 2, want: "123"},
		"no length":            {pages: []string{"[1,2]", "[3]", "[]"}, rest: "[9]", counts: true, asked: 3, want: "123"},
		"null":                 {pages: []string{"[1]", "null"}, rest: "[9]", counts: true, asked: 2, want: "1"},
		"the same again":       {pages: []string{"[1,2]"}, rest: "[1,2]", counts: true, asked: 2, want: "12"},
		"a length of the page": {total: "1", pages: []string{"[1]", "[2]", "[]"}, rest: "[9]", asked: 3, want: "12"},
		"a gap":                {pages: []string{"[1]", "[]", "[2]", "[]"}, rest: "[]", empty: 1, asked: 4, want: "12"},
	} {
		asked, got := 0, ""
		s := source(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "token secret" {
				t.Errorf("the token is sent as %q", r.Header.Get("Authorization"))
			}
			asked++
			if page := r.URL.Query().Get("page"); page != strconv.Itoa(asked) || r.URL.Path != "/prefix/api/v1/list" {
				t.Errorf("page %s of %s, want %d", page, r.URL.Path, asked)
			}
			if c.total != "" {
				w.Header().Set("X-Total-Count", c.total)
			}
			body := c.rest
			if asked <= len(c.pages) {
				body = c.pages[asked-1]
			}
			fmt.Fprint(w, body)
		})
		err := walk(t.Context(), s.Client, "list", c.empty, c.counts, remote.MaxKept, func(n *int) error {
			got += strconv.Itoa(*n)
			return nil
		})
		if err != nil || asked != c.asked || got != c.want {
			t.Errorf("%s: %d requests gave %s, %v; want %d and %s", name, asked, got, err, c.asked, c.want)
		}
	}
}

// Issues come in the order of their numbers, each once, though the server gives the newest first and the list moves.
func TestListIsTurnedRound(t *testing.T) {
	t.Parallel()
	s := sourceAt(t, "http://gitea.example")
	list, err := s.NewTurned()
	testkit.NoError(t, err)
	defer list.Close()
	got := ""
	for n, number := range []int64{30, 20, 20, 10} {
		testkit.NoError(t, list.Add(number, fmt.Appendf(nil, `{"number":%d,"title":"%d"}`, number, n)))
	}
	for _, number := range list.Numbers() {
		var i issueAnswer
		testkit.NoError(t, list.Item(number, &i))
		got += fmt.Sprint(i.Number, ":", i.Title, " ")
	}
	if got != "10:3 20:1 30:0 " {
		t.Errorf("the list is %s", got)
	}
}

// Which kind of server an address is on shows in the answer to one request.
func TestIs(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{
		`200 {"version":"1.26.0"}`: true, `403 {"message":"token is required"}`: true, `401 {}`: true,
		`404 {"message":"Not Found"}`: false, `200 <html>`: false, `200 {}`: false, `500 {}`: false,
	} {
		status, body, _ := strings.Cut(answer, " ")
		code, err := strconv.Atoi(status)
		testkit.NoError(t, err)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/below/api/v1/version" {
				t.Errorf("%s is asked for", r.URL.Path)
			}
			if code == 500 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		}))
		is := Is(t.Context(), server.URL+"/below/acme/tool", remote.Options{Progress: func(string, int64, int64) {}})
		if is != want {
			t.Errorf("%s: %v", answer, is)
		}
		server.Close()
	}
	for _, address := range []string{"https://github.com/acme/tool", "nonsense", "ssh://git@example.com/acme/tool"} {
		if Is(t.Context(), address, remote.Options{}) {
			t.Errorf("%s is Gitea's", address)
		}
	}
}

// A repository that few see there is private here, whatever hides it; where it was read is its source.
func TestHiddenRepositoriesArePrivate(t *testing.T) {
	t.Parallel()
	for more, private := range map[string]bool{
		`"private":false`: false, `"private":true`: true, `"internal":true`: true,
		`"owner":{"login":"acme","visibility":"public"}`: false, `"owner":{"login":"acme","visibility":"limited"}`: true,
		`"owner":{"login":"acme","visibility":"private"}`: true,
	} {
		s := source(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"full_name":"acme/other","html_url":"https://elsewhere.example/acme/other",`+more+`}`)
		})
		about, err := s.repository(t.Context())
		testkit.NoError(t, err)
		if about.Private != private || about.Source != s.Base.String()+"/acme/other" {
			t.Errorf("%s: %v, from %s", more, about.Private, about.Source)
		}
	}
	for _, answer := range []string{`{"full_name":"acme"}`, `{"full_name":"a/b/c"}`, `{}`, `[]`,
		`{"full_name":"acme/tool","object_format_name":"sha256"}`} {
		s := source(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })
		s.about = repository{}
		if _, err := s.repository(t.Context()); err == nil {
			t.Errorf("%s is taken", answer)
		}
	}
}

// A protection becomes rules, and the report lists what the rules cannot express.
func TestProtections(t *testing.T) {
	t.Parallel()
	for there, want := range map[string]string{
		`{}`: `deletion pull_request{0} non_fast_forward`,
		`{"enable_push":true,"enable_force_push":true}`:                                                                                        `deletion`,
		`{"enable_push":true,"required_approvals":2}`:                                                                                          `deletion pull_request{2} non_fast_forward: that everybody may push without a pull request`,
		`{"enable_push":true,"enable_push_whitelist":true,"push_whitelist_usernames":["bob"]}`:                                                 `deletion pull_request{0 bob} non_fast_forward`,
		`{"enable_merge_whitelist":true,"merge_whitelist_usernames":["bob"]}`:                                                                  `deletion pull_request{0} push_restrictions{bob} non_fast_forward`,
		`{"enable_status_check":true,"status_check_contexts":["a","b*"],"required_approvals":100}`:                                             `deletion pull_request{10} required_status_checks{a} non_fast_forward: statuses by the pattern "b*": more than 10 approvals`,
		`{"enable_force_push":true,"enable_force_push_allowlist":true,"force_push_allowlist_usernames":["bob"],"require_signed_commits":true}`: `deletion pull_request{0} non_fast_forward bypass_force_push_allowances{bob} required_signatures`,
	} {
		s := sourceAt(t, "http://gitea.example")
		p := protectionAnswer{Name: "main"}
		testkit.NoError(t, json.Unmarshal([]byte(there), &p))
		text, err := json.Marshal(s.body(&p))
		testkit.NoError(t, err)
		var body struct {
			Bypass []any
			Rules  []struct {
				Type       string
				Parameters *struct {
					Approvals *int `json:"required_approving_review_count"`
					Users     []string
					Exempt    struct{ Users []string }   `json:"bypass_pull_request_allowances"`
					Checks    []struct{ Context string } `json:"required_status_checks"`
				}
			}
		}
		testkit.NoError(t, json.Unmarshal(text, &body))
		var got []string
		for _, r := range body.Rules {
			rule := r.Type
			if p := r.Parameters; p != nil {
				var in []string
				if p.Approvals != nil {
					in = append(in, strconv.Itoa(*p.Approvals))
				}
				for _, c := range p.Checks {
					in = append(in, c.Context)
				}
				in = append(append(in, p.Users...), p.Exempt.Users...)
				rule += "{" + strings.Join(in, " ") + "}"
			}
			got = append(got, rule)
		}
		rules := strings.Join(got, " ")
		for _, left := range s.Left() {
			rules += strings.TrimPrefix(left, `protection of "main"`)
		}
		if rules != want || len(body.Bypass) > 0 {
			t.Errorf("%s became %s, want %s", there, rules, want)
		}
	}
}

// A text names its attachments by their new addresses, and those that it does not name stand below it.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s := sourceAt(t, "http://gitea.example")
	files := []fileAnswer{{UUID: "00000000-0000-4000-8000-000000000001", Name: "a.PNG"},
		{UUID: "00000000-0000-4000-8000-000000000002", Name: "b[1].txt"}, {UUID: "../../etc/passwd", Name: "c"}}
	const first, second = "aaaaaaaaabaabaaaaaaaaaaaae", "aaaaaaaaabaabaaaaaaaaaaaai"
	for text, want := range map[string]string{
		"": "![a.PNG](/acme/tool/attachments/" + first + ")\n\n[b\\[1\\].txt](/acme/tool/attachments/" + second + ")",
		"See ![](/attachments/" + files[0].UUID + ") and <https://gitea.example/attachments/" + files[1].UUID + ">": "See ![](/acme/tool/attachments/" +
			first + ") and </acme/tool/attachments/" + second + ">",
	} {
		got, err := s.withFiles(text, files, "alice")
		testkit.NoError(t, err)
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Whatever a server answers, it becomes records or an error.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"number":1,"title":"a","body":"b","user":{"login":"alice"},"assets":[{"uuid":"00000000-0000-4000-8000-000000000001"}]}`,
		`{"id":5,"type":"label","body":"1","label":{"name":"bug","color":"f00"},"user":null}`,
		`{"id":5,"type":"milestone","milestone":{"title":"a"},"old_milestone":{"title":"b"}}`,
		`{"id":5,"type":"merge_pull","ref_commit_sha":"abc"}`, `{"id":5,"type":"lock","body":"Too heated"}`,
		`{"id":5,"type":"comment_ref","ref_issue":{"number":-1,"repository":{"full_name":"acme/tool"}},"ref_comment":{"id":1}}`,
		`{"base":{"ref":"main"},"head":{"label":"","ref":"refs/pull/1/head","repo":{"owner":null}},"merged_at":"2020-01-01T00:00:00Z"}`,
		`{"rule_name":"main","enable_push":true,"push_whitelist_teams":["A b"],"required_approvals":-1}`,
		`{"tag_name":"v1","assets":[{"name":"x"}]}`, `{"path":"a","position":18446744073709551615}`, `null`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := sourceAt(t, "http://gitea.example")
		var i issueAnswer
		if json.Unmarshal(text, &i) == nil {
			if _, err := s.withFiles(i.Body, i.Files, s.People.Login(i.User)); err != nil {
				t.Fatal(err)
			}
		}
		var e eventAnswer
		if json.Unmarshal(text, &e) == nil {
			line := timeline{s: s, number: 1, reviews: map[int64]string{0: "approved"}}
			for _, out := range line.events(&e) {
				if out.Event == "" || out.ID == "" || out.Issue != 1 {
					t.Errorf("%s became %+v", text, out)
				}
			}
		}
		var p pullAnswer
		if json.Unmarshal(text, &p) == nil {
			if out := s.pullOf(&migration.Issue{Number: 1, State: "open"}, &p); out.Head == "" {
				t.Errorf("%s has no head", text)
			}
		}
		var rules protectionAnswer
		if json.Unmarshal(text, &rules) == nil {
			if _, err := json.Marshal(s.body(&rules)); err != nil {
				t.Error(err)
			}
		}
		var r releaseAnswer
		if json.Unmarshal(text, &r) == nil {
			testkit.NoError(t, s.files(&r, &migration.Release{ID: "1", Tag: r.Tag}))
		}
	})
}

// A list without an end takes a bounded amount of memory.
func TestEndlessList(t *testing.T) {
	t.Parallel()
	page := 0
	s := source(t, func(w http.ResponseWriter, _ *http.Request) {
		page++
		fmt.Fprintf(w, `[{"id":%d,"title":"m","description":%q}]`, page, strings.Repeat("x", 4<<20))
	})
	err := s.milestones(t.Context())
	if err == nil || !strings.Contains(err.Error(), "too large") || page > 20 {
		t.Errorf("%d pages: %v", page, err)
	}
}
