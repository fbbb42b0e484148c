package repos_test

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What a key may do ends when the right does, also on a connection that is open.
func TestSshTransitions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "bob", "carol", "dora")
		r := w.Repo(t, "alice/garden", true)
		w.Repo(t, "alice/public", false)
		w.Grant(t, r, "bob", account.Push)
		w.Grant(t, r, "carol", account.Admin)
		bob, write, read := w.login(t, "bob"), testkit.Signer(t), testkit.Signer(t)
		w.addKey(t, "carol", "/repos/alice/garden/keys", write, "")
		w.addKey(t, "carol", "/repos/alice/garden/keys", read, `,"read_only":true`)
		open := map[string]*ssh.Client{"bob": w.connect(t, bob), "write": w.connect(t, write),
			"read": w.connect(t, read)}
		const (
			absent, few, readOnly = "Repository not found.", "but not push to it",
				"has been marked as read only."
			suspended, gone = "Your account was suspended.", "can no longer sign in here."
			archived        = "Repository was archived so is read-only."
		)
		// want says of bob, the deploy key that writes and the one that reads what they hear when they fetch
		// and push.
		want := func(what, repository string, said [6]string) {
			t.Helper()
			for n, who := range []string{"bob", "write", "read"} {
				for m, service := range []string{"git-upload-pack", "git-receive-pack"} {
					got := may(t, open[who], service, repository)
					if w := said[2*n+m]; w == "" && got != "" || !strings.Contains(got, w) {
						t.Errorf("%s: %s of %s by %s hears %q, want %q", what, service,
							repository, who, got, w)
					}
				}
			}
		}
		suspend := func(login string) {
			t.Helper()
			if _, err := w.Accounts.Suspend(t.Context(), nil, login); err != nil {
				t.Fatal(err)
			}
		}
		all := [6]string{"", "", "", "", "", readOnly}
		want("at first", "alice/garden", all)
		want("at first", "alice/public", [6]string{"", few, absent, absent, absent, absent})
		want("at first", "alice/nowhere", [6]string{absent, absent, absent, absent, absent, absent})
		w.Ask(t, "alice", "PUT /repos/alice/garden/collaborators/bob", `{"permission":"pull"}`, 204)
		want("bob reads", "alice/garden", [6]string{"", few, "", "", "", readOnly})
		w.Ask(t, "alice", "DELETE /repos/alice/garden/collaborators/bob", "", 204)
		want("bob left", "alice/garden", [6]string{absent, absent, "", "", "", readOnly})
		w.Ask(t, "alice", "PATCH /repos/alice/garden", `{"private":false}`, 200)
		want("public", "alice/garden", [6]string{"", few, "", "", "", readOnly})
		w.Ask(t, "alice", "PATCH /repos/alice/garden", `{"private":true}`, 200)
		w.Ask(t, "alice", "PUT /repos/alice/garden/collaborators/bob", `{"permission":"push"}`, 204)
		w.Ask(t, "alice", "DELETE /repos/alice/garden/collaborators/carol", "", 204)
		want("who added the keys left", "alice/garden", all)
		suspend("carol")
		want("who added the keys is suspended", "alice/garden",
			[6]string{"", "", suspended, suspended, suspended, suspended})
		if _, err := w.Accounts.Unsuspend(t.Context(), nil, "carol"); err != nil {
			t.Fatal(err)
		}
		w.Ask(t, "alice", "PATCH /repos/alice/garden", `{"archived":true}`, 200)
		want("archived", "alice/garden", [6]string{"", archived, "", archived, "", readOnly})
		w.Ask(t, "alice", "PATCH /repos/alice/garden", `{"archived":false}`, 200)
		w.Ask(t, "alice", "PATCH /repos/alice/garden", `{"name":"orchard"}`, 200)
		want("renamed", "alice/orchard", all)
		if out, said, err := start(t, open["bob"], "git-upload-pack alice/garden").end(); err != nil ||
			!strings.Contains(said, "This repository moved.") {
			t.Errorf("under its old name: %q %q %v", out, said, err)
		}
		suspend("bob")
		want("bob is suspended", "alice/orchard", [6]string{suspended, suspended, "", "", "", readOnly})
		if _, said, _ := start(t, w.connect(t, bob),
			"git-upload-pack alice/orchard").end(); !strings.Contains(said, suspended) {
			t.Errorf("suspended: %q", said)
		}
		if _, err := w.Accounts.Unsuspend(t.Context(), nil, "bob"); err != nil {
			t.Fatal(err)
		}
		list := w.Check(t, apitest.Case{Do: "GET /user/keys", As: "bob", Status: 200})
		id := strings.Split(strings.SplitN(string(list.Body), `"id":`, 2)[1], ",")[0]
		w.Ask(t, "carol", "DELETE /user/keys/"+id, "", 404)
		w.Ask(t, "bob", "DELETE /user/keys/"+id, "", 204)
		want("bob's key is removed", "alice/orchard", [6]string{gone, gone, "", "", "", readOnly})
		if _, err := w.dial(bob, "git"); err == nil {
			t.Error("a key that was removed signs in")
		}
		w.addKey(t, "dora", "/user/keys", bob, "")
		want("bob's key is dora's now", "alice/orchard", [6]string{absent, absent, "", "", "", readOnly})
		testkit.NoError(t, w.Accounts.Delete(t.Context(), nil, account.User, "carol"))
		want("who added the keys is deleted", "alice/orchard",
			[6]string{absent, absent, gone, gone, gone, gone})
		w.addKey(t, "alice", "/repos/alice/orchard/keys", write, "")
		want("the key was added anew", "alice/orchard", [6]string{absent, absent, "", "", gone, gone})
		w.Ask(t, "alice", "DELETE /repos/alice/orchard", "", 204)
		want("deleted", "alice/orchard", [6]string{absent, absent, gone, gone, gone, gone})
		if _, err := w.dial(write, "git"); err == nil {
			t.Error("the deploy key of a deleted repository signs in")
		}
		w.addKey(t, "dora", "/user/keys", write, "")
	})
}

// A site administrator's key sees what anybody's does: it has no scopes that could say more.
func TestKeysAdministrateNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Admin(t, "chief")
		w.Repo(t, "alice/cellar", true)
		got := may(t, w.connect(t, w.login(t, "chief")), "git-upload-pack", "alice/cellar")
		if !strings.Contains(got, "Repository not found.") {
			t.Errorf("a site administrator's key hears %q", got)
		}
	})
}

// A push can take an hour. If the right, the key or the repository is lost during it, the push must fail.
// Like JGit and libgit2, the client waits for the report without closing the connection.
func TestRightsEndDuringPush(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		dir := gittest.Repository(t, 3, 4)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		pack := gittest.Pipe(t, dir, nil, "pack-objects", "-q", "--all", "--stdout")
		const refused = "ng refs/heads/main you may no longer push here"
		for login, c := range map[string]struct {
			meanwhile func(t *testing.T, r *repo.Repo, key string)
			want      string
		}{
			"nothing": {func(*testing.T, *repo.Repo, string) {}, "ok refs/heads/main"},
			"role":    {func(t *testing.T, r *repo.Repo, _ string) { w.Grant(t, r, "role", account.Pull) }, refused},
			"key": {func(t *testing.T, _ *repo.Repo, key string) {
				w.Check(t, apitest.Case{Do: "DELETE " + key, As: "key", Status: 204})
			}, refused},
			"suspended": {func(t *testing.T, _ *repo.Repo, _ string) {
				if _, err := w.Accounts.Suspend(t.Context(), nil, "suspended"); err != nil {
					t.Fatal(err)
				}
			}, refused},
			"deleted": {func(t *testing.T, r *repo.Repo, _ string) {
				w.Check(t, apitest.Case{Do: "DELETE /repos/alice/" + r.Name, As: "alice", Status: 204})
			}, "ng refs/heads/main"},
			"deploy": {func(t *testing.T, _ *repo.Repo, key string) {
				w.Check(t, apitest.Case{Do: "DELETE " + key, As: "alice", Status: 204})
			}, refused},
		} {
			t.Run(login, func(t *testing.T) {
				w.User(t, login)
				r := w.Repo(t, "alice/"+login, false)
				w.Grant(t, r, login, account.Push)
				k, as, to := testkit.Signer(t), login, "/user/keys"
				if login == "deploy" {
					as, to = "alice", "/repos/alice/deploy/keys"
				}
				key := w.addKey(t, as, to, k, "")
				push := start(t, w.connect(t, k), "git-receive-pack 'alice/"+login+"'", "version=1")
				readGreeting(t, push.out)
				command := wire.AppendPkt(nil,
					string(git.ZeroSHA)+" "+tip+" refs/heads/main\x00 report-status")
				sshSend(t, push.in, append(append(command, "0000"...), pack[:len(pack)/2]...))
				w.waitFor(t, r, 1)
				c.meanwhile(t, r, key)
				sshSend(t, push.in, pack[len(pack)/2:])
				report, err := io.ReadAll(push.out)
				if err != nil || !strings.Contains(string(report), c.want) {
					t.Errorf("the report is %q, %v; want %q; %s", report, err, c.want, push.stderr)
				}
				if left, _ := filepath.Glob(filepath.Join(w.ObjectsDir(t, r), "*",
					"*.pack")); len(left) > 0 &&
					c.want == refused {
					t.Errorf("a refused push left %q", left)
				}
			})
		}
	})
}

// readGreeting reads the list of refs with which a conversation begins.
func readGreeting(t *testing.T, from io.Reader) (lines []string) {
	t.Helper()
	pkts := wire.NewPktReader(from)
	for {
		kind, line, err := pkts.Next()
		testkit.NoError(t, err)
		if kind == wire.PktFlush {
			return lines
		}
		lines = append(lines, string(line))
	}
}

func sshSend(t *testing.T, to io.Writer, b []byte) {
	t.Helper()
	if _, err := to.Write(b); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until so many packs come in.
func (w *world) waitFor(t *testing.T, r *repo.Repo, packs int) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(w.ObjectsDir(t, r), "incoming-*"))
		return len(found) == packs
	}, fmt.Sprintf("%d packs come in", packs))
}

// A fetch is several messages. Who loses the right between two of them gets no answer to the second, in any
// protocol, as over HTTP, where they are requests.
func TestRightsEndDuringFetch(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		r := w.Repo(t, "alice/garden", true)
		dir := gittest.Repository(t, 3, 4)
		w.Import(t, r, dir)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		for _, protocol := range []string{"version=0", "version=2"} {
			w.User(t, "bob"+protocol[8:])
			bob := "bob" + protocol[8:]
			w.Grant(t, r, bob, account.Pull)
			fetch := start(t, w.connect(t, w.login(t, bob)), "git-upload-pack 'alice/garden'", protocol)
			readGreeting(t, fetch.out)
			message := append(wire.AppendPkt(nil, "want "+tip+" ofs-delta\n"), "0000"...)
			if protocol == "version=2" {
				ls := append(wire.AppendPkt(nil, "command=ls-refs\n"), "0000"...)
				sshSend(t, fetch.in, ls)
				if refs := readGreeting(t, fetch.out); len(refs) == 0 {
					t.Error("no refs")
				}
				message = append(append(wire.AppendPkt(nil, "command=fetch\n"), "0001"...),
					wire.AppendPkt(nil, "want "+tip+"\n")...)
				message = append(append(message, wire.AppendPkt(nil, "done\n")...), "0000"...)
			}
			w.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/collaborators/" + bob, As: "alice",
				Status: 204})
			sshSend(t, fetch.in, message)
			out, said, err := fetch.end()
			if err == nil || !strings.Contains(said, "Repository not found.") ||
				bytes.Contains([]byte(out), []byte("PACK")) {
				t.Errorf("%s: %q %q %v", protocol, out, said, err)
			}
		}
	})
}

// What no ref leads to is hidden from a fetch over SSH, too, as a want and as what the client says it has.
func TestHiddenObjectsOverSSH(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "bob")
		r := w.Repo(t, "alice/garden", false)
		dir := gittest.Repository(t, 4, 4)
		w.Import(t, r, dir)
		hidden, shown := gittest.Run(t, dir, "rev-parse", "main"), gittest.Run(t, dir, "rev-parse", "main~2")
		w.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/git/refs/heads/main", As: "alice", Status: 200,
			Send: `{"sha":"` + shown + `","force":true}`})
		c := w.connect(t, w.login(t, "bob"))
		ask := func(want string, have ...string) (string, string) {
			t.Helper()
			fetch := start(t, c, "git-upload-pack alice/garden")
			readGreeting(t, fetch.out)
			message := append(wire.AppendPkt(nil, "want "+want+" multi_ack_detailed ofs-delta\n"), "0000"...)
			for _, sha := range have {
				message = wire.AppendPkt(message, "have "+sha+"\n")
			}
			sshSend(t, fetch.in, wire.AppendPkt(message, "done\n"))
			out, said, _ := fetch.end()
			return out, said
		}
		if out, _ := ask(hidden); !strings.Contains(out, "ERR upload-pack: not our ref "+hidden) {
			t.Errorf("a hidden commit: %.200q", out)
		}
		if out, said := ask(shown, hidden); strings.Contains(out, hidden) || !strings.Contains(out, "PACK") {
			t.Errorf("a hidden commit is acknowledged: %.200q %s", out, said)
		}
		parent := gittest.Run(t, dir, "rev-parse", "main~3")
		if out, said := ask(shown, parent); !strings.Contains(out, "ACK "+parent) ||
			!strings.Contains(out, "PACK") {
			t.Errorf("a commit that both have is not acknowledged: %.200q %s", out, said)
		}
	})
}
