package repos_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/search"
	"arbor/internal/test/apitest"
)

// Errors of searches say what is wrong and where, with the same message for missing and invisible things.
func TestSearchKindsRefuse(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		searchOrchard(t, s)
		for _, c := range []struct{ kind, q, message string }{
			{"repositories", "a OR b",
				"OR is not supported in this search: quote the word if it is meant as text. (at character 3)"},
			{"repositories", "(a b)",
				"Parentheses are not supported in this search: quote them if they are meant as text. (at character 1)"},
			{"repositories", "a AND",
				"AND needs something on both sides: quote the word if it is meant as text. (at character 6)"},
			{"repositories", "rose good-first-issues:>3",
				`The qualifier "good-first-issues" is not supported. (at character 6)`},
			{"repositories", "rose in:readme", "Words are not looked for in readmes. (at character 6)"},
			{"repositories", "rose stars:many",
				`"many" is not a value of the qualifier "stars". (at character 6)`},
			{"repositories", "rose -fork:true",
				`"-true" is not a value of the qualifier "fork". (at character 6)`},
			{"repositories", "repo:alice",
				`"alice" is not a value of the qualifier "repo". (at character 1)`},
			{"repositories", strings.Repeat("x", 257), "The search is longer than 256 characters."},
			{"repositories", strings.Repeat("-language:x ", 101),
				"The search has more than 100 qualifiers. (at character 1212)"},
			{"users", "language:go", `The qualifier "language" is not supported. (at character 1)`},
			{"users", "type:robot", `"robot" is not a value of the qualifier "type". (at character 1)`},
			{"commits", "hash:main", `"main" is not a value of the qualifier "hash". (at character 1)`},
			{"commits", "merge:maybe x", `"maybe" is not a value of the qualifier "merge". (at character 1)`},
			{"commits", "author:nobody",
				"The listed users cannot be searched either because the users do not exist or you do not have permission to view the users."},
			{"code", "path:sub", "A search of code needs at least one word that is not negated."},
			{"code", "x in:lines", `"lines" is not a value of the qualifier "in". (at character 3)`},
			{"code", "x symbol:y", `The qualifier "symbol" is not supported. (at character 3)`},
		} {
			var got struct{ Errors []struct{ Message string } }
			s.Check(t, apitest.Case{Do: "GET /search/" + c.kind + "?q=" + url.QueryEscape(c.q),
				Status: 422}).JSON(t, &got)
			if len(got.Errors) != 1 || got.Errors[0].Message != c.message {
				t.Errorf("%s %s: %v, want %s", c.kind, c.q, got.Errors, c.message)
			}
		}
		for _, kind := range []string{"repositories", "commits", "code"} {
			absent := s.Do(t, apitest.Case{Do: "GET /search/" + kind + "?q=x+repo:alice/nowhere", As: "bob"})
			hidden := s.Do(t, apitest.Case{Do: "GET /search/" + kind + "?q=x+repo:alice/diary", As: "bob"})
			if absent.Status != 422 || hidden.Status != 422 || string(absent.Body) != string(hidden.Body) {
				t.Errorf("%s: %d %s, and of what is hidden %d %s", kind, absent.Status, absent.Body,
					hidden.Status, hidden.Body)
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /search/users?q=a&sort=stars", Status: 422,
				Want: `{"errors": [{"field": "sort", "code": "invalid"}]}`},
			{Do: "GET /search/repositories?q=a&sort=help-wanted-issues", Status: 422,
				Want: `{"errors": [{"field": "sort"}]}`},
			{Do: "GET /search/commits?q=a&page=11&per_page=100", Status: 422,
				Want: `{"message": "Only the first 1000 search results are available"}`},
			{Do: "GET /search/repositories?q=rose&per_page=1", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.text-match+json"},
				Want:    `{"items": [{"score": 4.0, "text_matches": [{"object_type": "Repository", "property": "name", "fragment": "rose-garden", "matches": [{"text": "rose", "indices": [0, 4]}]}, {}]}]}`},
			{Do: "GET /search/code?q=thorns+path:sub", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.text-match+json"},
				Want:    `{"items": [{"name": "leak_test.go", "language": "Go", "text_matches": [{"property": "content", "matches": [{"text": "thorns", "indices": [17, 23]}]}]}]}`},
			{Do: "GET /search/code?q=thorns+path:sub", Status: 200,
				Want: `{"items": [{"text_matches": "$absent", "repository": {"full_name": "alice/rose-garden"}}]}`},
		})
	})
}

// After each transition searches show the current state to those who can see it.
func TestSearchKindsFollowTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		searchOrchard(t, s)
		diary := s.Repo(t, "alice/ledger", true)
		history(t, s, diary, [4]string{"Alice", "Enter walrus", "book.txt", "walrus\n"})
		s.Ask(t, "alice", "PATCH /repos/alice/ledger", `{"description": "walrus"}`, 200)
		seen := func(what string, as string, names ...string) {
			t.Helper()
			want := strings.Join(names, " ")
			var files []string
			for _, name := range names {
				files = append(files, name+":book.txt")
			}
			sought{q: "walrus", as: as, want: want}.check(t, s, "repositories", text("full_name"))
			sought{q: "walrus", as: as, want: strings.Join(files, " ")}.check(t, s, "code",
				ofRepository("path"))
			sought{q: "walrus", as: as, want: want}.check(t, s, "commits", func(item map[string]any) string {
				return item["repository"].(map[string]any)["full_name"].(string)
			})
			if t.Failed() {
				t.Fatalf("after %s, as %q", what, as)
			}
		}
		seen("a private beginning", "alice", "alice/ledger")
		seen("a private beginning", "bob")
		seen("a private beginning", "")
		s.Grant(t, diary, "bob", account.Pull)
		seen("a collaborator joined", "bob", "alice/ledger")
		s.Ask(t, "alice", "DELETE /repos/alice/ledger/collaborators/bob", "", 204)
		seen("a collaborator left", "bob")
		s.Ask(t, "alice", "PATCH /repos/alice/ledger", `{"private": false}`, 200)
		seen("shown", "", "alice/ledger")
		s.Ask(t, "alice", "PATCH /repos/alice/ledger", `{"name": "accounts"}`, 200)
		seen("renamed", "", "alice/accounts")
		s.Ask(t, "alice", "PATCH /repos/alice/accounts", `{"archived": true}`, 200)
		seen("archived", "", "alice/accounts")
		s.Ask(t, "alice", "PATCH /repos/alice/accounts", `{"archived": false}`, 200)
		s.Ask(t, "alice", "POST /repos/alice/accounts/transfer", `{"new_owner": "guild"}`, 202)
		seen("transferred", "", "guild/accounts")
		s.Ask(t, "alice", "PATCH /repos/guild/accounts", `{"private": true}`, 200)
		seen("hidden", "bob")
		seen("hidden", "alice", "guild/accounts")
		s.Ask(t, "alice", "PUT /orgs/guild/memberships/bob", `{"role": "admin"}`, 200)
		seen("a member joined", "bob", "guild/accounts")
		s.Ask(t, "alice", "DELETE /orgs/guild/members/bob", "", 204)
		seen("a member left", "bob")
		s.Ask(t, "alice", "PATCH /repos/guild/accounts", `{"description": "seal"}`, 200)
		sought{q: "walrus", as: "alice"}.check(t, s, "repositories", text("full_name"))
		s.Ask(t, "alice", "DELETE /repos/guild/accounts", "", 204)
		sought{q: "seal", as: "alice"}.check(t, s, "repositories", text("full_name"))
		sought{q: "walrus", as: "alice"}.check(t, s, "code", ofRepository("path"))
		sought{q: "walrus", as: "alice"}.check(t, s, "commits", text("sha"))

		s.Ask(t, "carol", "PATCH /user", `{"name": "Manatee"}`, 200)
		sought{q: "manatee", want: "carol"}.check(t, s, "users", text("login"))
		s.Ask(t, "carol", "PATCH /user", `{"name": "Dugong"}`, 200)
		sought{q: "manatee"}.check(t, s, "users", text("login"))
		s.Ask(t, "bob", "PATCH /user", `{"email": null}`, 200)
		sought{q: "bob in:email", as: "alice"}.check(t, s, "users", text("login"))
	})
}

// A query is only text: it is searched or rejected.
func FuzzLanguage(f *testing.F) {
	for _, q := range []string{`rose "a b" -c stars:>3`, `NOT NOT a`, `-`, `"`, `in:a,"b`,
		`created:2020-01-01T00:00:00 01:00`, `(`, `a:b AND`, `-language:x`, `é in:`, "a\x00"} {
		f.Add(q)
	}
	language := search.Language{Known: []string{"in", "stars", "created", "language", "sort"},
		Times: []string{"created"}, Absent: []string{"has"}}
	f.Fuzz(func(t *testing.T, q string) {
		terms, err := language.Read(q)
		if err == nil && len(terms) == 0 {
			t.Errorf("%q: neither terms nor an error", q)
		}
		for _, term := range terms {
			if term.Value == "" || term.Wrong() == nil {
				t.Errorf("%q: %+v", q, term)
			}
		}
		if len(terms) > 132 {
			t.Errorf("%d terms", len(terms))
		}
	})
}

// FuzzFragments: every part and place is one of the text.
func FuzzFragments(f *testing.F) {
	f.Add("a rose is a rose\nİstanbul", "rose", "i")
	f.Add("\xff\xfe", "\xff", "")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		for _, m := range search.Fragments(text, []string{a, b}, true) {
			runes := []rune(m.Fragment)
			if !strings.Contains(string([]rune(text)), m.Fragment) || len(m.Matches) == 0 {
				t.Errorf("%q for %q, %q: %q %v", text, a, b, m.Fragment, m.Matches)
			}
			for _, in := range m.Matches {
				if string(runes[in.Indices[0]:in.Indices[1]]) != in.Text {
					t.Errorf("%q: %+v", m.Fragment, in)
				}
			}
		}
	})
}
