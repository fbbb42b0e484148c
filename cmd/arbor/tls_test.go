package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// program runs a program that must succeed, and gives what it prints.
func program(t testing.TB, s *instance, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// An operator without a proxy has the server speak TLS itself. Then curl and git must find
// it there, also after the certificate was renewed.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	needProgram(t, "curl", "TLS with curl")
	needProgram(t, "openssl", "TLS with openssl")
	dir := t.TempDir()
	certFile, keyFile := testkit.Certificate(t, dir)
	redirect := testkit.FreeAddress(t)
	s := serving(t, db.SQLite, "--tls-cert", certFile, "--tls-key", keyFile,
		"--http-redirect", redirect, "--base-url", "https://localhost:1")
	s.user("alice")
	s.repo("alice/garden", "")
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it listens on %s", s.url)
	}
	at := strings.TrimPrefix(s.url, "https://")
	const form = "%{http_version} %{http_code} %{redirect_url}"
	for _, c := range []struct{ args, want string }{
		{"--http2 " + s.url + "/healthz", "2 200 "},
		{"--http1.1 " + s.url + "/healthz", "1.1 200 "},
		{"http://" + redirect + "/alice/garden?x=1", "1.1 308 https://localhost:1/alice/garden?x=1"},
		{"-H Host:evil.example http://" + redirect + "/", "1.1 308 https://localhost:1/"},
		{"-H Host:localhost:9 -d x http://" + redirect + "/user/repos",
			"1.1 308 https://localhost:1/user/repos"},
	} {
		args := append(strings.Fields("-s -o /dev/null --cacert "+certFile), "-w", form)
		if got := program(t, s, "curl", append(args, strings.Fields(c.args)...)...); got != c.want {
			t.Errorf("curl %s: %q, want %q", c.args, got, c.want)
		}
	}
	for version, want := range map[string]string{"-tls1_2": "TLSv1.2", "-tls1_3": "TLSv1.3"} {
		out := program(t, s, "openssl", "s_client", "-connect", at, version, "-alpn", "h2,http/1.1",
			"-CAfile", certFile, "-verify_return_error")
		if !strings.Contains(out, want) || !strings.Contains(out, "ALPN protocol: h2") {
			t.Errorf("openssl %s:\n%s", version, out)
		}
	}
	old := exec.Command("openssl", "s_client", "-connect", at, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
	if out, err := old.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "alert protocol version") {
		t.Errorf("TLS 1.1: %v\n%s", err, out)
	}
	tlsGit(t, s, certFile)
	// The same over a certificate that is new. curl trusts nothing else.
	testkit.Certificate(t, dir)
	testkit.Eventually(t, func() bool {
		return exec.Command("curl", "-s", "--cacert", certFile, s.url+"/healthz").Run() == nil
	}, "the renewed certificate is served", s.log.String)
}

// tlsGit pushes and clones, by HTTP/2 and HTTP/1.1.
func tlsGit(t *testing.T, s *instance, certFile string) {
	t.Helper()
	source := gittest.Repository(t, 5, 3)
	remote := strings.Replace(s.url, "://", "://alice:"+s.tokens["alice"]+"@", 1) + "/alice/garden.git"
	for _, version := range []string{"HTTP/2", "HTTP/1.1"} {
		copied := filepath.Join(t.TempDir(), "copy")
		common := []string{"-c", "http.sslCAInfo=" + certFile, "-c", "http.version=" + version}
		program(t, s, "git", append(common, "-C", source, "push", "-q", remote,
			"main:refs/heads/"+strings.ToLower(version))...)
		program(t, s, "git", append(common, "clone", "-q", "--bare", remote, copied)...)
		if got, want := gittest.Run(t, copied, "rev-parse", "refs/heads/"+strings.ToLower(version)),
			gittest.Run(t, source, "rev-parse", "main"); got != want {
			t.Errorf("%s: cloned %s, want %s", version, got, want)
		}
	}
}

// Flags that cannot be meant are refused before anything is opened, with the flag's name.
func TestTLSFlags(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	certFile, keyFile := testkit.Certificate(t, t.TempDir())
	_, otherKey := testkit.Certificate(t, t.TempDir())
	for want, flags := range map[string][]string{
		"--tls-key is missing":                    {"--tls-cert", certFile},
		"--tls-cert is missing":                   {"--tls-key", keyFile},
		"private key does not match public key":   {"--tls-cert", certFile, "--tls-key", otherKey},
		"no such file":                            {"--tls-cert", certFile, "--tls-key", keyFile + "x"},
		"--tls-cert and --acme-domain cannot be":  {"--tls-cert", certFile, "--tls-key", keyFile, "--acme-domain", "code.example.org"},
		"require --acme-domain":                   {"--acme-email", "a@example.org"},
		"requires --base-url https://HOST":        {"--http-redirect", "127.0.0.1:0"},
		"is not a domain":                         {"--acme-domain", "code.example.org,10.0.0.1"},
		"must be an https address":                {"--acme-domain", "code.example.org", "--acme-directory", "http://x"},
		"cannot be used together: use --tls-cert": {"--acme-domain", "code.example.org", "--ephemeral"},
		"all addresses begin with https:":         {"--acme-domain", "code.example.org", "--base-url", "http://code.example.org"},
	} {
		if got := s.refused(flags...); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %q", flags, got, want)
		}
	}
}

// An authority in the tests is Pebble, the one that Let's Encrypt tests clients with.
func TestACME(t *testing.T) {
	t.Parallel()
	needProgram(t, "pebble", "ACME")
	needProgram(t, "pebble-challtestsrv", "ACME")
	for _, way := range []string{"TLS-ALPN-01", "HTTP-01"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			listen, redirect := testkit.FreeAddress(t), testkit.FreeAddress(t)
			proofs := listen
			if way == "HTTP-01" {
				proofs = testkit.FreeAddress(t) // where nobody proves anything
			}
			directory, roots, authority := pebble(t, proofs, redirect)
			s := newInstance(t, db.SQLite)
			s.env = append(s.env, "SSL_CERT_FILE="+authority,
				"ARBOR_ACME_DOMAIN=code.example.org,git.example.org", "ARBOR_LISTEN="+listen)
			flags := []string{"--acme-email", "alice@example.org", "--acme-directory", directory,
				"--http-redirect", redirect}
			s.start(flags...)
			there := "the TLS certificate is there"
			testkit.Eventually(t, func() bool { return strings.Count(s.log.String(), there) == 2 },
				"two certificates", s.log.String)
			_, port, _ := net.SplitHostPort(listen)
			ask := func(name string) string {
				return program(t, s, "curl", "-sS", "--cacert", roots, "--resolve",
					name+":"+port+":127.0.0.1", "https://"+name+":"+port+"/healthz")
			}
			for _, name := range []string{"code.example.org", "git.example.org"} {
				if got := ask(name); got != "ok\n" {
					t.Errorf("%s: %q", name, got)
				}
			}
			other := exec.Command("curl", "-sk", "--resolve", "evil.example.org:"+port+":127.0.0.1",
				"https://evil.example.org:"+port+"/")
			if out, err := other.CombinedOutput(); err == nil {
				t.Errorf("a name that nobody configured has a certificate: %s", out)
			}
			kept := filepath.Join(s.data, "acme")
			if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the folder of keys: %v, %v", info, err)
			}
			s.stop()
			s.env = append(s.env, "SSL_CERT_FILE=/dev/null") // the authority is gone
			s.start(flags...)
			if got := ask("code.example.org"); got != "ok\n" {
				t.Errorf("after a restart: %q\n%s", got, s.log)
			}
		})
	}
}

// pebble runs an authority that asks for proofs at two addresses. It gives the address of its
// directory, a file with the root of its certificates, and one with its own certificate.
func pebble(t *testing.T, tlsProofs, httpProofs string) (directory, roots, own string) {
	t.Helper()
	dir := t.TempDir()
	own, key := testkit.Certificate(t, dir)
	listen, manage, names := testkit.FreeAddress(t), testkit.FreeAddress(t), testkit.FreeAddress(t)
	port := func(address string) string { _, p, _ := net.SplitHostPort(address); return p }
	config := filepath.Join(dir, "pebble.json")
	text := `{"pebble": {"listenAddress": "` + listen + `", "managementListenAddress": "` + manage +
		`", "certificate": "` + own +
		`", "privateKey": "` + key + `", "httpPort": ` + port(httpProofs) + `, "tlsPort": ` +
		port(tlsProofs) + `}}`
	testkit.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	said := &logBuffer{}
	run := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Stdout, cmd.Stderr = said, said
		cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0",
			"SSL_CERT_FILE="+own)
		testkit.NoError(t, cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	run("pebble-challtestsrv", "-defaultIPv6", "", "-defaultIPv4", "127.0.0.1", "-dns01", names,
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-management", "")
	run("pebble", "-config", config, "-dnsserver", names)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: testkit.Trusting(t, own)}}
	roots = filepath.Join(dir, "roots.pem")
	testkit.Eventually(t, func() bool {
		res, err := client.Get("https://" + manage + "/roots/0")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		root, err := io.ReadAll(res.Body)
		return err == nil && res.StatusCode == http.StatusOK && os.WriteFile(roots, root, 0o600) == nil
	}, "an answer of pebble", said.String)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, names)
	}}
	testkit.Eventually(t, func() bool {
		_, err := resolver.LookupHost(t.Context(), "arbor.test.")
		return err == nil
	}, "an answer of its name server", said.String)
	return "https://" + listen + "/dir", roots, own
}
