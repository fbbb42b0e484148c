package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/doctor"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// mark stands in everything that a report must not tell.
const mark = "kept-to-ourselves"

// told runs the doctor and holds that its report tells nothing marked, in both forms.
func told(t *testing.T, status int, args ...string) *doctor.Report {
	t.Helper()
	var report doctor.Report
	for _, form := range []string{"", "--json"} {
		var stdout, stderr bytes.Buffer
		all := append([]string{"doctor"}, args...)
		if form != "" {
			all = append(all, form)
		}
		if got := run(t.Context(), time.Now(), "", all, &stdout, &stderr); got != status {
			t.Fatalf("arbor %q: status %d, want %d: %s%s", all, got, status, stdout.String(), stderr.String())
		}
		if text := stdout.String(); strings.Contains(strings.ToLower(text), mark) ||
			strings.Contains(text, "@") {
			t.Errorf("the report tells what is the operator's own:\n%s", text)
		}
		if form != "" {
			testkit.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
		}
	}
	return &report
}

func statusOf(r *doctor.Report, name string) doctor.Status {
	for _, c := range r.Checks {
		if c.Name == name {
			return c.Status
		}
	}
	return "missing"
}

// A person who attaches a report to a bug gives nothing away: not what settings say, not who and
// what is on the server, also not where something fails with it.
func TestDoctorKeepsSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), mark)
	_, said := model(t)
	args, marked := []string{}, 0
	for _, f := range said.known {
		if f.Enum != "" || f.Name == "data" || f.Name == "database" || f.IsBool() || f.Target.CanInt() ||
			f.Name == "min-free-space" || f.Name == "text-rate" {
			continue
		}
		marked++
		args = append(args, "--"+f.Name, mark+"-"+f.Name)
	}
	if marked < 10 {
		t.Fatalf("only %d settings are free text", marked)
	}
	file := filepath.Join(t.TempDir(), mark+".yaml")
	testkit.NoError(t, os.WriteFile(file, []byte("rate-limit: 7\n"), 0o600))
	args = append(args, "--config", file)

	r := told(t, statusUnsound, append(args, "--data", dir)...)
	if got := statusOf(r, "data folder"); got != doctor.Fail {
		t.Errorf("no data folder: %s", got)
	}
	for name, want := range map[string]string{"base-url": "(set)", "acme-domain": "(set)", "listen": "(set)",
		"config":   "(set)",
		"database": "(not set)", "rate-limit": "7", "log-format": "text", "require-token": "false"} {
		if r.Settings[name] != want {
			t.Errorf("%s: %q, want %q", name, r.Settings[name], want)
		}
	}
	// A database that does not answer says the password in no error.
	testkit.NoError(t, os.MkdirAll(dir, 0o755))
	url := "postgres://" + mark + ":" + mark + "@127.0.0.1:1/" + mark + "?connect_timeout=1"
	r = told(t, statusUnsound, append(args, "--data", dir, "--database", url)...)
	if statusOf(r, "database") != doctor.Fail {
		t.Errorf("a database that is not there: %+v", r)
	}
}

// The doctor of a store in order says so, whatever is in it.
func TestDoctorOfAStore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstanceIn(t, engine, filepath.Join(t.TempDir(), mark))
		defer s.finish()
		store := []string{"--data", s.data}
		if s.database != "" {
			store = append(store, "--database", s.database)
		}
		for _, args := range [][]string{
			{"user", "create", mark, "--name", mark, "--email", mark + "@arbor.example"},
			{"token", "create", mark, "--note", mark},
			{"repo", "create", mark + "/" + mark, "--private", "--description", mark},
		} {
			var stderr bytes.Buffer
			if status := run(t.Context(), time.Now(), "", append(args, store...), &bytes.Buffer{},
				&stderr); status != 0 {
				t.Fatalf("arbor %q: %s", args, stderr.String())
			}
		}
		testkit.NoError(t, os.Chmod(s.data, 0o755))
		r := told(t, 0, store...)
		for _, name := range []string{"program", "machine", "git", "clock", "schema", "size", "packings",
			"test merges", "pushed commits", "data folder"} {
			if got := statusOf(r, name); got != doctor.OK { // the first run closed the folder
				t.Errorf("%s: %s", name, got)
			}
		}
		if got := statusOf(r, "database"); got != doctor.OK && engine == db.SQLite ||
			got == "missing" { // tests run PostgreSQL without fsync
			t.Errorf("database: %s", got)
		}
	})
}

// The doctor asks identity providers and directories whether people can sign in with them, and does not tell who they are.
func TestDoctorAsksProviders(t *testing.T) {
	t.Parallel()
	var issuer *httptest.Server
	issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/.well-known/openid-configuration" {
			fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": "%[1]s/keys", "authorization_endpoint": "%[1]s/auth",
				"token_endpoint": "%[1]s/token"}`, issuer.URL)
			return
		}
		fmt.Fprint(w, `{"keys": []}`)
	}))
	defer issuer.Close()
	file := filepath.Join(t.TempDir(), mark+".yaml")
	for text, want := range map[string]map[string]doctor.Status{
		fmt.Sprintf(`providers: [{name: %s, issuer: %q, client_id: x}]`, mark, issuer.URL): {
			"identity provider 1": doctor.OK},
		fmt.Sprintf(`providers: [{name: %s, issuer: "http://127.0.0.1:1", client_id: x}]`, mark): {
			"identity provider 1": doctor.Fail},
		fmt.Sprintf(`directories: [{name: %s, servers: ['ldap://127.0.0.1:1'], base: 'dc=%[1]s'}]`, mark): {
			"directory 1": doctor.Fail},
		`providers: [{}]`: {"identity providers": doctor.Fail},
	} {
		testkit.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		report := told(t, statusUnsound, "--data", filepath.Join(t.TempDir(), "none"), "--sign-in-file", file)
		for name, status := range want {
			if got := statusOf(report, name); got != status {
				t.Errorf("%s: %s is %s, want %s", text, name, got, status)
			}
		}
	}
}
