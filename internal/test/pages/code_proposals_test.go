package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// proposalCase is what a reader of a repository has when a change is proposed to it.
type proposalCase struct {
	name            string
	private         bool            // the repository is
	before, between func(p *plotOf) // the form is asked for; the form and its answer
	status          int
	fork            string // of the reader, which has the branch then: %s is the repository's name
	says            string
}

// plotOf is one repository of alice that stranger may read.
type plotOf struct {
	t    *testing.T
	s    *apitest.Server
	name string
}

func (p *plotOf) api(as, do, send string, status int) {
	p.t.Helper()
	p.s.Check(p.t, apitest.Case{Do: strings.ReplaceAll(do, "NAME", p.name), As: as, Status: status,
		Send: strings.ReplaceAll(send, "NAME", p.name)})
}

func (p *plotOf) fork() { p.t.Helper(); p.api("stranger", "POST /repos/alice/NAME/forks", "", 202) }

func (p *plotOf) hideAndShow() {
	p.t.Helper()
	p.api("alice", "PATCH /repos/alice/NAME", `{"private": true}`, 200)
	p.api("alice", "PATCH /repos/alice/NAME", `{"private": false}`, 200)
}

// proposalCases are the table at Pages.forkOf.
var proposalCases = []proposalCase{
	{name: "nothing yet", status: 303, fork: "%s"},
	{name: "another repository of that name", status: 303, fork: "%s-1", before: func(p *plotOf) {
		p.api("stranger", "POST /user/repos", `{"name": "NAME", "auto_init": true}`, 201)
	}},
	{name: "another one, made meanwhile", status: 303, fork: "%s-1", between: func(p *plotOf) {
		p.api("stranger", "POST /user/repos", `{"name": "NAME", "private": true}`, 201)
	}},
	{name: "a fork", status: 303, fork: "%s", before: (*plotOf).fork},
	{name: "a fork with another name", status: 303, fork: "%s-b", before: func(p *plotOf) {
		p.fork()
		p.api("stranger", "PATCH /repos/stranger/NAME", `{"name": "NAME-b"}`, 200)
	}},
	{name: "a fork that left the network", status: 303, fork: "%s-1", before: func(p *plotOf) {
		p.fork()
		p.hideAndShow()
	}},
	{name: "a fork that leaves the network meanwhile", status: 303, fork: "%s-1", before: (*plotOf).fork,
		between: (*plotOf).hideAndShow},
	{name: "an archived fork", status: 403, says: "your fork, stranger/NAME, which is archived",
		before: func(p *plotOf) {
			p.fork()
			p.api("stranger", "PATCH /repos/stranger/NAME", `{"archived": true}`, 200)
		}},
	{name: "hidden meanwhile", status: 404, between: func(p *plotOf) {
		p.api("alice", "PATCH /repos/alice/NAME", `{"private": true}`, 200)
	}},
	{name: "archived meanwhile", status: 403, between: func(p *plotOf) {
		p.api("alice", "PATCH /repos/alice/NAME", `{"archived": true}`, 200)
	}},
	{name: "a private repository", private: true, status: 303, fork: "%s"},
	{name: "a private one beside another of that name", private: true, status: 303, fork: "%s-1",
		before: func(p *plotOf) {
			p.api("stranger", "POST /user/repos", `{"name": "NAME", "auto_init": true}`, 201)
		}},
	{name: "a reader no more", private: true, status: 404, between: func(p *plotOf) {
		p.api("alice", "DELETE /repos/alice/NAME/collaborators/stranger", "", 204)
	}},
	{name: "a private fork whose reader left and came back", private: true, status: 303, fork: "%s",
		before: func(p *plotOf) {
			p.fork()
			p.api("alice", "DELETE /repos/alice/NAME/collaborators/stranger", "", 204)
			p.api("alice", "PUT /repos/alice/NAME/collaborators/stranger", `{"permission": "pull"}`, 204)
		}},
	{name: "a branch that is taken", private: true, status: 422, says: "already exists",
		before: func(p *plotOf) {
			as(p.t, p.s, "stranger").led("/alice/"+p.name+"/new/main", "path", "one.txt", "text", "1",
				"branch", "mine")
		}},
}

// A change without push access goes to the user's fork, whatever the user owns already, and never to a
// repository that is not a fork. Errors keep the text and leave the repository unchanged.
func TestProposals(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "stranger")
		for n, c := range proposalCases {
			t.Run(c.name, func(t *testing.T) { c.check(&plotOf{t: t, s: s, name: fmt.Sprint("plot", n)}) })
		}
	})
}

func (c *proposalCase) check(p *plotOf) {
	t := p.t
	r := p.s.Repo(t, "alice/"+p.name, c.private)
	p.api("alice", "PUT /repos/alice/NAME/contents/seed.txt",
		`{"message": "seed", "content": "c2VlZAo="}`, 201)
	if c.private {
		p.s.Grant(t, r, "stranger", account.Pull)
	}
	if c.before != nil {
		c.before(p)
	}
	v, form := as(t, p.s, "stranger"), "/alice/"+p.name+"/edit/main/seed.txt"
	blob := field(t, v.want(form, 200, "Propose"), "blob")
	if c.between != nil {
		c.between(p)
	}
	a := v.post(form, "blob", blob, "path", "seed.txt", "text", "typed in vain?\n", "branch", "mine")
	if a.Status != c.status {
		_, text := inspect(t, form, a)
		t.Fatalf("status %d, want %d: %s", a.Status, c.status, squeeze(text))
	}
	if says := strings.ReplaceAll(c.says, "NAME", p.name); !strings.Contains(string(a.Body), says) {
		t.Errorf("it does not say %q: %s", says, a.Body)
	}
	if c.says != "" && !strings.Contains(string(a.Body), "typed in vain?") {
		t.Error("the text is lost")
	}
	if c.fork == "" {
		return
	}
	v.want(a.Header.Get("Location"), 200, "typed in vain?", "Update seed.txt")
	fork := fmt.Sprintf(c.fork, p.name)
	p.api("stranger", "GET /repos/stranger/"+fork+"/branches/mine", "", 200)
	p.api("alice", "GET /repos/alice/NAME/branches/mine", "", 404)
	p.api("stranger", "POST /repos/alice/NAME/pulls",
		`{"title": "t", "base": "main", "head": "stranger:mine"}`, 201)
}
