package repos_test

import (
	"fmt"
	"net"
	"testing"

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
				if err != nil {
					t.Fatal(err)
				}
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
