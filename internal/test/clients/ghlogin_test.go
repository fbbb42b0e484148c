//go:build long

package clients

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Somebody signs in with gh in a browser, without copying a token, and pushes with what gh then tells git: on
// this machine, and to a server with TLS under its own name.
func TestGHSignsIn(t *testing.T) {
	t.Parallel()
	need(t, "gh", "gh", "gh")
	for name, way := range map[string]struct {
		engine db.Engine
		host   string
		reach  func(*testing.T, *apitest.Server) []string // environment
	}{
		"localhost": {db.SQLite, "github.localhost", func(_ *testing.T, s *apitest.Server) []string {
			return []string{"HTTP_PROXY=" + s.URL, "http_proxy=" + s.URL}
		}},
		"tls": {db.PostgreSQL, "hub.example.org", behindTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, way.engine)
			alice := s.User(t, "alice")
			gh := &signedIn{t: t, dir: t.TempDir(), env: way.reach(t, s)}
			gh.login(s, alice, way.host)
			if out := gh.run("gh", "auth", "status", "--hostname", way.host); !strings.Contains(out,
				"as alice") && !strings.Contains(out, "account alice") { // of older and of newer versions
				t.Errorf("gh auth status: %s", out)
			}
			scheme := "https://"
			if name == "localhost" {
				scheme = "http://"
			}
			gh.run("gh", "auth", "setup-git", "--hostname", way.host)
			gh.run("gh", "repo", "create", "garden", "--public")
			gh.run("git", "init", "-q", "-b", "main", ".")
			gh.run("git", "-c", "user.name=Alice", "-c", "user.email=alice@example.org", "commit", "-q",
				"--allow-empty", "-m", "Begin")
			if name == "tls" { // gh's helper answers for https alone
				gh.run("git", "push", "-q", scheme+way.host+"/alice/garden.git", "main")
				s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/commits/main", As: "alice", Status: 200,
					Want: `{"commit": {"message": "Begin"}}`})
			}
			list, err := s.Server.Forge().Tokens.Tokens(t.Context(), "alice")
			if err != nil || list[len(list)-1].Note != "GitHub CLI" ||
				list[len(list)-1].May() != "repo, read:org, gist" {
				t.Errorf("the token: %+v, %v", list, err)
			}
		})
	}
}

// signedIn is gh and git with a home of their own.
type signedIn struct {
	t   *testing.T
	dir string
	env []string
}

func (g *signedIn) command(name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(g.t.Context(), name, args...)
	c.Dir = g.dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir,
		"GH_CONFIG_DIR=" + filepath.Join(g.dir, "gh"), "GH_NO_UPDATE_NOTIFIER=1", "GIT_TERMINAL_PROMPT=0",
		"TMPDIR=" + g.dir, "GH_BROWSER=true"}, g.env...)
	return c
}

func (g *signedIn) run(name string, args ...string) string {
	g.t.Helper()
	out, err := g.command(name, args...).CombinedOutput()
	if err != nil {
		g.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// oneTimeCode is what gh prints.
var oneTimeCode = regexp.MustCompile(`[B-Z]{4}-[B-Z]{4}`)

// login runs gh auth login, and confirms its code as the person does whose browser shows the page.
func (g *signedIn) login(s *apitest.Server, a *account.Account, host string) {
	g.t.Helper()
	c := g.command("gh", "auth", "login", "--hostname", host, "--web", "--git-protocol", "https")
	c.Stdin = strings.NewReader("\n")
	printed, err := c.StderrPipe()
	testkit.NoError(g.t, err)
	testkit.NoError(g.t, c.Start())
	var all strings.Builder
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if code := oneTimeCode.FindString(lines.Text()); code != "" {
			s.Check(g.t, apitest.Case{Do: "POST /login/device", Status: 200,
				Send: "answer=allow&user_code=" + code,
				Headers: map[string]string{"Accept": "text/html",
					"Content-Type": "application/x-www-form-urlencoded",
					"Cookie":       session.Cookie + "=" + s.PasswordSession(g.t, a.Login)}})
		}
	}
	if err := c.Wait(); err != nil {
		g.t.Fatalf("gh auth login: %v\n%s", err, &all)
	}
}

// behindTLS serves the server as https://hub.example.org, for those who reach it through a proxy.
func behindTLS(t *testing.T, s *apitest.Server) []string {
	t.Helper()
	certificate, file := certificateFor(t, "hub.example.org")
	secure := httptest.NewUnstartedServer(s.Server)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || !strings.HasSuffix(r.Host, "hub.example.org:443") {
			http.Error(w, "only hub.example.org", http.StatusForbidden)
			return
		}
		to, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		go func() { _, _ = io.Copy(to, buffered) }()
		_, _ = io.Copy(from, to)
	}))
	t.Cleanup(proxy.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "SSL_CERT_FILE=" + file,
		"GIT_SSL_CAINFO=" + file, "GH_HOST=hub.example.org"}
}

// certificateFor creates a self-signed certificate and its file.
func certificateFor(t *testing.T, host string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host},
		DNSNames:  []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	testkit.NoError(t, err)
	file := filepath.Join(t.TempDir(), "cert.pem")
	testkit.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		0o600))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}
