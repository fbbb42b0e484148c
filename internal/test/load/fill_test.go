//go:build long && linux

package load

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// largeRepository returns a repository with an incompressible file of 20 MB, a branch with as much in
// smaller files, one with as much in messages, and one that may be deleted. It is stored uncompressed, so
// that reading it takes little processor time.
func largeRepository(t testing.TB) string {
	dir := gittest.Bare(t)
	var noise bytes.Buffer
	for sum := sha1.Sum(nil); noise.Len() < 20<<20; sum = sha1.Sum(sum[:]) {
		fmt.Fprintf(&noise, "%x\n", sum)
	}
	text := noise.String()
	var b strings.Builder
	b.WriteString(gittest.CommitLine("main", 0, "x") + gittest.FileLines("large.txt", text))
	b.WriteString(gittest.CommitLine("many", 0, "x"))
	for i := range 20 {
		b.WriteString(gittest.FileLines(fmt.Sprintf("file%d.txt", i), text[i<<20:(i+1)<<20]))
	}
	for i := range 100 {
		b.WriteString(gittest.CommitLine("talk", 0, text[i*200<<10:(i+1)*200<<10]))
	}
	b.WriteString(gittest.CommitLine("gone", 0, "x") + gittest.FileLines("gone.txt", "x"))
	gittest.ImportStored(t, dir, strings.NewReader(b.String()))
	return dir
}

// bot is a GitHub App of mallory's, installed on her account.
type bot struct {
	key   *rsa.PrivateKey
	token string // of its installation
}

// registerApp registers and installs the App, before the server starts.
func (w *world) registerApp() {
	w.t.Helper()
	manifest := filepath.Join(w.t.TempDir(), "manifest.json")
	err := os.WriteFile(manifest,
		[]byte(`{"name": "moles", "url": "https://moles.example", "hook_attributes": {"url": "http://127.0.0.1:1/"},
		"default_permissions": {"checks": "write", "contents": "write", "issues": "write"},
		"default_events": ["push", "issues", "check_run"]}`), 0o600)
	testkit.NoError(w.t, err)
	block, _ := pem.Decode([]byte(w.arbor("app", "create", "mallory", "--manifest", manifest) + "\n"))
	if w.bot.key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
		w.t.Fatal(err)
	}
	w.arbor("app", "install", "moles", "mallory")
}

// fill creates issues and repositories through the API.
func (w *world) fill() {
	w.t.Helper()
	as := func(login string) *caller { return newCaller(w, "127.0.0.1", w.tokens[login]) }
	alice := as("alice")
	for n := range 50 {
		w.must(alice, "POST", "/repos/alice/garden/issues",
			fmt.Sprintf(`{"title": "Issue %d", "body": "Slugs, *again*."}`, n), 201)
	}
	for _, login := range honestPeople {
		w.must(as(login), "POST", "/user/repos", fmt.Sprintf(`{"name": "notes-%s", "auto_init": true}`, login), 201)
	}
	if err := w.git(w.t.Context(), "carol", "-C", w.large, "push", "-q", "--force",
		w.url+"/carol/large.git", "main:gone"); err != nil {
		w.t.Fatal(err)
	}
	if !w.harmful {
		return
	}
	mallory := as("mallory")
	w.must(mallory, "POST", "/user/repos", `{"name": "heavy"}`, 201)
	w.must(mallory, "POST", "/user/repos", `{"name": "target", "auto_init": true}`, 201)
	w.must(mallory, "POST", "/repos/alice/garden/forks", "", 202)
	w.must(mallory, "POST", "/repos/mallory/target/issues", `{"title": "A place to talk"}`, 201)
	w.addDeafHooks(mallory)
	var made struct{ Token string }
	unsigned := as("")
	status, text, err := unsigned.do(w.t.Context(), "POST", "/app/installations/1/access_tokens", "", w.jwt(1))
	if err != nil || status != 201 || json.Unmarshal(text, &made) != nil {
		w.t.Fatalf("a token of the App: %d %s, %v", status, text, err)
	}
	w.bot.token = made.Token
	headings, _ := json.Marshal(strings.Repeat("a\n=\n", 16_000))
	control, _ := json.Marshal(strings.Repeat("\x01", 65_000))
	for n := range 100 {
		w.must(mallory, "POST", "/repos/mallory/heavy/issues",
			fmt.Sprintf(`{"title": "Heavy %d", "body": %s}`, n, [][]byte{headings, control}[n%2]), 201)
	}
}

// addDeafHooks adds hooks to mallory/target whose receiver takes connections and says nothing.
func (w *world) addDeafHooks(mallory *caller) {
	w.t.Helper()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(w.t, err)
	w.t.Cleanup(func() { deaf.Close() })
	for n := range 10 {
		w.must(mallory, "POST", "/repos/mallory/target/hooks",
			fmt.Sprintf(`{"config": {"url": "http://%s/%d"}, "events": ["*"]}`, deaf.Addr(), n), 201)
	}
}
