//go:build long

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// keyPair creates a key of SSH, and gives the environment of a git that signs in with it and trusts a server
// that it has not seen.
func keyPair(t *testing.T) (public string, env []string) {
	t.Helper()
	needProgram(t, "ssh", "git over SSH")
	needProgram(t, "ssh-keygen", "git over SSH")
	home := t.TempDir()
	file := filepath.Join(home, ".ssh", "id_ed25519")
	testkit.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	program(t, &instance{env: gittest.Env()}, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
		"laptop", "-f", file)
	text, err := os.ReadFile(file + ".pub")
	testkit.NoError(t, err)
	return strings.TrimSpace(string(text)),
		append(gittest.Env(), "HOME="+home, "GIT_SSH_COMMAND=ssh -F none -i '"+file+
			"' -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile='"+file+".hosts'")
}

// Who tests against Arbor by SSH finds the keys of the seed there, and each reset takes back what was pushed,
// under host keys that stay for as long as the server runs.
func TestEphemeralSSH(t *testing.T) {
	t.Parallel()
	public, env := keyPair(t)
	text := strings.Replace(seedText, "tokens:", "keys: ["+public+"], tokens:", 1)
	s := newInstance(t, db.SQLite)
	s.env = append(s.env, env...)
	admin := throwaway(t, s, "--seed", writeSeed(t, text), "--ssh-listen", "127.0.0.1:0")
	remote := "ssh://git@" + s.sshAddress() + "/alice/garden.git"
	for round := range 3 {
		dir := filepath.Join(t.TempDir(), "garden")
		program(t, s, "git", "clone", "-q", remote, dir)
		program(t, s, "git", "-C", dir, "push", "-q", remote, "main:round")
		if out := program(t, s, "git", "ls-remote", remote); !strings.Contains(out, "refs/heads/round") {
			t.Errorf("round %d: the push is not there: %s", round, out)
		}
		if status, said := reset(t, admin); status != "204" {
			t.Fatalf("the reset is answered %s %s", status, said)
		}
		if out := program(t, s, "git", "ls-remote", remote); strings.Contains(out, "refs/heads/round") {
			t.Errorf("round %d: what was pushed is there after the reset", round)
		}
	}
}

// sshAddress is where the running server says that it serves git over SSH.
func (s *instance) sshAddress() (address string) {
	s.t.Helper()
	said := regexp.MustCompile(`"?ssh listens"? address=(\S+) `)
	testkit.Eventually(s.t, func() bool {
		m := said.FindStringSubmatch(s.log.String())
		if m != nil {
			address = m[1]
		}
		return m != nil
	}, "the address of SSH", s.log.String)
	return address
}

// The demo's lines about SSH work when they are pasted. TestDemo sees that without --ssh-listen
// there are none.
func TestDemoSSH(t *testing.T) {
	t.Parallel()
	_, env := keyPair(t)
	for _, flags := range [][]string{nil, {"--seed", writeSeed(t, seedText)}} {
		last := "greenhouse-over-ssh"
		if flags != nil {
			last = "git clone ssh://"
		}
		d := startDemo(t, db.SQLite, last, append(flags, "--ssh-listen", "127.0.0.1:0")...)
		for _, line := range pasteable(d.out.String()) {
			if flags == nil && (strings.Contains(line, "id_ed25519.pub") ||
				strings.Contains(line, "over-ssh")) {
				program(t, &instance{env: env}, "sh", "-c",
					"cd '"+d.work+"' && "+strings.Replace(line, "curl -s", "curl -sf", 1))
			}
		}
		if _, err := os.Stat(filepath.Join(d.work, "greenhouse-over-ssh", ".git")); flags == nil &&
			err != nil {
			t.Error(err)
		}
	}
}
