package repos_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git/wire"
	"arbor/internal/test/testkit"
)

// git lfs transfers objects and locks files over SSH alone, with the rights, quotas and bounds that it has over HTTP.
func TestGitLFSOverSSHAlone(t *testing.T) {
	t.Parallel()
	needLFS(t)
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "bob", "rae")
		r := w.Repo(t, "alice/game", true)
		w.Grant(t, r, "bob", account.Push)
		w.Grant(t, r, "rae", account.Pull)
		remote := "ssh://git@" + w.address + "/alice/game.git"
		open := func(login string) *desk {
			d := newDesk(t, w.openSSH(t, login))
			d.git(".", "config", "--global", "lfs.sshtransfer", "always")
			return d
		}
		d, bob := open("alice"), open("bob")
		d.git(".", "init", "-q", "work")
		d.git("work", "remote", "add", "origin", remote)
		d.git("work", "lfs", "track", "*.bin", "--lockable")
		first, second := d.write("work/a.bin", 3_000_000), d.write("work/b.bin", 70_000)
		d.git("work", "add", ".")
		d.git("work", "commit", "-qm", "one")
		d.git("work", "push", "-q", "origin", "main")
		d.git("work", "push", "-q", "origin", "main:again")
		bob.git(".", "clone", "-q", remote, "game")
		bob.has("game/a.bin", first)
		bob.has("game/b.bin", second)
		for _, q := range w.Log.Requests() {
			if strings.Contains(q.Route, "info/lfs") || q.Route == "git-lfs-authenticate" {
				t.Errorf("git lfs asked over HTTP: %+v", q)
			}
		}

		d.git("work", "lfs", "lock", "a.bin")
		bob.fails("game", "already", "lfs", "lock", "a.bin")
		if out := bob.git("game", "lfs", "locks"); !strings.Contains(out, "a.bin") || !strings.Contains(out, "alice") {
			t.Errorf("locks: %s", out)
		}
		bob.fails("game", "locked by alice", "lfs", "unlock", "--force", "a.bin")
		testkit.NoError(t, os.Chmod(filepath.Join(bob.dir, "game", "a.bin"), 0o600))
		bob.write("game/a.bin", 50)
		bob.git("game", "commit", "-qam", "mine")
		bob.fails("game", "locked", "push", "-q", "origin", "main")
		d.git("work", "lfs", "unlock", "a.bin")
		bob.git("game", "push", "-q", "origin", "main")

		rae := open("rae")
		rae.git(".", "clone", "-q", remote, "game")
		rae.has("game/b.bin", second)
		rae.fails("game", "Locking b.bin failed", "lfs", "lock", "b.bin")
		rae.write("game/c.bin", 60)
		rae.git("game", "add", ".")
		rae.git("game", "commit", "-qm", "hers")
		rae.fails("game", "push", "push", "-q", "origin", "main:hers")
		setKB(t, w.Server, "alice", owned(t, w.Server, "alice")+100)
		d.git("work", "pull", "-q", "origin", "main")
		d.write("work/large.bin", 500_000)
		d.git("work", "add", ".")
		d.git("work", "commit", "-qm", "large")
		d.fails("work", "may take at most", "push", "origin", "main")
		sound(t, w.Server)
	})
}

// pktLines are pkt-lines; 0000 and 0001 stand for themselves.
func pktLines(lines ...string) (out []byte) {
	for _, line := range lines {
		if line == "0000" || line == "0001" {
			out = append(out, line...)
		} else {
			out = wire.AppendPkt(out, line)
		}
	}
	return out
}

// What a client other than git lfs could say to git-lfs-transfer does no harm, and gets an answer.
func TestHostileTransfers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.Users(t, "alice", "eve")
		w.Repo(t, "alice/game", true)
		w.Repo(t, "alice/open", false)
		c, content := w.connect(t, w.login(t, "alice")), "a large file"
		oid, size := digest(content), "size="+strconv.Itoa(len(content))+"\n"
		// say sends pkt-lines, and returns the answers without their lengths.
		say := func(k *talk, lines ...string) string {
			t.Helper()
			_, err := k.in.Write(pktLines(lines...))
			testkit.NoError(t, err)
			in, all := wire.NewPktReader(k.out), ""
			for {
				kind, line, err := in.Next()
				testkit.NoError(t, err)
				if kind == wire.PktFlush {
					return all
				}
				all += string(line)
			}
		}
		put := func(bytes string) []string { return []string{"put-object " + oid + "\n", size, "0001", bytes, "0000"} }
		up := start(t, c, "git-lfs-transfer alice/game.git upload")
		if got := say(up); got != "version=1\nlocking\n" {
			t.Fatalf("%q", got)
		}
		for _, q := range []struct {
			want string
			say  []string
		}{
			{"status 200", []string{"version 1\n", "0000"}},
			{"status 400", []string{"version 2\n", "0000"}},
			{"status 400", []string{"shell\n", "0000"}},
			{"status 403", []string{"get-object " + oid + "\n", "0000"}},
			{"status 422", put("another file")},
			{"status 422", put("too short")},
			{"status 422", put(content + " and more")},
			{"status 400", []string{"put-object x\n", size, "0001", content, "0000"}},
			{"status 404", []string{"verify-object " + oid + "\n", size, "0000"}},
			{oid + " 12 upload", []string{"batch\n", "0001", oid + " 12\n", "0000"}},
			{"status 200", put(content)},
			{"status 200", put(content)},
			{"status 200", []string{"verify-object " + oid + "\n", size, "0000"}},
			{"status 422", []string{"verify-object " + oid + "\n", "size=13\n", "0000"}},
			{oid + " 12 noop", []string{"batch\n", "0001", oid + " 12\n", "0000"}},
			{"status 422", []string{"batch\n", "0001", "x 12\n", "0000"}},
			{"status 409", []string{"batch\n", "hash-algo=md5\n", "0001", oid + " 12\n", "0000"}},
			{"status 422", []string{"lock\n", "path=../x\n", "0000"}},
			{"status 404", []string{"unlock 99\n", "0000"}},
			{"status 200", []string{"list-lock\n", "0000"}},
		} {
			if got := say(up, q.say...); !strings.Contains(got, q.want) {
				t.Errorf("%q: %q, want %q", q.say, got, q.want)
			}
		}
		leaves(t, w.Server, 1)

		// What follows bytes that do not end with a flush is not read as requests.
		cut := start(t, c, "git-lfs-transfer alice/game.git upload")
		say(cut)
		other := digest("another file")
		_, err := cut.in.Write(pktLines("put-object "+other+"\n", "size=12\n", "0001", "another", "0001", "lock\n",
			"path=smuggled\n", "0000", "quit\n", "0000"))
		testkit.NoError(t, err)
		if out, err := io.ReadAll(cut.out); err != nil || len(out) > 0 {
			t.Errorf("within the bytes of an object: %q, %v", out, err)
		}
		if got := say(up, "list-lock\n", "0000"); strings.Contains(got, "smuggled") {
			t.Errorf("the bytes of an object locked a file: %q", got)
		}

		// The right is asked for with each request: here the repository is deleted meanwhile.
		down := start(t, c, "git-lfs-transfer alice/game.git download")
		say(down)
		if got := say(down, "get-object "+oid+"\n", "0000"); got != "status 200\n"+size+content {
			t.Errorf("%q", got)
		}
		if got := say(down, put(content)...); !strings.Contains(got, "status 403") {
			t.Errorf("an upload where objects are fetched: %q", got)
		}
		w.Ask(t, "alice", "DELETE /repos/alice/game", "", 204)
		if got := say(down, "get-object "+oid+"\n", "0000"); !strings.Contains(got, "status 404") {
			t.Errorf("of a deleted repository: %q", got)
		}
		if got := say(down, "quit\n", "0000"); got != "status 200\n" {
			t.Errorf("quit: %q", got)
		}
		if rest, err := io.ReadAll(down.out); err != nil || len(bytes.TrimSpace(rest)) > 0 {
			t.Errorf("after quit: %q, %v", rest, err)
		}

		eve := w.connect(t, w.login(t, "eve"))
		for command, want := range map[string]string{"git-lfs-transfer alice/open upload": "push access",
			"git-lfs-transfer alice/game download": "not found"} {
			if _, stderr, err := start(t, eve, command).end(); err == nil || !strings.Contains(strings.ToLower(stderr), want) {
				t.Errorf("%s: %q, %v", command, stderr, err)
			}
		}
	})
}
