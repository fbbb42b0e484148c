//go:build long

package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// Scripts with gh use the API in the two ways in which gh reaches a server without TLS (decision 7): over a
// Unix socket, and through the server as its own proxy.
func TestGH(t *testing.T) {
	t.Parallel()
	need(t, "gh", "gh", "gh")
	files, err := filepath.Glob(filepath.Join("testdata", "gh", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no stories: %v", err)
	}
	for name, way := range map[string]struct {
		engine  db.Engine // one each: a story starts gh some hundred times
		address func(*testing.T) string
		reach   func(*testscript.Env, *apitest.Server) error
	}{
		"socket": {db.SQLite, socket, overSocket}, "proxy": {db.PostgreSQL, anyPort, throughProxy},
	} {
		stories := map[string]story{}
		for _, file := range files {
			stories[strings.TrimSuffix(filepath.Base(file), ".txtar")] = func(t *testing.T,
				s *apitest.Server) {
				script(t, s, file, way.reach)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gh := client{way.address, stories,
				func(t *testing.T, s *apitest.Server, requests []*fixture.Request) {
					script(t, s, ghScript(t, requests), way.reach)
				}}
			gh.run(t, way.engine)
		})
	}
}

// ghScript writes a story that makes each request with gh api.
func ghScript(t *testing.T, requests []*fixture.Request) (file string) {
	t.Helper()
	var commands, bodies strings.Builder
	for n, q := range requests {
		method, path, _ := strings.Cut(q.Do, " ")
		fmt.Fprintf(&commands, "as %s\n", q.Who)
		fmt.Fprintf(&commands, "exec gh api -X %s '%s'", method, path)
		// gh sends its token by another scheme, which GitHub does not take for a JWT either
		if q.Who == fixture.Robot {
			commands.WriteString(` -H 'Authorization: Bearer '$GH_TOKEN`)
		}
		if basic := q.Headers["Authorization"]; basic != "" { // of an OAuth App
			fmt.Fprintf(&commands, " -H 'Authorization: %s'", basic)
		}
		if q.Send == "" {
			commands.WriteString("\n")
			continue
		}
		fmt.Fprintf(&commands, " --input body%d\n", n)
		fmt.Fprintf(&bodies, "-- body%d --\n%s\n", n, q.Send)
	}
	file = filepath.Join(t.TempDir(), "others.txtar")
	testkit.NoError(t, os.WriteFile(file, []byte(commands.String()+bodies.String()), 0o600))
	return file
}

// socket is the address of a Unix socket, whose path has at most 107 bytes.
func socket(t *testing.T) string {
	dir, err := os.MkdirTemp("", "arbor-gh-")
	testkit.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return "unix:" + filepath.Join(dir, "socket")
}

// overSocket makes gh use the server as github.com.
func overSocket(e *testscript.Env, s *apitest.Server) error {
	config := "http_unix_socket: " + strings.TrimPrefix(s.Address, "unix:") + "\n"
	e.Setenv("HOST", "github.com")
	e.Setenv("ENTERPRISE", "hub.example.org") // every host is behind the socket
	return os.WriteFile(filepath.Join(e.Getenv("GH_CONFIG_DIR"), "config.yml"), []byte(config), 0o600)
}

// throughProxy makes gh use the server both as the host without TLS and as the proxy to it.
func throughProxy(e *testscript.Env, s *apitest.Server) error {
	e.Setenv("http_proxy", s.URL) // which git reads, too
	e.Setenv("HOST", "github.localhost")
	e.Setenv("GH_HOST", "github.localhost")
	return nil
}

// script runs a story. Beside testscript's own commands it has
//
//	as [LOGIN]   who gh is from now on
//	is LINE...   what the last command printed, without spaces around it
//	keep NAME    makes it a variable
//
// and conditions: [socket], and [rulesets] and [caches], which gh must be new enough to know.
func script(
	t *testing.T, s *apitest.Server, file string, reach func(*testscript.Env, *apitest.Server) error,
) {
	againstGitHubs(t, s)
	s.Users(t, "alice", "will", "sam")
	s.Org(t, "garden", "alice")
	helps := func(command, word string) bool {
		out, _ := exec.CommandContext(t.Context(), "gh", command, "--help").CombinedOutput()
		return strings.Contains(string(out), word)
	}
	printed := func(ts *testscript.TestScript) string { return strings.TrimSpace(ts.ReadFile("stdout")) }
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "socket":
				return strings.HasPrefix(s.Address, "unix:"), nil
			case "rulesets":
				return helps("ruleset", "rulesets"), nil
			case "caches":
				return helps("cache", "caches"), nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			config := filepath.Join(e.WorkDir, "config")
			e.Setenv("GH_CONFIG_DIR", config)
			e.Setenv("GH_NO_UPDATE_NOTIFIER", "1")
			if err := os.Mkdir(config, 0o700); err != nil {
				return err
			}
			return reach(e, s)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"as": func(ts *testscript.TestScript, _ bool, args []string) {
				if len(args) != 1 {
					ts.Fatalf("usage: as LOGIN")
				}
				ts.Setenv("GH_TOKEN", s.Token(t, args[0]))
				ts.Setenv("GH_ENTERPRISE_TOKEN", s.Token(t, args[0]))
			},
			"is": func(ts *testscript.TestScript, not bool, args []string) {
				if got, want := printed(ts), strings.Join(args, "\n"); not || got != want {
					ts.Fatalf("printed was %q, not %q", got, want)
				}
			},
			"keep": func(ts *testscript.TestScript, _ bool, args []string) {
				if len(args) != 1 {
					ts.Fatalf("usage: keep NAME")
				}
				ts.Setenv(args[0], printed(ts))
			},
		},
	})
}
