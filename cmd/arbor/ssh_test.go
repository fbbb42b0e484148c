package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What a person pushed by a key that the operator gave them is there after a crash, and after the machine
// is lost; and their ssh knows the server again, since its host keys came along. Clients would take another
// one for an attack.
func TestServeSSH(t *testing.T) {
	t.Parallel()
	needProgram(t, "ssh", "git over SSH")
	needProgram(t, "ssh-keygen", "git over SSH")
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		dir, address := t.TempDir(), testkit.FreeAddress(t)
		flags := []string{"--ssh-listen", address, "--ssh-url", "ssh://git@" + address}
		s := serving(t, engine, flags...)
		s.user("alice")
		key := filepath.Join(dir, "key")
		program(t, s, "ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-C", "laptop", "-f", key)
		if said := s.arbor("user", "key", "add", "alice", key+".pub"); said != "added key 1 for alice" {
			t.Errorf("it said %q", said)
		}
		if said := s.arbor("user", "key", "list", "alice"); !strings.Contains(said, "SHA256:") ||
			!strings.Contains(said, "laptop") {
			t.Errorf("it said %q", said)
		}
		s.arbor("repo", "create", "alice/garden", "--private")
		sshGit := func(s *instance, check string) *instance {
			s.env = append(s.env,
				fmt.Sprintf("GIT_SSH_COMMAND=ssh -F none -i '%s' -o IdentitiesOnly=yes -o BatchMode=yes "+
					"-o StrictHostKeyChecking=%s -o UserKnownHostsFile='%s'", key, check,
					filepath.Join(dir, "known")))
			return s
		}
		sshGit(s, "accept-new")
		from, remote := gittest.Repository(t, 4, 4), s.sshURL("alice/garden")
		if remote != "ssh://git@"+address+"/alice/garden.git" {
			t.Fatalf("ssh_url is %q", remote)
		}
		program(t, s, "git", "-C", from, "push", "-q", remote, "main")
		want := gittest.Run(t, from, "rev-parse", "main")
		tip := func(s *instance) string {
			return strings.Fields(program(t, s, "git", "ls-remote", remote, "main") + " -")[0]
		}
		s.kill()
		s.start(flags...)
		sshGit(s, "yes")
		if got := tip(s); got != want {
			t.Errorf("after a crash main is %q, want %q", got, want)
		}
		backup := filepath.Join(dir, "backup")
		s.arbor("backup", backup)
		s.stop()
		other := sshGit(newInstance(t, engine), "yes")
		other.arbor("restore", backup)
		other.start(flags...)
		if got := tip(other); got != want {
			t.Errorf("after a restore main is %q, want %q", got, want)
		}
		info, err := os.Stat(filepath.Join(other.data, "ssh", "ssh_host_ed25519_key"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("a restored host key: %v, %v", info, err)
		}
		other.deployKeys(remote, key)
		other.arbor("user", "key", "remove", "alice", "1")
		if _, _, err := gittest.Try(t, dir, nil, "ls-remote", remote); err == nil {
			t.Error("a key that was removed signs in")
		}
	})
}

// deployKeys has the operator give a repository keys of its own, which end with the command that removes
// them.
func (s *instance) deployKeys(remote, key string) {
	s.t.Helper()
	deploy := filepath.Join(s.t.TempDir(), "deploy")
	program(s.t, s, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ci", "-f", deploy)
	for n, v := range s.env {
		s.env[n] = strings.ReplaceAll(v, "-i '"+key+"'", "-i '"+deploy+"'")
	}
	if said := s.arbor("repo", "key", "add", "alice/garden", deploy+".pub",
		"--read-only"); said != "added key 2 for alice/garden" {
		s.t.Errorf("it said %q", said)
	}
	if said := s.arbor("repo", "key", "list", "ALICE/garden"); !strings.Contains(said, " fetch  alice ") ||
		!strings.HasSuffix(said, " ci") {
		s.t.Errorf("it said %q", said)
	}
	program(s.t, s, "git", "ls-remote", remote, "main")
	copied := filepath.Join(s.t.TempDir(), "copy")
	program(s.t, s, "git", "clone", "-q", remote, copied)
	if out, err := s.git("-C", copied, "push", remote, "main:other"); err == nil {
		s.t.Errorf("a key that only fetches pushes: %s", out)
	}
	if said := s.arbor("repo", "key", "remove", "alice/garden",
		"2"); said != "removed key 2 of alice/garden" {
		s.t.Errorf("it said %q", said)
	}
	if out, err := s.git("ls-remote", remote); err == nil {
		s.t.Errorf("a deploy key that was removed signs in: %s", out)
	}
	for n, v := range s.env {
		s.env[n] = strings.ReplaceAll(v, "-i '"+deploy+"'", "-i '"+key+"'")
	}
}

// git runs git, which may fail.
func (s *instance) git(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), testkit.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// sshURL is what the API says of a repository.
func (s *instance) sshURL(repository string) string {
	s.t.Helper()
	_, body := s.do("alice", http.MethodGet, "/repos/"+repository, nil, io.Reader(nil))
	_, rest, _ := strings.Cut(body, `"ssh_url":"`)
	address, _, _ := strings.Cut(rest, `"`)
	return address
}

// What --ssh-url says is told to every client, so it is an address of SSH and nothing else.
func TestParseSSHURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": " ", "ssh://git@code.example.org": "code.example.org 22",
		"ssh://code.example.org:2222/": "code.example.org 2222",
		"ssh://git@[::1]:22":           "[::1] 22",
	} {
		if host, port, err := parseSSHURL(text); err != nil || host+" "+port != want {
			t.Errorf("%q: %q %q %v, want %q", text, host, port, err, want)
		}
	}
	for _, text := range []string{"code.example.org", "https://code.example.org",
		"ssh://alice@code.example.org", "ssh://git:x@code.example.org",
		"ssh://git@code.example.org/path", "ssh://", "ssh://git@code.example.org?x", "ssh://git@\"x",
		"git@code.example.org:alice"} {
		if _, _, err := parseSSHURL(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
