package repos_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A push can take an hour. If the right to push, the token or the repository is lost during it, the push
// must fail.
func TestTransportRightsEndDuringPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dora")
		dir := gittest.Repository(t, 3, 4)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		pack := gittest.Pipe(t, dir, nil, "pack-objects", "-q", "--all", "--stdout")
		for name, c := range map[string]struct {
			meanwhile func(t *testing.T, r *repo.Repo)
			want      string
		}{
			"nothing": {func(*testing.T, *repo.Repo) {}, "ok refs/heads/main"},
			"role": {func(t *testing.T, r *repo.Repo) { s.Grant(t, r, "bob", account.Pull) },
				"ng refs/heads/main you may no longer push here"},
			"deleted": {func(t *testing.T, r *repo.Repo) {
				s.Check(t, apitest.Case{Do: "DELETE /repos/alice/" + r.Name, As: "alice", Status: 204})
			}, "ng refs/heads/main"},
			"token": {func(t *testing.T, _ *repo.Repo) {
				testkit.NoError(t, s.Forge.Tokens.RevokeToken(t.Context(), s.Token(t, "carol")))
			}, "ng refs/heads/main you may no longer push here"},
			"suspended": {func(t *testing.T, _ *repo.Repo) {
				if _, err := s.Accounts.Suspend(t.Context(), nil, "dora"); err != nil {
					t.Fatal(err)
				}
			}, "ng refs/heads/main you may no longer push here"},
		} {
			login := map[string]string{"token": "carol", "suspended": "dora"}[name]
			if login == "" {
				login = "bob"
			}
			t.Run(name, func(t *testing.T) { slowPush(t, s, name, login, tip, pack, c.meanwhile, c.want) })
		}
	})
}

// slowPush pushes to a new repository of alice's and does something when half
// of the pack is there.
func slowPush(
	t *testing.T, s *apitest.Server, name, login, tip string, pack []byte,
	meanwhile func(*testing.T, *repo.Repo), want string,
) {
	r := s.Repo(t, "alice/"+name, false)
	s.Grant(t, r, login, account.Push)
	end := beginPush(t, s, login, "alice/"+name, "refs/heads/main", tip, pack)
	testkit.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(s.ObjectsDir(t, r), "incoming-*"))
		return len(found) > 0
	}, "the pack comes in")
	meanwhile(t, r)
	if got := end(); !strings.Contains(got, want) {
		t.Errorf("answered %q, want %q", got, want)
	}
	if !strings.HasPrefix(want, "ok") {
		if left, _ := filepath.Glob(filepath.Join(s.ObjectsDir(t, r), "*", "*.pack")); len(left) > 0 {
			t.Errorf("a refused push left %q", left)
		}
	}
}

// beginPush begins to push a new ref and sends half of its pack. It returns a function that sends the rest and
// returns the answer.
func beginPush(t *testing.T, s *apitest.Server, login, name, ref, tip string, pack []byte) (end func() string) {
	t.Helper()
	in, out := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/"+name+".git/git-receive-pack", in)
	testkit.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	request.SetBasicAuth(login, s.Token(t, login))
	answered := make(chan string, 1)
	go func() {
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			body = append(body, err.Error()...)
		}
		answered <- answer.Status + " " + string(body)
	}()
	command := wire.AppendPkt(nil, string(git.ZeroSHA)+" "+tip+" "+ref+"\x00 report-status")
	out.Write(append(append(command, "0000"...), pack[:len(pack)/2]...))
	return func() string {
		out.Write(pack[len(pack)/2:])
		out.Close()
		return <-answered
	}
}
