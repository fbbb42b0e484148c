package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// The table says what each transition does to pull requests and forks that exist. The
// test tries every way to copy objects after each transition.
//
//	transition              pull requests between two repositories     private forks
//	public root is hidden   of it and its forks: detached              (there are none)
//	private root is shown   of the whole network: detached             stand alone, private, given back
//	private root deleted    of the whole network: detached             stand alone; withdrawn ones stay so
//	fork deleted            of the fork: detached                      its forks become its parent's
//	role, membership or     whose author no longer sees both, or one   of who no longer sees the root:
//	default permission lost side of which is withdrawn: detached       withdrawn until that comes back
//	any of these, unnoticed detached by the next movement of the head  withdrawn: it is computed
//
// Detached is: closed, head repository gone, never opened again, nothing moves.

// scene is two repositories of one network: reader saw the source, from which
// nothing may come into the target any more once lose has happened.
type scene struct {
	source, target string
	reader         string
	sees           bool // the reader sees the source all the same
	unnoticed      bool // the loss causes no event
	lose           func()

	root      *repo.Repo
	targetDir *git.Repository
	numbers   map[string]int64 // of pull requests, by the branch of their head
	secrets   []string         // commits that the source got after the loss
}

// losses are the ways on which somebody loses sight of something. Each makes its
// own repositories, of a name that no other has.
var losses = map[string]func(t *testing.T, s *apitest.Server, name string) *scene{
	"a public root is hidden": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, false)
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "PATCH /repos/alice/" + name, As: "alice",
				Send: `{"private": true}`, Status: 200})
	},
	"a collaborator is removed": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob")
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /repos/alice/" + name + "/collaborators/bob", As: "alice", Status: 204})
	},
	"a collaborator leaves": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob")
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /repos/alice/" + name + "/collaborators/bob", As: "bob", Status: 204})
	},
	"a membership ends": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := ofGuild(t, s, name, `"member"`)
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /orgs/guild-" + name + "/members/bob", As: "alice", Status: 204})
	},
	"members get no permission by default": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := ofGuild(t, s, name, `"member"`)
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "PATCH /orgs/guild-" + name, As: "alice",
				Send: `{"default_repository_permission": "none"}`, Status: 200})
	},
	"an owner becomes a member": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := ofGuild(t, s, name, `"admin"`)
		s.Ask(t, "alice", "PATCH /orgs/guild-"+name, `{"default_repository_permission": "none"}`, 200)
		return c.from(t, s, "alice", "bob", c.root.FullName(), forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "PUT /orgs/guild-" + name + "/memberships/bob", As: "alice",
				Send: `{"role": "member"}`, Status: 200})
	},
	"an owner of the fork's organization is removed": func(
		t *testing.T, s *apitest.Server, name string,
	) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob")
		s.Org(t, "guild-"+name, "bob")
		fork := "guild-" + name + "/" + name
		s.Ask(t, "bob", "POST /repos/alice/"+name+"/forks", `{"organization": "guild-`+name+`"}`, 202)
		return c.from(t, s, "alice", "bob", c.root.FullName(), fork,
			apitest.Case{Do: "DELETE /repos/alice/" + name + "/collaborators/bob", As: "alice", Status: 204})
	},
	"the head's owner is removed": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob", "carol")
		head := shared(t, s, "carol", "bob", c.root.FullName())
		return c.from(t, s, "carol", "bob", head, forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /repos/alice/" + name + "/collaborators/carol",
				As: "alice", Status: 204})
	},
	"a collaborator of the head is removed": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob", "carol")
		head := shared(t, s, "carol", "bob", c.root.FullName())
		return c.from(t, s, "carol", "bob", head, forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /repos/" + head + "/collaborators/bob", As: "carol", Status: 204})
	},
	"a private root is deleted": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob", "carol")
		head := shared(t, s, "carol", "bob", c.root.FullName())
		c.sees = true
		return c.from(t, s, "carol", "bob", head, forked(t, s, "bob", c.root.FullName()),
			apitest.Case{Do: "DELETE /repos/alice/" + name, As: "alice", Status: 204})
	},
	"a private root is shown": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob")
		c.sees = true
		return c.from(t, s, "bob", "bob", forked(t, s, "bob", c.root.FullName()), c.root.FullName(),
			apitest.Case{Do: "PATCH /repos/alice/" + name, As: "alice",
				Send: `{"private": false}`, Status: 200})
	},
	"access ends in the store alone": func(t *testing.T, s *apitest.Server, name string) *scene {
		c := rooted(t, s, "alice/"+name, true, "bob")
		c.from(t, s, "alice", "bob", c.root.FullName(),
			forked(t, s, "bob", c.root.FullName()), apitest.Case{})
		c.unnoticed = true
		c.lose = func() {
			dbtest.Exec(t, s.DB, `DELETE FROM collaborators WHERE repo_id = $1`, c.root.ID)
		}
		return c
	},
}

// movers are the ways on which objects go from one repository to another. Those of
// the reader have to be refused.
var movers = []struct {
	name string
	move func(t *testing.T, s *apitest.Server, c *scene)
}{
	{"a push with git", func(t *testing.T, s *apitest.Server, c *scene) {
		dir := t.TempDir()
		gittest.Run(t, dir, "clone", "-q", s.Remote(t, "chief", c.source), ".")
		gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "secret")
		gittest.Run(t, dir, "push", "-q", "origin", "HEAD:main")
		c.secrets = append(c.secrets, strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD")))
	}},
	{"a write by the API", func(t *testing.T, s *apitest.Server, c *scene) { c.secret(t, s, "side") }},
	{"a merge into the head", func(t *testing.T, s *apitest.Server, c *scene) {
		var made struct{ SHA string }
		s.Check(t, apitest.Case{Do: "POST /repos/" + c.source + "/merges", As: "chief",
			Send: `{"base": "side", "head": "main"}`, Status: 201}).JSON(t, &made)
		c.secrets = append(c.secrets, made.SHA)
	}},
	{"opening again", func(t *testing.T, s *apitest.Server, c *scene) {
		c.secret(t, s, "late")
		c.refused(t, s, c.reader, fmt.Sprintf("PATCH /repos/%s/pulls/%d", c.target, c.numbers["late"]),
			`{"state": "open"}`)
		c.refused(t, s, "chief", fmt.Sprintf("PATCH /repos/%s/pulls/%d", c.target, c.numbers["late"]),
			`{"state": "open"}`)
	}},
	{"opening the issue again", func(t *testing.T, s *apitest.Server, c *scene) {
		c.refused(t, s, c.reader, fmt.Sprintf("PATCH /repos/%s/issues/%d", c.target, c.numbers["late"]),
			`{"state": "open"}`)
	}},
	{"a new pull request", func(t *testing.T, s *apitest.Server, c *scene) {
		owner, _, _ := strings.Cut(c.source, "/")
		c.refused(t, s, c.reader, "POST /repos/"+c.target+"/pulls",
			`{"title": "x", "base": "main", "head": "`+owner+`:side"}`)
	}},
	{"updating the branch", func(t *testing.T, s *apitest.Server, c *scene) {
		for _, who := range []string{c.reader, "chief"} {
			c.refused(t, s, who,
				fmt.Sprintf("PUT /repos/%s/pulls/%d/update-branch", c.source, c.numbers["own"]), "")
		}
	}},
	{"another base", func(t *testing.T, s *apitest.Server, c *scene) {
		s.Do(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/%s/pulls/%d", c.target, c.numbers["more"]),
			As: "chief", Send: `{"base": "late"}`})
		c.secret(t, s, "more")
	}},
	{"a merge", func(t *testing.T, s *apitest.Server, c *scene) {
		c.refused(t, s, "chief", fmt.Sprintf("PUT /repos/%s/pulls/%d/merge", c.target, c.numbers["main"]), "")
	}},
	{"a merge by SHA", func(t *testing.T, s *apitest.Server, c *scene) {
		c.refused(t, s, "chief", "POST /repos/"+c.target+"/merges",
			`{"base": "main", "head": "`+c.secrets[0]+`"}`)
	}},
	{"a ref by SHA", func(t *testing.T, s *apitest.Server, c *scene) {
		c.refused(t, s, "chief", "POST /repos/"+c.target+"/git/refs",
			`{"ref": "refs/heads/x", "sha": "`+c.secrets[0]+`"}`)
	}},
	{"a fork", func(t *testing.T, s *apitest.Server, c *scene) {
		if !c.sees {
			c.refused(t, s, c.reader, "POST /repos/"+c.source+"/forks", `{"name": "another"}`)
		}
	}},
}

// Objects are copied between repositories only within one network, and only for users who can see both. The
// test tries all ways of copying after all ways of losing access.
func TestCrossings(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		n := 0
		for name, loss := range losses {
			n++
			repository := fmt.Sprintf("plot%d", n)
			t.Run(name, func(t *testing.T) {
				c := loss(t, s, repository)
				c.lose()
				for _, m := range movers {
					m.move(t, s, c)
					c.check(t, m.name)
				}
				c.over(t, s)
			})
		}
	})
}

// rooted creates the root of a network and adds readers.
func rooted(t *testing.T, s *apitest.Server, name string, private bool, readers ...string) *scene {
	t.Helper()
	w := &pullWorld{}
	w.commit("main", "Begin", "", "", one("a", "a\n"))
	for _, branch := range []string{"side", "late", "more", "own"} {
		w.commit(branch, branch, "main", "", one(branch, branch+"\n"))
	}
	root, _ := w.plant(t, s, name, private)
	for _, login := range readers {
		s.Grant(t, root, login, account.Pull)
	}
	return &scene{root: root, numbers: map[string]int64{}}
}

// ofGuild creates a private root of an organization with the member bob.
func ofGuild(t *testing.T, s *apitest.Server, name, role string) *scene {
	t.Helper()
	org := "guild-" + name
	s.Org(t, org, "alice")
	s.Ask(t, "alice", "PATCH /orgs/"+org, `{"members_can_fork_private_repositories": true}`, 200)
	s.Ask(t, "alice", "PUT /orgs/"+org+"/memberships/bob", `{"role": `+role+`}`, 200)
	return rooted(t, s, org+"/"+name, true)
}

// forked creates a fork.
func forked(t *testing.T, s *apitest.Server, who, name string) string {
	t.Helper()
	var made struct {
		FullName string `json:"full_name"`
	}
	s.Check(t, apitest.Case{Do: "POST /repos/" + name + "/forks", As: who, Status: 202}).JSON(t, &made)
	return made.FullName
}

// shared creates a fork that somebody else reads.
func shared(t *testing.T, s *apitest.Server, who, with, name string) string {
	t.Helper()
	fork := forked(t, s, who, name)
	s.Ask(t, who, "PUT /repos/"+fork+"/collaborators/"+with, `{"permission": "pull"}`, 204)
	return fork
}

// from opens the pull requests that the scene is about, while all see all.
func (c *scene) from(
	t *testing.T, s *apitest.Server, owner, reader, source, target string, lose apitest.Case,
) *scene {
	t.Helper()
	c.source, c.target, c.reader = source, target, reader
	c.lose = func() { s.Check(t, lose) }
	ownerOfSource, _, _ := strings.Cut(source, "/")
	ownerOfTarget, name, _ := strings.Cut(target, "/")
	found, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, ownerOfTarget, name)
	testkit.NoError(t, err)
	c.targetDir = s.Objects(t, found.ID)
	put(t, s, source, "main")
	put(t, s, target, "own")
	for _, branch := range []string{"main", "side", "late", "more"} {
		c.numbers[branch] = propose(t, s, reader, target, ownerOfSource+":"+branch, "main").Number
	}
	c.numbers["own"] = propose(t, s, reader, source, ownerOfTarget+":own", "main").Number
	s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/%s/pulls/%d", target, c.numbers["late"]),
		As: reader, Send: `{"state": "closed"}`, Status: 200})
	return c
}

// put adds a file to a branch, as the administrator, and gives the new commit.
func put(t *testing.T, s *apitest.Server, name, branch string) string {
	t.Helper()
	var made struct{ Commit struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "PUT /repos/" + name + "/contents/new-" + branch, As: "chief", Status: 201,
		Send: `{"message": "More", "branch": "` + branch + `", "content": "bW9yZQ=="}`,
	}).JSON(t, &made)
	return made.Commit.SHA
}

func (c *scene) secret(t *testing.T, s *apitest.Server, branch string) {
	t.Helper()
	c.secrets = append(c.secrets, put(t, s, c.source, branch))
}

// refused sends a request that must be rejected.
func (c *scene) refused(t *testing.T, s *apitest.Server, who, do, send string) {
	t.Helper()
	if a := s.Do(t, apitest.Case{Do: do, As: who, Send: send}); a.Status < 400 {
		t.Errorf("%s of %s: status %d\n%s", do, who, a.Status, a.Body)
	}
}

// check looks for the secrets among all objects of the target.
func (c *scene) check(t *testing.T, after string) {
	t.Helper()
	var shas []git.SHA
	for _, sha := range c.secrets {
		shas = append(shas, git.SHA(sha))
	}
	known, err := c.targetDir.Known(t.Context(), shas)
	testkit.NoError(t, err)
	for n, o := range known {
		if o.Type != "" {
			t.Errorf("after %s: the secret %s is in %s", after, shas[n], c.target)
		}
	}
}

// over checks that all pull requests between the two are detached, and that no client gets
// a secret from the target.
func (c *scene) over(t *testing.T, s *apitest.Server) {
	t.Helper()
	for _, sha := range []string{c.secrets[0], c.secrets[len(c.secrets)-1]} {
		absent(t, s, "chief", c.target, sha)
	}
	for branch, number := range c.numbers {
		name := c.target
		if branch == "own" {
			name = c.source
		}
		if c.unnoticed && (branch == "own" || branch == "late") {
			continue // no head moved
		}
		if p := read(t, s, "chief", name, number); p.State != "closed" || p.Head.Repo != nil || p.Merged {
			t.Errorf("the pull request from %s: %+v", branch, p)
		}
	}
}
