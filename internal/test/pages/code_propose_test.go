package pages_test

import (
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Who may not push proposes a change: it goes to a branch of a fork, which is made if there is none, and
// leads to a pull request. What the fork has stays as it is.
func TestPropose(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		v := as(t, s, "stranger")
		v.want("/alice/garden/blob/main/dos.txt", 200, "Edit")
		form := v.want("/alice/garden/edit/main/dos.txt", 200, "Propose changes", "your fork")
		to := v.led("/alice/garden/edit/main/dos.txt", "blob", field(t, form, "blob"), "path", "dos.txt",
			"text", "mine\n", "branch", "patch-1")
		want := "/alice/garden/pulls/new?" + url.Values{"base": {"main"},
			"head": {"stranger:patch-1"}}.Encode()
		if to != want {
			t.Fatalf("led to %s, want %s", to, want)
		}
		v.want(to, 200, "mine", "Update dos.txt")
		// Its own repository moves on, which the fork did not follow: the next change begins there all the
		// same.
		as(t, s, "sam").led("/alice/garden/new/main", "path", "later.txt", "text", "later\n")
		before := string(s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden/branches/main",
			Status: 200}).Body)
		to = v.led("/alice/garden/new/main", "path", "new.txt", "text", "new\n", "branch", "patch-2")
		v.want(to, 200, "new.txt")
		s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden/contents/later.txt?ref=patch-2", Status: 200})
		if after := string(s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden/branches/main",
			Status: 200}).Body); after != before {
			t.Error("the fork's own branch moved")
		}
		blob := field(t, v.want("/alice/garden/delete/main/later.txt", 200, "Propose"), "blob")
		if to := v.led("/alice/garden/delete/main/later.txt", "blob", blob, "branch",
			"patch-3"); !strings.Contains(to, "patch-3") {
			t.Errorf("led to %s", to)
		}
		// the branch is not named
		v.upload("/alice/garden/upload/main", "seed.txt", "x").Shows(t, 422)
		// Where it is the one that the form has, the next that is free serves.
		if to := v.led("/alice/garden/new/main", "path", "other.txt", "text", "x\n", "branch",
			"patch-1"); !strings.Contains(to, "patch-4") {
			t.Errorf("led to %s", to)
		}
		if got := text(t, s, "later.txt", "main"); got != "later\n" {
			t.Errorf("the repository itself changed: %q", got)
		}
		// A taken name is reported next to the text.
		v.led("/alice/garden/new/main", "path", "named.txt", "text", "new\n", "branch", "mine")
		a := v.post("/alice/garden/new/main", "path", "other.txt", "text", "kept text", "branch", "mine")
		if a.Status != 422 || !strings.Contains(string(a.Body), "kept text") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "stranger", Status: 201,
			Send: `{"title": "t", "base": "main", "head": "stranger:patch-1"}`})
	})
}

// Somebody's own repository may have the name that the fork would get: the fork has another one then. So it
// is also where that repository was a fork until its parent was hidden for a while.
func TestProposeBesideAnotherOfThatName(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		s.Repo(t, "stranger/garden", false)
		v := as(t, s, "stranger")
		send := func(branch, name string) string {
			return v.led("/alice/garden/new/main", "path", name, "text", "new\n", "branch", branch)
		}
		v.want(send("patch-1", "one.txt"), 200, "one.txt")
		s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden-1/contents/one.txt?ref=patch-1", Status: 200})
		for _, private := range []string{"true", "false"} {
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice",
				Send: `{"private": ` + private + `}`, Status: 200})
		}
		to := send("patch-2", "two.txt")
		v.want(to, 200, "two.txt")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "stranger", Status: 201,
			Send: `{"title": "t", "base": "main", "head": "stranger:patch-2"}`})
	})
}

// A change that no branch would take makes no fork, which its author would have to delete.
func TestRefusedProposalLeavesNoFork(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		v := as(t, s, "stranger")
		for _, c := range [][2]string{{"a..b", "new.txt"}, {"refs/pull", ".git/config"}, {"peas", "dos.txt/below"}} {
			a := v.post("/alice/garden/new/main", "path", c[1], "text", "kept text", "branch", c[0])
			if a.Status != 422 || !strings.Contains(string(a.Body), "kept text") {
				t.Errorf("%s on %s: %d %s", c[1], c[0], a.Status, a.Body)
			}
		}
		if a := v.upload("/alice/garden/upload/main", "seed.txt", "x"); a.Status != 422 { // the branch is not named
			t.Errorf("%d %s", a.Status, a.Body)
		}
		size := s.Access(t, "alice", "alice/garden").SizeKB
		_, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "stranger", func(q *account.Quota) {
			q.KB = new(size + 8) // room for the fork, and for a small change
		})
		testkit.NoError(t, err)
		large := strings.Repeat("kept text\n", 1<<10)
		if a := v.post("/alice/garden/new/main", "path", "new.txt", "text", large, "branch", "peas"); a.Status != 403 ||
			!strings.Contains(string(a.Body), "may take at most") || !strings.Contains(string(a.Body), "kept text") {
			t.Errorf("more than the quota takes: %d %s", a.Status, a.Body)
		}
		s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden", Status: 404})
		v.led("/alice/garden/new/main", "path", "new.txt", "text", "new\n", "branch", "peas")
		s.Check(t, apitest.Case{Do: "GET /repos/stranger/garden", Status: 200})
	})
}
