package repos_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// relay passes connections on to an address that changes, as when a server gets another host key.
type relay struct {
	to      atomic.Pointer[string]
	address string
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	r := &relay{address: l.Addr().String()}
	r.to.Store(&to)
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				c, err := net.Dial("tcp", *r.to.Load())
				if err != nil {
					return
				}
				defer c.Close()
				go func() {
					io.Copy(c, from)
					c.Close()
				}()
				io.Copy(from, c)
			}()
		}
	}()
	return r
}

// bySSH is what the API says of a mirror by SSH.
type bySSH struct {
	ID        int64
	PublicKey string  `json:"public_key"`
	HostKey   *string `json:"host_key"`
	Offered   *string `json:"offered_host_key"`
}

func (w *mirrored) ssh(t *testing.T, path string) (m bySSH) {
	t.Helper()
	w.Check(t, apitest.Case{Do: "GET " + path, As: "alice", Status: 200}).JSON(t, &m)
	return m
}

// deploy adds the public key of a mirror to a repository.
func (w *mirrored) deploy(t *testing.T, name, key string, readOnly bool) {
	t.Helper()
	w.Ask(t, "alice", "POST /repos/"+name+"/keys", fmt.Sprintf(`{"title":"mirror","key":%q,"read_only":%v}`, key, readOnly), 201)
}

// A mirror by SSH signs in with a key pair of its own, in both directions, with files of Git LFS. Another host key than
// the first one stops it until an administrator accepts that.
func TestMirrorBySSH(t *testing.T) {
	t.Parallel()
	needLFS(t)
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		over := largeWorld(t, engine)
		w, through := newMirrored(t, over.Server), newRelay(t, over.address)
		s := over.Server
		d := w.newLarge(t)
		first := w.largeFile(t, d, "a.bin", 300_000)
		s.Repo(t, "alice/copy", false)
		s.Repo(t, "alice/target", true)
		const path = "/repos/alice/copy/mirror"
		set := fmt.Sprintf(`{"remote_url":"ssh://%s/alice/source.git"}`, through.address)
		s.Run(t, []apitest.Case{
			{Do: "PUT " + path, As: "alice", Send: strings.Replace(set, "{", `{"password":"x",`, 1), Status: 422},
			{Do: "PUT " + path, As: "alice", Send: set, Status: 201, Want: `{"host_key": null, "remote_url": "ssh://git@` + through.address + `/alice/source.git"}`},
		})
		if got := w.ran(t, path, state{}); got.problem() != "it does not accept the key of the mirror: add its public key there" {
			t.Errorf("%q", got.problem())
		}
		made := w.ssh(t, path)
		known := ssh.FingerprintSHA256(over.host)
		if made.HostKey == nil || *made.HostKey != known {
			t.Errorf("the host key was not remembered: %+v", made)
		}
		w.deploy(t, "alice/source", made.PublicKey, true)
		if got := w.sync(t, "alice/copy"); got.problem() != "" {
			t.Fatal(got.problem())
		}
		if w.refs(t, "alice/copy") != w.refs(t, "alice/source") || string(w.cloned(t, d, "alice/copy", "a.bin")) != string(first) {
			t.Error("the mirror differs")
		}
		w.commit(t, "two")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main")
		if got := w.sync(t, "alice/copy"); got.problem() != "" || w.refs(t, "alice/copy") != w.refs(t, "alice/source") {
			t.Errorf("it does not follow: %q", got.problem())
		}

		var push bySSH
		s.Check(t, apitest.Case{Do: "POST /repos/alice/source/push_mirrors", As: "alice", Status: 201,
			Send: `{"remote_url":"ssh://git@` + through.address + `/alice/target.git"}`}).JSON(t, &push)
		at := fmt.Sprintf("/repos/alice/source/push_mirrors/%d", push.ID)
		if push.PublicKey == made.PublicKey {
			t.Error("two mirrors share a key pair")
		}
		w.ran(t, at, state{})
		w.deploy(t, "alice/target", push.PublicKey, false)
		before := w.now(t, at)
		s.Ask(t, "alice", "POST /repos/alice/source/push_mirrors-sync", "", 204)
		if got := w.ran(t, at, before); got.problem() != "" {
			t.Fatal(got.problem())
		}
		testkit.Eventually(t, func() bool { return w.refs(t, "alice/target") == w.refs(t, "alice/source") }, "it is pushed")
		testkit.Eventually(t, func() bool { return w.now(t, at).problem() == "" }, "it succeeds")
		if string(w.cloned(t, d, "alice/target", "a.bin")) != string(first) {
			t.Error("the target has another file")
		}
		w.commit(t, "three")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main", ":v1")
		testkit.Eventually(t, func() bool { return w.refs(t, "alice/target") == w.refs(t, "alice/source") }, "each push is copied")

		// Somebody else answers at the address.
		host := testkit.Signer(t)
		impostor := serve(t, apitest.Start(t, db.SQLite, func(o *server.Options) { o.SSH.HostKeys = []ssh.Signer{host} }), host.PublicKey())
		through.to.Store(&impostor.address)
		s.Ask(t, "alice", "POST "+path+"-sync", "", 204)
		other := ssh.FingerprintSHA256(host.PublicKey())
		got := w.stopped(t, path)
		if !strings.Contains(got.problem(), "its host key was "+known+" and is now "+other) {
			t.Errorf("%q", got.problem())
		}
		if now := w.ssh(t, path); *now.HostKey != known || now.Offered == nil || *now.Offered != other {
			t.Errorf("%+v", now)
		}
		s.Run(t, []apitest.Case{
			{Do: "POST " + path + "-sync", As: "alice", Status: 422},
			{Do: "PUT " + path + "/host-key", As: "bob", Send: `{"fingerprint":"` + other + `"}`, Status: 403},
			{Do: "PUT " + path + "/host-key", As: "alice", Send: `{"fingerprint":"x"}`, Status: 422},
			{Do: "PUT /repos/alice/copy/push_mirrors/0/host-key", As: "alice", Send: `{"fingerprint":"` + other + `"}`, Status: 404},
			{Do: "PUT " + path + "/host-key", As: "alice", Send: `{"fingerprint":"` + other + `"}`, Status: 200,
				Want: `{"active": true, "offered_host_key": null, "host_key": "` + other + `"}`},
		})
		testkit.Eventually(t, func() bool { return strings.Contains(w.now(t, path).problem(), "does not accept the key") }, "it goes on")
		through.to.Store(&over.address)
		s.Ask(t, "alice", "PUT "+path+"/host-key", `{"fingerprint":"`+known+`"}`, 200)
		testkit.Eventually(t, func() bool { return w.refs(t, "alice/copy") == w.refs(t, "alice/source") }, "it follows again")

		// The pair stays with its address.
		s.Ask(t, "alice", "PUT "+path, set, 200)
		if again := w.ssh(t, path); again.PublicKey != made.PublicKey {
			t.Error("set up again, it has another key pair")
		}
		s.Ask(t, "alice", "PUT "+path, strings.Replace(set, "source", "target", 1), 200)
		if moved := w.ssh(t, path); moved.PublicKey == made.PublicKey || moved.HostKey != nil && *moved.HostKey != known {
			t.Errorf("another source got the key pair: %+v", moved)
		}
		s.Ask(t, "alice", "DELETE "+path, "", 204)
		s.Ask(t, "alice", "DELETE "+at, "", 204)
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			var n int
			err := tx.QueryRow(`SELECT COUNT(*) FROM mirror_ssh`).Scan(&n)
			if n != 0 {
				t.Errorf("%d key pairs stay", n)
			}
			return err
		}))
	})
}

// A source by SSH that is not one, that is an inner address, or that has no such repository, is told in plain words.
func TestMirrorOfBadSourceBySSH(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, over *world) {
		w, s := newMirrored(t, over.Server), over.Server
		l, err := net.Listen("tcp", "127.0.0.1:0")
		testkit.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
				c.Close()
			}
		}()
		s.Repo(t, "alice/copy", false)
		const path = "/repos/alice/copy/mirror"
		for _, c := range []struct{ name, address, want string }{
			{"no SSH", "ssh://" + l.Addr().String() + "/x", "it does not speak SSH, or no version that this server speaks"},
			{"nobody", "ssh://127.0.0.1:1/x", "the connection was refused"},
			{"nothing there", "ssh://" + over.address + "/alice/nothing", "there is no repository at the address, or the credentials do not reach it"},
			{"quotes", "ssh://" + over.address + "/alice/a'b", "there is no repository at the address, or the credentials do not reach it"},
		} {
			s.Ask(t, "alice", "DELETE "+path, "", map[bool]int{true: 404, false: 204}[c.name == "no SSH"])
			s.Ask(t, "alice", "PUT "+path, `{"remote_url":"`+c.address+`"}`, 201)
			if strings.HasPrefix(c.address, "ssh://"+over.address) {
				w.ran(t, path, state{})
				w.deploy(t, "alice/source", w.ssh(t, path).PublicKey, true)
				w.sync(t, "alice/copy")
			}
			testkit.Eventually(t, func() bool { return w.now(t, path).problem() == c.want }, c.name+": "+c.want)
		}
	})
}
