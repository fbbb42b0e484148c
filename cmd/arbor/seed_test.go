package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

const seedText = `
users:
  - {login: alice, tokens: [arb_alice_secret]}
repos:
  - name: alice/garden
    private: true
    files: {README.md: "# garden\n"}
    issues: [{title: Slugs}]
`

func writeSeed(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seed.yaml")
	testkit.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// status is the answer's status for alice.
func (s *instance) status(method, path, body string) int {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	testkit.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer arb_alice_secret")
	a, err := http.DefaultClient.Do(r)
	testkit.NoError(s.t, err)
	a.Body.Close()
	return a.StatusCode
}

// A data folder is filled once: a restart with the same seed keeps what people
// have done since, and nothing is ever mixed with another seed.
func TestServeSeed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		wrong := writeSeed(t, seedText+"    pulls: [{title: x, head: main}]\n")
		if out := s.refused("--seed", wrong); !strings.Contains(out, wrong+":9: repos[0].pulls[0].head: ") {
			t.Fatalf("a seed that cannot be: %s", out)
		}
		file := writeSeed(t, seedText)
		s.start("--seed", file) // what was wrong left nothing behind
		if code := s.status("POST", "/repos/alice/garden/issues", `{"title": "since"}`); code != 201 {
			t.Fatalf("an issue: %d", code)
		}
		s.stop()
		s.start("--seed", file)
		testkit.Eventually(t, func() bool {
			return strings.Contains(s.log.String(), "the store holds this seed already: it is left as it is")
		}, "it says that nothing was done", s.log.String)
		if code := s.status("GET", "/repos/alice/garden/issues/2", ""); code != 200 {
			t.Errorf("what was done since the seed: %d", code)
		}
		s.stop()
		other := writeSeed(t, "users: [{login: bob}]")
		if out := s.refused("--seed", other); !strings.Contains(out, "the store is not empty") {
			t.Errorf("another seed: %s", out)
		}
		s.start()
		if code := s.status("GET", "/repos/alice/garden", ""); code != 200 {
			t.Errorf("without the seed: %d", code)
		}
		if strings.Contains(s.log.String(), "arb_") {
			t.Errorf("the log shows a token:\n%s", s.log)
		}
	})
}

// throwaway starts a server whose store is thrown away, and gives the address of
// its administration.
func throwaway(t *testing.T, s *instance, flags ...string) (admin string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin")
	s.start(append([]string{"--ephemeral", "--admin-listen", "unix:" + path}, flags...)...)
	return path
}

// reset posts to the administration, and gives the status and the answer.
func reset(t *testing.T, admin string) (string, string) {
	t.Helper()
	needProgram(t, "curl", "resets over a Unix socket")
	out, err := exec.CommandContext(t.Context(), "curl", "-s", "-X", "POST", "-w", "\n%{http_code}",
		"--unix-socket", admin, "http://arbor/admin/reset").Output()
	testkit.NoError(t, err)
	body, status, _ := strings.Cut(string(out), "\n")
	if status == "" || strings.Contains(status, "\n") {
		body, status = string(out[:len(out)-4]), string(out[len(out)-3:])
	}
	return strings.TrimSpace(status), body
}

// An ephemeral server goes back to its seed, and leaves nothing when it is told
// to stop. One that is killed leaves its folder to the next, which removes it.
func TestEphemeral(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	file := writeSeed(t, seedText)
	var temporary string
	for _, e := range s.env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok {
			temporary = dir
		}
	}
	admin := throwaway(t, s, "--seed", file)
	if code := s.status("POST", "/repos/alice/garden/issues", `{"title": "since"}`); code != 201 {
		t.Fatalf("an issue: %d", code)
	}
	if status, body := reset(t, admin); status != "204" || body != "" {
		t.Fatalf("the reset: %s %s", status, body)
	}
	if code := s.status("GET", "/repos/alice/garden/issues/2", ""); code != 404 {
		t.Errorf("after the reset the issue is there: %d", code)
	}
	if left := glob(t, filepath.Join(s.data, "*")); len(left) > 0 {
		t.Errorf("in the data folder: %q", left)
	}
	s.kill()
	if left := glob(t, filepath.Join(temporary, "*")); len(left) != 1 {
		t.Errorf("a killed server leaves %q", left)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		throwaway(t, s, "--seed", file)
		if code := s.status("GET", "/repos/alice/garden/issues/1", ""); code != 200 {
			t.Errorf("the next server: %d", code)
		}
		if left := glob(t, filepath.Join(temporary, "*")); len(left) != 1 {
			t.Errorf("beside the folder of the server there are %q", left)
		}
		testkit.NoError(t, s.server.Process.Signal(signal))
		if err := s.wait(); err != nil {
			t.Errorf("after %v: %v\n%s", signal, err, s.log)
		}
		if left := glob(t, filepath.Join(temporary, "*")); len(left) != 0 {
			t.Errorf("after %v there are %q", signal, left)
		}
	}
	if strings.Contains(s.log.String(), "arb_") {
		t.Errorf("the log shows a token:\n%s", s.log)
	}
}

// Nobody loses a store because they took it for a throwaway one.
func TestResetNeedsEphemeral(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	path := filepath.Join(t.TempDir(), "admin")
	s.start("--seed", writeSeed(t, seedText), "--admin-listen", "unix:"+path)
	status, body := reset(t, path)
	if status != "403" || !strings.Contains(body, `{"message":"This server keeps what it has`) {
		t.Errorf("the reset: %s %s", status, body)
	}
	if code := s.status("GET", "/repos/alice/garden/issues/1", ""); code != 200 {
		t.Errorf("after the refused reset: %d", code)
	}
	s.stop()
	for _, args := range [][]string{{"serve", "--ephemeral", "--database", "postgres://localhost/x"},
		{"demo", "--seed", "x.yaml", "--database", "x.db"}} {
		out, err := exec.CommandContext(t.Context(), "arbor", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "leave --database out") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// What a seeded demo prints works when it is pasted.
func TestDemoSeed(t *testing.T) {
	t.Parallel()
	needProgram(t, "curl", "the lines of the demo that use curl")
	d := startDemo(t, db.SQLite, "/repos/alice/garden", "--seed", writeSeed(t, seedText))
	for _, line := range pasteable(d.out.String()) {
		if text, err := paste(t, d.work, line); err != nil {
			t.Errorf("pasted: %s\n%v\n%s", line, err, text)
		}
	}
	if token := d.tokens()["alice"]; token != "arb_alice_secret" {
		t.Errorf("alice's token is %q in:\n%s", token, &d.out)
	}
}
