package repos_test

import (
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/admission"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Fetches that are begun and then say nothing, a dozen or a hundred by one key, take nothing that others
// need: a stranger and another member clone at once.
func TestStalledFetches(t *testing.T) {
	t.Parallel()
	needSSH(t)
	each(t, func(t *testing.T, w *world) {
		for _, login := range []string{"alice", "mallory"} {
			w.User(t, login)
		}
		dir := gittest.Repository(t, 20, 20)
		w.Import(t, w.Repo(t, "alice/garden", false), dir)
		env, k := w.openSSH(t, "alice"), w.login(t, "mallory")
		tip := gittest.Run(t, dir, "rev-parse", "main")
		over := "ssh://git@" + w.address + "/alice/garden.git"
		for _, stalled := range []int{12, 100} {
			attack := siege{w: w, key: k, fetches: stalled, tip: tip}
			for _, from := range []string{w.URL + "/alice/garden.git", over, w.URL + "/alice/garden.git"} {
				for _, version := range []string{"0", "2"} {
					attack.hold(t)
					cmd := exec.CommandContext(t.Context(), "git", "-c", "protocol.version="+version, "clone",
						"-q", "--bare", from, t.TempDir())
					if cmd.Env = env; stalled == 100 && version == "2" {
						cmd.Args = append(cmd.Args, "--depth=1")
					}
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("beside %d stalled fetches, a clone of %s: %v\n%s%+v", stalled,
							from, err, out, w.Admitted.Usage())
					}
				}
			}
			attack.end()
		}
	})
}

// siege is fetches by one key that are begun and then say nothing.
type siege struct {
	w       *world
	key     ssh.Signer
	fetches int
	tip     string // what they want
	clients []*ssh.Client
}

// hold sees that one account holds as many fetches as it gets, so that another one of its waits. The server
// ends those that stall: then they are begun anew.
func (s *siege) hold(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(testkit.Patience); !s.waits(); {
		if time.Now().After(end) {
			t.Fatalf("no fetch waits: %+v", s.w.Admitted.Usage())
		}
		s.end()
		s.begin(t)
		for soon := time.Now().Add(5 * time.Second); !s.waits() && time.Now().Before(soon); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func (s *siege) begin(t *testing.T) {
	t.Helper()
	for n := range s.fetches {
		if n%10 == 0 { // so many sessions has a connection
			s.clients = append(s.clients, s.w.connect(t, s.key))
		}
		f := start(t, s.clients[n/10], "git-upload-pack 'alice/garden.git'")
		readGreeting(t, f.out)
		want := wire.AppendPkt(nil, "want "+s.tip+" multi_ack_detailed side-band-64k ofs-delta\n")
		sshSend(t, f.in, append(want, "0000"...))
		go io.Copy(io.Discard, f.out)
	}
}

func (s *siege) end() {
	for _, c := range s.clients {
		c.Close()
	}
	s.clients = nil
}

// waits reports whether a fetch waits.
func (s *siege) waits() bool {
	return slices.ContainsFunc(s.w.Admitted.Usage(), func(u admission.Usage) bool {
		return u.Kind == "stream" && u.Waiting > 0
	})
}
