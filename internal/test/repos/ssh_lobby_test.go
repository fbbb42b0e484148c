package repos_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"arbor/internal/account/key"

	"arbor/internal/admission"
	"arbor/internal/server"
	"arbor/internal/test/testkit"
)

// Connections of eight networks that say nothing closed git over SSH for everybody: they held all places for
// connections.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	const most = 24
	few := func(o *server.Options) {
		o.Admission = admission.New(1<<30, nil)
		o.Admission.Conns = admission.NewConns(most, nil)
	}
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", false)
		k := w.login(t, "alice")
		w.connect(t, k) // and then nothing
		for n := range 8 {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(fmt.Sprintf("127.0.%d.1", n+1))},
				Timeout: testkit.Patience}
			for range most {
				conn, err := d.Dial("tcp", w.address)
				testkit.NoError(t, err)
				t.Cleanup(func() { conn.Close() })
			}
		}
		testkit.Eventually(t, func() bool {
			open, _ := w.Admitted.Open()
			return open >= most-1
		}, "all places are taken")
		for range 3 {
			if said := may(t, w.connect(t, k), "git-upload-pack", "alice/garden"); said != "" {
				t.Errorf("a fetch hears %q", said)
			}
		}
	}, few)
}

// A push to a nearly full disk gets the error as over HTTP, without an error in the log. Fetches still
// work.
func TestPushWithoutRoom(t *testing.T) {
	t.Parallel()
	full := func(o *server.Options) { o.MinFree = 1 << 60 }
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", false)
		k := testkit.Signer(t)
		n := key.NewKey{Title: "t", Text: testkit.AuthorizedKey(k)}
		if _, err := w.Forge.Keys.AddUserKey(t.Context(), "alice", n); err != nil {
			t.Fatal(err)
		}
		for service, refused := range map[string]bool{"receive": true, "upload": false} {
			session, err := w.connect(t, k).NewSession()
			testkit.NoError(t, err)
			session.Stdin = strings.NewReader("0000")
			said, err := session.CombinedOutput("git-" + service + "-pack alice/garden.git")
			if (err != nil) != refused || strings.Contains(string(said), "disk") != refused {
				t.Errorf("git-%s-pack: %v, %s", service, err, said)
			}
		}
		if text := w.Log.Text(); !strings.Contains(text, "status=507") {
			t.Errorf("the log does not tell of a 507:\n%s", text)
		}
	}, full)
}
