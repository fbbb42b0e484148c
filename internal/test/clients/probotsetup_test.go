//go:build long

package clients

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// Probot without an App asks for one at its first start: its page sends a manifest, a person confirms it in a
// real browser, probot gets the keys for the code with which the browser comes back, and the person installs
// the App.
func TestProbotRegisters(t *testing.T) {
	t.Parallel()
	need(t, "probot", "nodejs npm", "node", "npm")
	dir := t.TempDir()
	modules := filepath.Join(npm.Install(t, probotStory), "node_modules")
	testkit.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	for name, text := range map[string]string{
		"package.json": `{"name":"weeder","type":"module"}`,
		"app.yml": "name: Weeder\nurl: https://weeder.example\ndefault_permissions:\n  issues: write\n" +
			"default_events:\n  - issues\n",
		"app.js": "export default () => {};\n",
	} {
		testkit.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	port := testkit.FreePort(t)
	command := exec.CommandContext(t.Context(), "node", "node_modules/probot/bin/probot.js",
		"run", "./app.js")
	command.Dir, command.Stdout, command.Stderr = dir, os.Stderr, os.Stderr
	command.Env = append(os.Environ(), "GHE_PROTOCOL=http", "GHE_HOST="+strings.TrimPrefix(s.URL, "http://"),
		fmt.Sprint("PORT=", port), "HOST=127.0.0.1", "NO_SMEE_SETUP=true")
	testkit.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	answers(t, fmt.Sprint("127.0.0.1:", port))

	s.Repo(t, "alice/garden", true)
	b := browser.Open(t, fmt.Sprint("http://127.0.0.1:", port), browser.Look{})
	b.SignIn(s.Session(t, "alice")) // cookies are per host, not per port
	b.Go("/probot")
	b.See("h1", "weeder")
	// The driver watches one tab.
	b.Eval(`document.querySelector("form").removeAttribute("target")`, nil)
	b.Click("#manifest")
	b.See("h1", "New GitHub App")
	b.Click("form[action='/settings/apps'] button.main")
	var kept string
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end) &&
		!strings.Contains(kept, "PRIVATE_KEY"); {
		time.Sleep(50 * time.Millisecond)
		text, _ := os.ReadFile(filepath.Join(dir, ".env"))
		kept = string(text)
	}
	for _, part := range []string{"APP_ID=1", `PRIVATE_KEY="-----BEGIN RSA PRIVATE KEY-----`,
		"WEBHOOK_SECRET="} {
		if !strings.Contains(kept, part) {
			t.Errorf("probot did not keep %s", part)
		}
	}
	b.See("h1", "Install Weeder") // probot leads to where it is installed
	if b.Path() != s.URL+"/github-apps/weeder/installations/new" {
		t.Errorf("probot leads to %s", b.Path())
	}
	b.Click("form button.main")
	b.See("h1", "weeder on alice")
	s.Check(t, apitest.Case{Do: "GET /user/installations", As: "alice", Status: 200,
		Want: `{"total_count":1,"installations":[{"app_slug":"weeder","repository_selection":"all"}]}`})
	s.Check(t, apitest.Case{Do: "GET /apps/weeder", Status: 200,
		Want: `{"slug":"weeder","owner":{"login":"alice"},"permissions":{"issues":"write"},"events":["issues"]}`})
}

// answers waits until somebody listens at an address.
func answers(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
	}
	t.Fatal("nobody listens at " + address)
}
