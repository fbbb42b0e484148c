package ssh_test

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/git/gittest"
	"arbor/internal/git/wire"
)

// Fetches that are begun and then say nothing, a dozen or a hundred by one key, take nothing that others need: a
// stranger and another member clone at once.
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
			var attackers []*ssh.Client
			for n := range stalled {
				if n%10 == 0 { // so many sessions has a connection
					attackers = append(attackers, w.connect(t, k))
				}
				f := start(t, attackers[n/10], "git-upload-pack 'alice/garden.git'")
				readGreeting(t, f.out)
				send(t, f.in, append(wire.AppendPkt(nil, "want "+tip+" multi_ack_detailed side-band-64k ofs-delta\n"), "0000"...))
				go io.Copy(io.Discard, f.out)
			}
			w.stalled(t)
			for _, from := range []string{w.URL + "/alice/garden.git", over, w.URL + "/alice/garden.git"} {
				for _, version := range []string{"0", "2"} {
					cmd := exec.CommandContext(t.Context(), "git", "-c", "protocol.version="+version, "clone", "-q", "--bare",
						from, t.TempDir())
					if cmd.Env = env; stalled == 100 && version == "2" {
						cmd.Args = append(cmd.Args, "--depth=1")
					}
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("beside %d stalled fetches, a clone of %s: %v\n%s%+v", stalled, from, err, out,
							w.Admitted.Usage())
					}
				}
			}
			for _, c := range attackers {
				c.Close()
			}
		}
	})
}

// stalled waits until one account holds as many fetches as it gets, so that another one of its waits.
func (w *world) stalled(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		for _, u := range w.Admitted.Usage() {
			if u.Kind == "stream" && u.Waiting > 0 {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no fetch waits: %+v", w.Admitted.Usage())
		}
	}
}
