//go:build long

package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

const probotStory = "testdata/probot"

// A real GitHub App, built with probot, authenticates with its key, gets the events of its installation,
// answers as its bot, and checks pushes.
func TestProbot(t *testing.T) {
	t.Parallel()
	need(t, "probot", "nodejs npm", "node", "npm")
	dir := t.TempDir()
	testkit.NoError(t, os.CopyFS(dir, os.DirFS(probotStory)))
	modules := filepath.Join(npm.Install(t, probotStory), "node_modules")
	testkit.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := apitest.Start(t, engine)
		s.User(t, "alice")
		s.Repo(t, "alice/garden", true)
		port := testkit.FreePort(t)
		robot := s.NewApp(t, "alice", app.Manifest{Name: "Robot",
			Permissions: apitest.Permissions("issues=write,checks=write"),
			Events:      []string{"issues", "check_suite"}, Hook: app.Hook{URL: fmt.Sprintf("http://127.0.0.1:%d/", port), Active: true, Site: s.URL}})
		said := startProbot(t, dir, map[string]any{"appId": robot.ID, "privateKey": robot.PrivateKey,
			"secret":  robot.Secret,
			"baseUrl": s.URL + "/api/v3", "port": port})
		hears(t, said, `{"slug":"robot"}`)
		hears(t, said, `{"ready":true}`)
		at := robot.Install(t, "alice", "garden")
		hears(t, said, `{"installed":"alice","repositories":["alice/garden"]}`)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title":"Slugs"}`,
			Status: 201})
		hears(t, said, fmt.Sprintf(`{"commented":"robot[bot]","installation":%d}`, at.ID))
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/1/comments", As: "alice", Status: 200,
			Want: `[{"body":"Thank you!","user":{"login":"robot[bot]","type":"Bot"}}]`})
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/beds.txt", As: "alice",
			Send: `{"message":"Dig","content":"eA=="}`, Status: 201})
		hears(t, said, `{"checked":"main","conclusion":"failure","annotations":1}`)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits/main/check-runs",
			As: "alice", Status: 200,
			Want: `{"total_count":1,"check_runs":[{"name":"slugs","conclusion":"failure","app":{"slug":"robot"}}]}`})
	})
}

// startProbot starts the App; what it says comes line by line.
func startProbot(t *testing.T, dir string, settings map[string]any) <-chan string {
	t.Helper()
	text, err := json.Marshal(settings)
	testkit.NoError(t, err)
	file := filepath.Join(t.TempDir(), "settings.json")
	testkit.NoError(t, os.WriteFile(file, text, 0o600))
	command := exec.CommandContext(t.Context(), "node", "main.mjs", file)
	command.Dir, command.Stderr = dir, os.Stderr
	out, err := command.StdoutPipe()
	testkit.NoError(t, err)
	in, err := command.StdinPipe()
	testkit.NoError(t, err)
	testkit.NoError(t, command.Start())
	said := make(chan string, 100)
	go func() {
		defer close(said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if line, ok := strings.CutPrefix(lines.Text(), "APP "); ok {
				said <- line
			}
		}
	}()
	t.Cleanup(func() {
		in.Close()
		_ = command.Wait()
	})
	return said
}

// hears waits until the App says something.
func hears(t *testing.T, said <-chan string, want string) {
	t.Helper()
	select {
	case line, ok := <-said:
		if !ok || line != want {
			t.Fatalf("the App says %s, want %s", line, want)
		}
	case <-time.After(testkit.Patience):
		t.Fatalf("the App does not say %s", want)
	}
}
