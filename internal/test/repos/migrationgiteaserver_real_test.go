//go:build gitea

package repos_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
	"arbor/internal/test/tool"
)

// giteaServer is a real Gitea.
type giteaServer struct {
	URL    string
	tokens map[string]string
	dir    string
}

// startGitea starts Gitea with an administrator, root, and people, until the test ends. Without the program the test is
// skipped.
func startGitea(t *testing.T, people ...string) *giteaServer {
	t.Helper()
	program := tool.Program{Name: "gitea", Module: "code.gitea.io/gitea@v1.26.0", Dir: ".",
		Tags: "sqlite sqlite_unlock_notify"}
	binary := program.Build(t)
	address := testkit.FreeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	s := &giteaServer{URL: "http://" + address, tokens: map[string]string{}, dir: t.TempDir()}
	user := os.Getenv("USER")
	if user == "" {
		user = "root"
	}
	settings := strings.NewReplacer("{dir}", s.dir, "{port}", port, "{static}", program.Folder(t), "{user}", user).Replace(
		`I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = {dir}
RUN_MODE = prod
RUN_USER = {user}
[database]
DB_TYPE = sqlite3
PATH = {dir}/gitea.db
[server]
STATIC_ROOT_PATH = {static}
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://gitea.example:{port}/
DISABLE_SSH = true
LFS_START_SERVER = true
OFFLINE_MODE = true
[lfs]
PATH = {dir}/lfs
[security]
INSTALL_LOCK = true
SECRET_KEY = a-secret-of-a-test
[queue]
TYPE = immediate
[log]
LEVEL = warn
MODE = file
ROOT_PATH = {dir}
[cron]
ENABLED = false
[webhook]
ALLOWED_HOST_LIST = none.example
`)
	config := filepath.Join(s.dir, "app.ini")
	testkit.NoError(t, os.WriteFile(config, []byte(settings), 0o600))
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"--config", config}, args...)...)
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "HOME="+s.dir, "USER="+user, "GITEA_WORK_DIR="+s.dir)
		return cmd
	}
	run := func(args ...string) string {
		var said bytes.Buffer // warnings, too
		cmd := command(args...)
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gitea %q: %v\n%s%s", args, err, out, said.Bytes())
		}
		return string(out)
	}
	run("migrate")
	for n, login := range append([]string{"root"}, people...) {
		args := []string{"admin", "user", "create", "--username", login, "--password", "a-password-" + login,
			"--email", login + "@example.com", "--must-change-password=false"}
		if n == 0 {
			args = append(args, "--admin")
		}
		run(args...)
		out := strings.Fields(run("admin", "user", "generate-access-token", "--username", login, "--token-name", "test",
			"--scopes", "all", "--raw"))
		s.tokens[login] = out[len(out)-1]
	}
	web := command("web")
	testkit.NoError(t, web.Start())
	t.Cleanup(func() {
		_ = web.Process.Kill()
		_ = web.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(s.dir, "gitea.log"))
			t.Logf("Gitea: %s", text[max(0, len(text)-4000):])
		}
	})
	testkit.Eventually(t, func() bool {
		a, err := http.Get(s.URL + "/api/v1/version")
		if err == nil {
			a.Body.Close()
		}
		return err == nil && a.StatusCode == http.StatusOK
	}, "Gitea does not answer")
	return s
}

// do sends a request to the API, and returns the answer as decoded JSON.
func (s *giteaServer) do(t *testing.T, as, do, send string) map[string]any {
	t.Helper()
	return s.send(t, as, do, "application/json", strings.NewReader(send))
}

func (s *giteaServer) send(t *testing.T, as, do, kind string, body io.Reader) (out map[string]any) {
	t.Helper()
	method, path, _ := strings.Cut(do, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/api/v1"+path, body)
	testkit.NoError(t, err)
	r.Header.Set("Authorization", "token "+s.tokens[as])
	r.Header.Set("Content-Type", kind)
	a, err := http.DefaultClient.Do(r)
	testkit.NoError(t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	testkit.NoError(t, err)
	if a.StatusCode >= 300 {
		t.Fatalf("Gitea: %s as %s: %d %s", do, as, a.StatusCode, text)
	}
	_ = json.Unmarshal(text, &out) // lists and empty answers are no objects
	return out
}

// file writes a file of a repository; from and to are branches.
func (s *giteaServer) file(t *testing.T, as, repo, path, text, from, to string) {
	t.Helper()
	send := map[string]string{"content": base64.StdEncoding.EncodeToString([]byte(text)), "message": "Write " + path,
		"branch": from}
	if to != from {
		send["new_branch"] = to
	}
	do := "POST"
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/v1/repos/"+repo+"/contents/"+path+"?ref="+from, nil)
	testkit.NoError(t, err)
	r.Header.Set("Authorization", "token "+s.tokens[as])
	a, err := http.DefaultClient.Do(r)
	testkit.NoError(t, err)
	var old struct {
		SHA string `json:"sha"`
	}
	if a.StatusCode == http.StatusOK {
		testkit.NoError(t, json.NewDecoder(a.Body).Decode(&old))
		send["sha"], do = old.SHA, "PUT"
	}
	a.Body.Close()
	body, err := json.Marshal(send)
	testkit.NoError(t, err)
	s.do(t, as, do+" /repos/"+repo+"/contents/"+path, string(body))
}

// upload sends a file.
func (s *giteaServer) upload(t *testing.T, as, path, name, content string) map[string]any {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("attachment", name)
	testkit.NoError(t, err)
	_, err = io.WriteString(part, content)
	testkit.NoError(t, err)
	testkit.NoError(t, form.Close())
	return s.send(t, as, "POST "+path+"?name="+name, form.FormDataContentType(), &body)
}

// lfs uploads an object of Git LFS.
func (s *giteaServer) lfs(t *testing.T, as, repo, oid, content string) {
	t.Helper()
	ask := func(method, address, kind, send string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(send))
		testkit.NoError(t, err)
		r.SetBasicAuth(as, s.tokens[as])
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Accept", "application/vnd.git-lfs+json")
		a, err := http.DefaultClient.Do(r)
		testkit.NoError(t, err)
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		testkit.NoError(t, err)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("Gitea: %s %s: %d %s", method, address, a.StatusCode, text)
		}
		return text
	}
	at := s.URL + "/" + repo + ".git/info/lfs/objects/"
	ask("POST", at+"batch", "application/vnd.git-lfs+json",
		fmt.Sprintf(`{"operation":"upload","objects":[{"oid":%q,"size":%d}]}`, oid, len(content)))
	ask("PUT", fmt.Sprintf("%s%s/%d", at, oid, len(content)), "application/octet-stream", content)
}
