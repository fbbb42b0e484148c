package repos_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/gittest"
)

// people are those whose rights a transfer may change. alice owns guild, where dora is a
// member, and is a member of club, which erin owns and gus belongs to. carol collaborates.
var people = []string{"alice", "bob", "carol", "dora", "erin", "gus", "fay", "chief"}

// transfers are all ways on which a repository gets another owner. The roles are those of
// people, in their order, on a private repository: - none, r pull, w push, a admin. Members of guild
// may push, members of club pull.
var transfers = []struct {
	from, to, by  string
	before, after string
}{
	{"alice", "guild", "alice", "a-w----a", "a-ww---a"},
	{"alice", "club", "alice", "a-w----a", "a-w-ar-a"},
	{"guild", "alice", "alice", "a-ww---a", "a-w----a"},
	{"guild", "club", "alice", "a-ww---a", "a-w-ar-a"},
	{"alice", "bob", "chief", "a-w----a", "waw----a"},
	{"guild", "bob", "chief", "a-ww---a", "-aw----a"},
	{"alice", "chief", "chief", "a-w----a", "w-w----a"},
}

// society registers everyone.
func society(t *testing.T, s *apitest.Server) {
	t.Helper()
	for _, login := range people[:7] {
		s.User(t, login)
	}
	s.Admin(t, "chief")
	s.Org(t, "guild", "alice")
	s.Org(t, "club", "erin")
	s.Run(t, []apitest.Case{
		{Do: "PUT /orgs/guild/members/dora", As: "alice", Status: 204},
		{Do: "PATCH /orgs/guild", As: "alice", Status: 200, Send: `{"default_repository_permission": "write",
			"members_can_fork_private_repositories": true}`},
		{Do: "PUT /orgs/club/members/alice", As: "erin", Status: 204},
		{Do: "PUT /orgs/club/members/gus", As: "erin", Status: 204},
	})
}

// plot is a repository that is transferred, with what hangs on it.
type plot struct {
	*repo.Repo
	from, to string // OWNER/NAME
	word     string // that only its issues have
	private  bool
	tip      string
}

// forgePlant creates the repository: branches, a pull request from one of them, issues with assignees,
// stars and watches, and forks with pull requests.
func forgePlant(t *testing.T, s *apitest.Server, from, to, name string, private bool) *plot {
	t.Helper()
	p := &plot{from: from + "/" + name, to: to + "/" + name, word: "word" + name, private: private}
	dir := gittest.Repository(t, 3, 4)
	gittest.Run(t, dir, "branch", "topic", "main~1")
	gittest.Run(t, dir, "branch", "-f", "old", "main~2")
	p.tip = gittest.Run(t, dir, "rev-parse", "main")
	p.Repo = s.Repo(t, p.from, private)
	s.Import(t, p.Repo, dir)
	s.Grant(t, p.Repo, "carol", account.Push)
	path := "/repos/" + p.from
	ok := func(as, do, send string, status int) {
		t.Helper()
		s.Check(t, apitest.Case{Do: do, As: as, Send: send, Status: status, Headers: fixture.Graduated})
	}
	everyone := []string{"alice", "carol"}
	if from == "guild" {
		everyone = append(everyone, "dora")
	}
	ok("chief", "POST "+path+"/issues",
		`{"title": "`+p.word+`", "assignees": ["`+strings.Join(everyone, `", "`)+`"]}`, 201)
	ok("carol", "POST "+path+"/pulls", `{"title": "`+p.word+`", "head": "topic", "base": "old"}`, 201)
	ok("carol", "POST "+path+"/forks", "", 202)
	ok("carol", "PUT /repos/carol/"+name+"/contents/x",
		`{"message": "x", "content": "eA==", "branch": "topic"}`, 201)
	ok("carol", "POST "+path+"/pulls", `{"title": "`+p.word+`", "head": "carol:topic", "base": "main"}`, 201)
	for _, login := range everyone {
		ok("chief", "POST "+path+"/issues", `{"title": "`+p.word+`", "assignees": ["`+login+`"]}`, 201)
		ok(login, "PUT /user/starred/"+p.from, "", 204)
		ok(login, "PUT "+path+"/subscription", `{"subscribed": true}`, 200)
	}
	if from == "guild" {
		ok("dora", "POST "+path+"/forks", "", 202)
		ok("dora", "PUT /repos/dora/"+name+"/contents/x",
			`{"message": "x", "content": "eA==", "branch": "topic"}`, 201)
		ok("dora", "POST "+path+"/pulls", `{"title": "`+p.word+`", "head": "dora:topic", "base": "main"}`,
			201)
		ok("dora", "POST "+path+"/issues", `{"title": "`+p.word+`", "assignees": ["dora"]}`, 201)
	}
	s.Settle(t)
	return p
}

// see asks as everyone for all that shows the repository, under one of its names, where the
// roles are as given.
func (p *plot) see(t *testing.T, s *apitest.Server, name, roles string) {
	t.Helper()
	owner, _, _ := strings.Cut(name, "/")
	for i, as := range append(people, "") {
		role := byte('-')
		if as != "" {
			role = roles[i]
		}
		visible, granted := role != '-' || !p.private, role != '-'
		status := map[bool]int{true: 200, false: 404}
		want := `{"full_name": "` + name + `", "html_url": "{base}/` + name + `", "owner": {"login": "` +
			owner + `"}}`
		if visible && as != "" {
			want = fmt.Sprintf(`{"full_name": %q, "permissions": {"admin": %v, "push": %v, "pull": true}}`,
				name, role == 'a', role == 'a' || role == 'w')
		}
		if !visible {
			want = ""
		}
		s.Check(t, apitest.Case{Name: as, Do: "GET /repos/" + name, As: as,
			Status: status[visible], Want: want})
		for _, path := range []string{"/issues", "/pulls?state=all", "/commits", "/branches", "/events",
			"/git/ref/heads/main", "/contents", "/stargazers"} {
			s.Check(t, apitest.Case{Do: "GET /repos/" + name + path, As: as, Status: status[visible]})
		}
		p.fetch(t, s, as, name, visible)
		listed := map[string]bool{
			"/search/issues?q=" + p.word:                    visible,
			"/search/issues?q=" + p.word + "+user:" + owner: visible,
			"/search/issues?q=" + p.word + "+repo:" + name:  visible,
			"/users/" + owner + "/repos?per_page=100":       visible,
		}
		if owner == "guild" || owner == "club" {
			delete(listed, "/users/"+owner+"/repos?per_page=100")
			listed["/orgs/"+owner+"/repos?per_page=100"] = visible
			listed["/orgs/"+owner+"/events?per_page=100"] = !p.private // they are for everyone
			members := map[string]string{"guild": "alice dora", "club": "alice erin gus"}[owner]
			if as != "" && strings.Contains(members, as) {
				listed["/users/"+as+"/events/orgs/"+owner+"?per_page=100"] = visible
			}
		}
		if as != "" && as != "chief" {
			listed["/user/repos?per_page=100"] = granted
			listed["/user/repos?per_page=100&affiliation=owner"] = as == owner
		}
		if as == "carol" || as == "alice" {
			listed["/user/starred?per_page=100"] = visible
			listed["/user/subscriptions?per_page=100"] = visible
			listed["/issues?filter=assigned&per_page=100&state=all"] = role == 'a' || role == 'w'
		}
		for path, want := range listed {
			a := s.Do(t, apitest.Case{Do: "GET " + path, As: as})
			if got := strings.Contains(string(a.Body), "/"+name+`"`) ||
				strings.Contains(string(a.Body), `"`+name+`"`); got != want {
				t.Errorf("%s of %q shows %s: %v, want %v (status %d)", path, as, name, got, want, a.Status)
			}
		}
	}
}

// fetch asks git for the refs, for some people.
func (p *plot) fetch(t *testing.T, s *apitest.Server, as, name string, want bool) {
	t.Helper()
	if !slices.Contains([]string{"alice", "dora", "gus"}, as) {
		return
	}
	if _, _, err := gittest.Try(t, t.TempDir(), nil, "ls-remote",
		s.Remote(t, as, name)); (err == nil) != want {
		t.Errorf("ls-remote of %s as %s: %v", name, as, err)
	}
}

// gone asks for the address that the repository had, as everyone.
func (p *plot) gone(t *testing.T, s *apitest.Server, roles string) {
	t.Helper()
	owner, _, _ := strings.Cut(p.from, "/")
	for i, as := range people {
		visible := roles[i] != '-' || !p.private
		c := apitest.Case{Do: "GET /repos/" + p.from, As: as, Status: 404,
			Has: map[string]string{"Location": "-"}}
		if visible {
			c.Status, c.Has = 301, map[string]string{"Location": "{base}/repos/" + p.to}
		}
		s.Check(t, c)
		kind := "/users/"
		if owner == "guild" {
			kind = "/orgs/"
		}
		for _, path := range []string{kind + owner + "/repos?per_page=100", "/user/repos?per_page=100",
			kind + owner + "/events",
			"/search/issues?q=" + p.word + "+user:" + owner} {
			a := s.Do(t, apitest.Case{Do: "GET " + path, As: as})
			if a.Status == 200 && strings.Contains(string(a.Body), p.from+`"`) {
				t.Errorf("%s of %s still shows %s", path, as, p.from)
			}
		}
		p.fetch(t, s, as, p.from, visible)
	}
}

// numbers of what plant makes, by what they are for.
const (
	ofAll    = 1 // an issue to which everyone is assigned
	ofBranch = 2 // a pull request
	ofCarol  = 3 // one from carol's fork
	ofDora   = 7 // from dora's
	dorasOwn = 8 // an issue of dora's, to which she is assigned
)

// pulls holds pull requests against what the transfer should leave of them.
func (p *plot) pulls(t *testing.T, s *apitest.Server, from, to, roles string) {
	t.Helper()
	path := "/repos/" + p.to + "/pulls"
	s.Run(t, []apitest.Case{
		{Name: "by the new owner", Do: "GET " + path + "?head=" + to + ":topic", As: "chief", Status: 200,
			Want: fmt.Sprintf(`[{"number": %d, "head": {"label": %q, "repo": {"full_name": %q}}}]`, ofBranch,
				to+":topic", p.to)},
		{Name: "by the former owner", Do: "GET " + path + "?head=" + from + ":topic",
			As: "chief", Status: 200,
			Body: "[]"},
		{Name: "from a fork", Do: fmt.Sprintf("GET %s/%d", path, ofCarol), As: "carol", Status: 200,
			Want: `{"state": "open", "head": {"repo": {"owner": {"login": "carol"}}}, "base": {"repo": {"full_name": "` + p.to + `"}}}`},
		{Name: "whose parent moved", Do: "GET /repos/carol/" + p.Name, As: "carol", Status: 200,
			Want: `{"parent": {"full_name": "` + p.to + `"}, "source": {"full_name": "` + p.to + `"}}`},
	})
	if from != "guild" {
		return
	}
	state, head, fork := "open", `{"full_name": "dora/`+p.Name+`"}`, 200
	if p.private && roles[3] == '-' {
		state, head, fork = "closed", "null", 404
	}
	s.Run(t, []apitest.Case{
		{Name: "of who may have lost access", Do: fmt.Sprintf("GET %s/%d", path, ofDora),
			As: "chief", Status: 200,
			Want: `{"state": "` + state + `", "head": {"repo": ` + head + `}}`},
		{Do: "GET /repos/dora/" + p.Name, As: "dora", Status: fork},
		{Name: "the fork is there", Do: "GET /repos/dora/" + p.Name, As: "chief", Status: 200},
	})
}

// assigned compares the assignees with the users who can be assigned.
func (p *plot) assigned(t *testing.T, s *apitest.Server, from, roles string) {
	t.Helper()
	want := []string{}
	for i, login := range people[:4] {
		if strings.ContainsRune("aw", rune(roles[i])) && (login != "bob") && (login != "dora" ||
			from == "guild") {
			want = append(want, `{"login": "`+login+`"}`)
		}
	}
	path := "/repos/" + p.to + "/issues"
	s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s/%d", path, ofAll), As: "chief", Status: 200,
		Headers: fixture.Graduated,
		Want:    `{"assignees": [` + strings.Join(want, ", ") + `]}`})
	if from != "guild" {
		return
	}
	own := `[]`
	if !p.private || roles[3] == 'w' {
		own = `[{"login": "dora"}]`
	}
	s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s/%d", path, dorasOwn), As: "chief", Status: 200,
		Headers: fixture.Graduated, Want: `{"assignees": ` + own + `}`})
}

// write has each user write.
func (p *plot) write(t *testing.T, s *apitest.Server, roles string) {
	t.Helper()
	for i, as := range people {
		role := roles[i]
		push, edit := 404, 404
		if role != '-' || !p.private {
			push, edit = 403, 403
		}
		if role == 'a' || role == 'w' {
			push = 201
		}
		if role == 'a' {
			edit = 200
		}
		s.Check(t, apitest.Case{Name: as, Do: "PUT /repos/" + p.to + "/contents/by-" + as, As: as,
			Status: push,
			Send:   `{"message": "x", "content": "eA=="}`})
		s.Check(t, apitest.Case{Name: as, Do: "PATCH /repos/" + p.to, As: as, Status: edit,
			Send: `{"description": "x"}`})
	}
}

// Access before and after a transfer in every way, with responses that were cached before. A stale cache
// would show a private repository to users who lost access, or hide it from those who got it.
func TestTransfer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		society(t, s)
		for n, row := range transfers {
			for _, private := range []bool{true, false} {
				if !private && n%2 == 1 { // those say little that others do not
					continue
				}
				t.Run(fmt.Sprintf("%s to %s, private %v", row.from, row.to, private), func(t *testing.T) {
					p := forgePlant(t, s, row.from, row.to, fmt.Sprintf("plot%d%v", n, private), private)
					after := row.after
					p.see(t, s, p.from, row.before)
					old := s.Do(t, apitest.Case{Do: "GET /repos/" + p.from, As: "carol"}).Header.Get("ETag")
					s.Check(t, apitest.Case{Do: "POST /repos/" + p.from + "/transfer", As: row.by,
						Send:   `{"new_owner": "` + row.to + `"}`,
						Status: 202, Want: `{"full_name": "` + p.to + `", "owner": {"login": "` +
							row.to + `"}}`})
					p.see(t, s, p.to, after)
					p.gone(t, s, after)
					s.Check(t, apitest.Case{Do: "GET /repos/" + p.to, As: "carol", Status: 200,
						Headers: map[string]string{"If-None-Match": old}})
					p.pulls(t, s, row.from, row.to, after)
					p.assigned(t, s, row.from, after)
					p.write(t, s, after)
				})
			}
		}
		s.Settle(t)
		sound(t, s)
	})
}
