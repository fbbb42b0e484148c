package repos_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// sought is a search and what it must find, in order, as the field of each item says.
type sought struct {
	q, as, rest string
	want        string
	total       int // if not the number of those
}

func (f sought) check(t *testing.T, s *apitest.Server, kind string, name func(map[string]any) string) {
	t.Helper()
	var got struct {
		Total int  `json:"total_count"`
		Part  bool `json:"incomplete_results"`
		Items []map[string]any
	}
	s.Check(t, apitest.Case{Do: "GET /search/" + kind + "?q=" + url.QueryEscape(f.q) + f.rest, As: f.as,
		Status: 200}).JSON(t, &got)
	var list []string
	for _, item := range got.Items {
		list = append(list, name(item))
	}
	if f.total == 0 {
		f.total = len(strings.Fields(f.want))
	}
	if found := strings.Join(list, " "); found != f.want || got.Total != f.total || got.Part {
		t.Errorf("%s: %s%s as %q: %d: %s (incomplete %t), want %d: %s", kind, f.q, f.rest, f.as, got.Total,
			found, got.Part, f.total, f.want)
	}
}

func text(field string) func(map[string]any) string {
	return func(item map[string]any) string { return fmt.Sprint(item[field]) }
}

func ofRepository(field string) func(map[string]any) string {
	return func(item map[string]any) string {
		return fmt.Sprint(item["repository"].(map[string]any)["full_name"], ":", item[field])
	}
}

// history adds commits to the default branch: for each the author, the message and a file with its text.
func history(t *testing.T, s *apitest.Server, r *repo.Repo, commits ...[4]string) {
	t.Helper()
	var b strings.Builder
	for n, c := range commits {
		fmt.Fprintf(&b, "commit refs/heads/main\nauthor %s <%s@example.org> %d +0000\ncommitter Robot <robot@example.org> %d +0000\ndata %d\n%s\n",
			c[0], strings.ToLower(c[0]), 1600000000+n*86400, 1700000000+n*86400, len(c[1]), c[1])
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", c[2], len(c[3]), c[3])
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(b.String()))
	s.Import(t, r, dir)
}

// searchOrchard creates repositories of three owners, public and private, some with code.
func searchOrchard(t *testing.T, s *apitest.Server) {
	t.Helper()
	for _, login := range []string{"alice", "bob", "carol"} {
		s.User(t, login)
		s.Email(t, login, login+"@example.org")
	}
	s.Org(t, "guild", "alice")
	history(t, s, s.Repo(t, "alice/rose-garden", false),
		[4]string{"Alice", "Plant a rose", "main.go", "package main // Thorns\n"},
		[4]string{"Bob", "Fix the memory leak\n\nof roses", "sub/leak_test.go",
			"package sub\n\nvar thorns = 1\n"},
		[4]string{"Alice", "Weed", "docs/Guide.md", "# Guide\nroses and weeds\n"})
	history(t, s, s.Repo(t, "alice/diary", true),
		[4]string{"Alice", "Dear rose diary", "day.txt", "thorns nightshade\n"})
	history(t, s, s.Repo(t, "guild/hall", false),
		[4]string{"Carol", "Build a hall", "hall.c", "int thorns;\n\x00binary"})
	s.Repo(t, "bob/plot", false)
	s.Ask(t, "alice", "PATCH /repos/alice/rose-garden", `{"description": "Roses, all the way down"}`, 200)
	s.Ask(t, "alice", "PATCH /repos/guild/hall",
		`{"description": "Where roses are shown", "archived": true}`, 200)
	s.Ask(t, "alice", "PUT /repos/alice/rose-garden/topics", `{"names": ["flowers", "thorny"]}`, 200)
	s.Ask(t, "bob", "PUT /repos/bob/plot/topics", `{"names": ["flowers"]}`, 200)
	s.Ask(t, "bob", "PATCH /user",
		`{"name": "Bob Rose", "location": "Kew, London", "email": "bob@example.org"}`, 200)
	s.Check(t, apitest.Case{Do: "PUT /user/starred/bob/plot", As: "alice", Status: 204,
		Headers: map[string]string{"Content-Length": "0"}})
	s.Check(t, apitest.Case{Do: "PUT /user/following/carol", As: "alice", Status: 204,
		Headers: map[string]string{"Content-Length": "0"}})
	s.Ask(t, "carol", "POST /repos/alice/rose-garden/forks", `{}`, 202)
	s.Settle(t)
}

// Each qualifier of each search finds what it says, on both engines the same.
func TestSearchKinds(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		searchOrchard(t, s)
		for _, f := range []sought{
			{q: "rose", want: "alice/rose-garden"},
			{q: "roses", want: "guild/hall alice/rose-garden"},
			{q: "ROS", want: "alice/rose-garden"}, // the beginning of a word of the name
			{q: "garde", want: "alice/rose-garden"},
			{q: "diary"},
			{q: "diary", as: "bob"},
			{q: "diary", as: "alice", want: "alice/diary"},
			{q: "thorny", want: "alice/rose-garden"},
			{q: "roses in:description -shown", want: "alice/rose-garden"},
			{q: "roses in:name"},
			{q: "flowers in:topics", want: "bob/plot alice/rose-garden"},
			{q: `"the way down"`, want: "alice/rose-garden"},
			{q: `"down way"`},
			{q: "+++"},
			{q: "user:alice", want: "alice/rose-garden"},
			{q: "user:@me", as: "alice", want: "alice/diary alice/rose-garden"},
			{q: "user:alice is:private", as: "alice", want: "alice/diary"},
			{q: "user:alice is:private"},
			{q: "org:guild repo:bob/plot", want: "bob/plot guild/hall"},
			{q: "repo:alice/diary repo:bob/plot", want: "bob/plot"},
			{q: "-user:alice archived:false", want: "bob/plot"},
			{q: "archived:true", want: "guild/hall"},
			{q: "language:GO", want: "alice/rose-garden"},
			{q: "language:go language:C", want: "guild/hall alice/rose-garden"},
			{q: "license:mit"},
			{q: "topic:flowers", want: "bob/plot alice/rose-garden"},
			{q: "topic:flowers topic:thorny", want: "alice/rose-garden"},
			{q: "topic:flowers -topic:thorny", want: "bob/plot"},
			{q: "topics:2..3", want: "alice/rose-garden"},
			{q: "stars:>0", want: "bob/plot"},
			{q: "forks:>0", want: "alice/rose-garden"},
			{q: "size:>100000"},
			{q: "created:>2000-01-01 pushed:>2000-01-01 updated:>2000-01-01 stars:>=1", want: "bob/plot"},
			{q: "rose fork:true", want: "carol/rose-garden alice/rose-garden"},
			{q: "rose fork:only", want: "carol/rose-garden"},
			{q: "mirror:false template:false stars:1", want: "bob/plot"},
			{q: "mirror:true"},
			{q: "topic:flowers", rest: "&sort=stars&order=asc", want: "alice/rose-garden bob/plot"},
			{q: "user:alice user:bob sort:forks", want: "alice/rose-garden bob/plot"},
			{q: "topic:flowers", rest: "&sort=updated", want: "bob/plot alice/rose-garden"},
			{q: "topic:flowers", rest: "&per_page=1&page=2", want: "alice/rose-garden", total: 2},
		} {
			f.check(t, s, "repositories", text("full_name"))
		}
		for _, f := range []sought{
			{q: "ali", want: "alice"},
			{q: "rose", want: "bob"},
			{q: "rose in:login"},
			{q: "bob in:email"},
			{q: "bob in:email", as: "carol", want: "bob"},
			{q: "example.org"},
			{q: "example.org", as: "carol", want: "bob"},
			{q: `"bob rose" in:name`, want: "bob"},
			{q: "type:org", want: "guild"},
			{q: "type:user followers:>0", want: "carol"},
			{q: "type:user repos:1 sort:joined-asc", want: "alice bob carol"},
			{q: "user:alice user:guild", rest: "&sort=joined&order=asc", want: "alice guild"},
			{q: "org:alice org:guild", want: "guild"},
			{q: "location:lond", want: "bob"},
			{q: "location:%"},
			{q: "fullname:Rose", want: "bob"},
			{q: "created:<2000-01-01"},
			{q: "type:user -user:alice -user:bob", want: "carol"},
			{q: "type:user", rest: "&sort=followers&per_page=1", want: "carol", total: 3},
			{q: "type:user", rest: "&sort=repositories&per_page=1&page=3&order=asc", want: "carol", total: 3},
		} {
			f.check(t, s, "users", text("login"))
		}
		message := func(item map[string]any) string {
			first, _, _ := strings.Cut(item["commit"].(map[string]any)["message"].(string), "\n")
			return strings.ReplaceAll(first, " ", "-")
		}
		for _, f := range []sought{
			{q: "rose", want: "Plant-a-rose"},
			{q: "ROSES leak", want: "Fix-the-memory-leak"},
			{q: `"memory leak"`, want: "Fix-the-memory-leak"},
			{q: `"leak memory"`},
			{q: "rose", as: "alice", want: "Dear-rose-diary Plant-a-rose"},
			{q: "rose is:private", as: "alice", want: "Dear-rose-diary"},
			{q: "rose repo:alice/diary repo:bob/plot", as: "bob"},
			{q: "rose fork:true", want: "Plant-a-rose Plant-a-rose"},
			{q: "rose repo:carol/rose-garden", want: "Plant-a-rose"},
			{q: "author:carol", want: "Build-a-hall"},
			{q: "author:@me -weed user:alice is:public", as: "alice", want: "Plant-a-rose"},
			{q: "committer:carol"},
			{q: "author-name:bob", want: "Fix-the-memory-leak"},
			{q: "author-email:BOB@example.org", want: "Fix-the-memory-leak"},
			{q: "committer-email:robot@example.org -author:alice", want: "Fix-the-memory-leak Build-a-hall"},
			{q: "committer-name:Robot author:bob author:carol", want: "Fix-the-memory-leak Build-a-hall"},
			{q: "author-date:2020-09-14 user:alice", want: "Fix-the-memory-leak"},
			{q: "committer-date:<2023-11-15 user:alice", want: "Plant-a-rose"},
			{q: "merge:true"},
			{q: "merge:false user:guild", want: "Build-a-hall"},
			{q: "user:alice", rest: "&sort=author-date&order=asc",
				want: "Plant-a-rose Fix-the-memory-leak Weed"},
			{q: "user:alice sort:committer-date", want: "Weed Fix-the-memory-leak Plant-a-rose"},
			{q: "user:alice", rest: "&per_page=1&page=2", want: "Fix-the-memory-leak", total: 3},
			{q: "hash:ffffffff"},
			{q: "!!!"},
		} {
			f.check(t, s, "commits", message)
		}
		for _, f := range []sought{
			// hall.c is binary
			{q: "thorns", want: "alice/rose-garden:main.go alice/rose-garden:sub/leak_test.go"},
			{q: "THORNS package", want: "alice/rose-garden:main.go alice/rose-garden:sub/leak_test.go"},
			{q: `"package sub"`, want: "alice/rose-garden:sub/leak_test.go"},
			{q: "thorns -var", want: "alice/rose-garden:main.go"},
			{q: "nightshade"},
			{q: "nightshade", as: "alice", want: "alice/diary:day.txt"},
			{q: "thorns path:sub", want: "alice/rose-garden:sub/leak_test.go"},
			{q: "thorns path:/", want: "alice/rose-garden:main.go"},
			{q: "thorns -path:sub/", want: "alice/rose-garden:main.go"},
			{q: "thorns filename:LEAK", want: "alice/rose-garden:sub/leak_test.go"},
			{q: "roses extension:md", want: "alice/rose-garden:docs/Guide.md"},
			{q: "thorns extension:go extension:c size:<25", want: "alice/rose-garden:main.go"},
			{q: "thorns language:go", want: "alice/rose-garden:main.go alice/rose-garden:sub/leak_test.go"},
			{q: "thorns language:rust"},
			{q: "leak in:path", want: "alice/rose-garden:sub/leak_test.go"},
			{q: "hall in:file,path", want: "guild/hall:hall.c"},
			{q: "thorns in:path"},
			{q: "thorns user:guild"},
			{q: "weeds fork:only", want: "carol/rose-garden:docs/Guide.md"},
			{q: "weeds repo:carol/rose-garden repo:alice/diary", want: "carol/rose-garden:docs/Guide.md"},
			{q: "-exec=sh repo:alice/rose-garden roses", want: "alice/rose-garden:docs/Guide.md"},
			{q: "thorns", rest: "&per_page=1&page=2", want: "alice/rose-garden:sub/leak_test.go", total: 2},
		} {
			f.check(t, s, "code", ofRepository("path"))
		}
	})
}

// Somebody who is suspended is not found, until that ends.
func TestSuspendedUsersAreNotFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "marigold", "marie")
		s.Admin(t, "chief")
		for _, x := range []struct{ method, want string }{{"PUT", "marie"}, {"DELETE", "marie marigold"}} {
			s.Check(t, apitest.Case{Do: x.method + " /users/marigold/suspended", As: "chief", Status: 204})
			sought{q: "mari", want: x.want, rest: "&sort=joined&order=desc"}.check(t, s, "users",
				text("login"))
		}
	})
}
