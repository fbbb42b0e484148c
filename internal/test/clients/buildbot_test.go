//go:build long

package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/oauth"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Buildbot hears of pushes and pull requests by a webhook, clones a private repository, and reports the results of
// its builds as commit statuses. People sign in to it with Arbor, and the members of an organization may rebuild.
func TestBuildbot(t *testing.T) {
	t.Parallel()
	need(t, "Buildbot", "buildbot buildbot-worker", "buildbot", "buildbot-worker")
	s := apitest.StartOn(t, db.SQLite, "127.0.0.1:0")
	for _, login := range []string{"ann", "bob"} {
		s.User(t, login)
		s.Email(t, login, login+"@example.org")
		s.Ask(t, login, "PATCH /user", `{"email": "`+login+`@example.org"}`, 200)
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), login, "a long secret", nil))
	}
	s.Org(t, "garden", "ann")
	address, tells := buildbot(t, s, s.Fine(t, "ann", true, int64(s.Repo(t, "garden/plot", true).ID)))
	var hook struct{ ID int64 }
	s.Ask(t, "ann", "POST /repos/garden/plot/hooks", `{"events": ["push", "pull_request"], "config": {"url": "`+address+
		`/change_hook/github", "content_type": "json", "secret": "peas"}}`, 201).JSON(t, &hook)

	work, remote := t.TempDir(), s.Remote(t, "ann", "garden/plot")
	gittest.Run(t, work, "init", "-q", "-b", "main")
	push := func(branch, script string) (commit string) {
		commit, _, _ = gittest.CommitFile(t, work, "test.sh", script)
		gittest.Run(t, work, "push", "-q", remote, "HEAD:"+branch)
		return commit
	}
	reported := func(commit, want string) {
		t.Helper()
		var got string
		testkit.Eventually(t, func() bool {
			got = results(t, s, commit)
			return got == want
		}, "the results "+want, func() string { return got }, tells)
	}
	first := push("main", "exit 0\n")
	reported(first, "push:success ")
	broken := push("topic", "exit 1\n")
	s.Ask(t, "ann", "POST /repos/garden/plot/pulls", `{"title": "Beans", "head": "topic", "base": "main"}`, 201)
	reported(broken, "pull:failure push:failure ")
	s.Visit(t, "ann", "GET /garden/plot/pull/1").Shows(t, 200, "failure: buildbot/pull Build done.")
	fixed := push("topic", "test -f test.sh\n")
	reported(fixed, "pull:success push:success ")
	s.Visit(t, "ann", "GET /garden/plot/pull/1").Shows(t, 200, "success: buildbot/pull Build done.")
	s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/commits/" + fixed + "/status", As: "ann", Status: 200,
		Want: `{"state": "success", "total_count": 2}`})

	rebuild(t, s, address, "bob", `"groups": []`, http.StatusForbidden)
	rebuild(t, s, address, "ann", `"groups": ["garden"]`, http.StatusOK)
	reported(first, "push:success push:success ")
	deliveries := fmt.Sprintf("GET /repos/garden/plot/hooks/%d/deliveries", hook.ID)
	testkit.Eventually(t, func() bool { // each is noted after its answer
		return apitest.Contains(s.Ask(t, "ann", deliveries, "", 200).Body, `[`+strings.Repeat(`{"status_code": 200}, `, 5)+
			`{"status_code": 200, "event": "ping"}]`) == nil
	}, "six deliveries that Buildbot accepts", tells)
}

// results are those that Buildbot reported of a commit, by builder.
func results(t *testing.T, s *apitest.Server, commit string) string {
	t.Helper()
	var list []struct{ Context, State string }
	s.Ask(t, "ann", "GET /repos/garden/plot/commits/"+commit+"/statuses", "", 200).JSON(t, &list)
	count := map[string]int{}
	for _, status := range list {
		if status.State != "pending" {
			count[strings.TrimPrefix(status.Context, "buildbot/")+":"+status.State]++
		}
	}
	var text strings.Builder
	for _, result := range []string{"pull:failure", "pull:success", "push:failure", "push:success"} {
		text.WriteString(strings.Repeat(result+" ", count[result]))
	}
	return text.String()
}

// rebuild signs in to Buildbot, whose page shows the user, and asks it to repeat its first build.
func rebuild(t *testing.T, s *apitest.Server, address, login, groups string, status int) {
	t.Helper()
	c := visitor(t)
	code, body := browse(t, s, c, address+"/auth/login", login)
	for _, part := range []string{`"username": "` + login + `"`, `"email": "` + login + `@example.org"`, groups} {
		if code != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("Buildbot shows %d %s, want %s", code, body, part)
		}
	}
	answer, err := c.Post(address+"/api/v2/builds/1", "application/json",
		strings.NewReader(`{"id": 1, "jsonrpc": "2.0", "method": "rebuild", "params": {}}`))
	testkit.NoError(t, err)
	answer.Body.Close()
	if answer.StatusCode != status {
		t.Errorf("Buildbot answers a rebuild by %s with %d, want %d", login, answer.StatusCode, status)
	}
}

// buildbot starts Buildbot as an OAuth App with a token of the repository, and returns its address.
func buildbot(t *testing.T, s *apitest.Server, token string) (address string, tells func() string) {
	t.Helper()
	dir := t.TempDir()
	testkit.NoError(t, os.CopyFS(dir, os.DirFS("testdata/buildbot")))
	address = fmt.Sprintf("http://127.0.0.1:%d", testkit.FreePort(t))
	app, err := s.Forge.OAuth.Create(t.Context(), nil, "ann", oauth.About{Name: "Buildbot", Homepage: address,
		Callbacks: []string{address + "/auth/login"}})
	testkit.NoError(t, err)
	secret, err := s.Forge.OAuth.NewSecret(t.Context(), nil, app.ClientID)
	testkit.NoError(t, err)
	settings, err := json.Marshal(map[string]string{"arbor": s.URL, "own": address, "client": app.ClientID,
		"repository": strings.Replace(s.URL, "://", "://ci:%(secret:token)s@", 1) + "/garden/plot.git"})
	testkit.NoError(t, err)
	master := filepath.Join(dir, "master")
	testkit.NoError(t, os.Mkdir(filepath.Join(master, "secrets"), 0o700))
	for name, text := range map[string]string{"settings.json": string(settings), "secrets/token": token,
		"secrets/client": secret, "secrets/hook": "peas"} {
		gittest.WriteFile(t, master, name, text)
	}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "buildbot", args...)
		cmd.Env = environment("HOME="+dir, "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
		return cmd
	}
	if out, err := command("create-master", master).CombinedOutput(); err != nil {
		t.Fatalf("buildbot create-master: %v\n%s", err, out)
	}
	cmd := command("start", "--nodaemon", master)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends its builds
	cmd.WaitDelay = testkit.Patience
	output, err := os.Create(filepath.Join(master, "output"))
	testkit.NoError(t, err)
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	testkit.NoError(t, cmd.Start())
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended }) // the context ends it
	go func() { cmd.Wait(); close(ended) }()
	tells = func() (told string) {
		for _, name := range []string{"output", "twistd.log"} {
			text, err := os.ReadFile(filepath.Join(master, name))
			told += fmt.Sprintf("%s: %s %v\n", name, text[max(0, len(text)-10000):], err)
		}
		return told
	}
	testkit.Eventually(t, func() bool {
		select {
		case <-ended:
			t.Fatalf("Buildbot ended: %s", tells())
		default:
		}
		answer, err := http.Get(address + "/config")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	}, "Buildbot listens", tells)
	return address, tells
}
