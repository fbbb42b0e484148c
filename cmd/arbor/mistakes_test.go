package main

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"time"
)

// What people get wrong most often is answered in one line that says what is wrong and how to go on.
func TestMistakes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("ARBOR_DATA", t.TempDir()+"/data")
	must := func(args ...string) {
		var out bytes.Buffer
		if status := run(t.Context(), time.Now(), "", args, &out, &out); status != 0 {
			t.Fatal(args, out.String())
		}
	}
	must("user", "create", "alice")
	must("repo", "create", "alice/garden")
	for _, c := range []struct {
		args   string
		status int
		want   string // {taken} is an address in use
	}{
		// misspelt
		{"serv", 2, `unexpected argument serv, did you mean one of "serve", "user"? (see arbor --help)`},
		{"user creat x", 2, `unexpected argument creat, did you mean "create"? (see arbor user --help)`},
		{"serve --listne x", 2, `unknown flag --listne, did you mean "--listen"? (see arbor serve --help)`},
		{"help nothing", 2, `unexpected argument nothing (see arbor --help)`},
		{"token create alice --scopes repos", 2, `scope "repos"`},
		{"audit --since 7", 2, `--since: invalid time "7": want an age such as 7d or 12h, or a date such as 2027-01-31 (see arbor audit --help)`},
		{"audit --action x", 2, `--action: unknown action "x" (see arbor audit --help)`},
		{"serve --memory lots", 2, `--memory: "lots" is not a size like 512MiB or 4GiB (see arbor serve --help)`},
		{"serve --listen 8080", 1, `invalid listen address "8080": want HOST:PORT, such as 127.0.0.1:8080, or unix:PATH`},
		// missing
		{"user create", 2, `expected "<login>" (see arbor user create --help)`},
		{"repo create x", 2, `"x" is not OWNER/NAME (see arbor repo create --help)`},
		{"issue pin alice/garden#1", 2, `missing flags: --as=LOGIN (see arbor issue pin --help)`},
		{"repo purge alice/garden", 2, `missing flags: --unreachable or --commit=SHA (see arbor repo purge --help)`},
		{"serve --tls-cert x", 2, `--tls-cert and --tls-key go together: --tls-key is missing (see arbor serve --help)`},
		{"repo delete alice/garden", 2, `this deletes alice/garden and cannot be undone: confirm it with --yes (see arbor repo delete --help)`},
		// there already, or not there
		{"user create alice", 1, `the login "alice" is taken by a user`},
		{"user show nobody", 1, `there is no user "nobody"`},
		{"repo create nobody/x", 1, `user or organization "nobody" not found`},
		{"repo delete alice/none --yes", 1, `repository "alice/none" not found`},
		{"token revoke nothing", 1, `token not found`},
		{"user key add alice /none", 1, `cannot open /none: no such file or directory`},
		{"restore /none", 1, `cannot open /none: no such file or directory`},
		{"serve --config none.yaml", 2, `--config: open none.yaml: no such file or directory (see arbor --help)`},
		{"serve --ephemeral --seed none.yaml", 1, `cannot open none.yaml: no such file or directory`},
		// the wrong folder, an address that is taken, a database that is down
		{"user list --data /none", 1, `no store found: /none/arbor.db does not exist. Use --data or ARBOR_DATA to name its folder, or start a new one with arbor serve`},
		{"serve --data /proc/x", 1, `cannot create /proc/x: no such file or directory`},
		{"serve --listen {taken}", 1, `cannot listen on {taken}: the address is in use, perhaps by another arbor; choose another port`},
		{"nodes --database postgres://localhost:1/x", 1, "the database cannot be reached: "},
	} {
		args := strings.ReplaceAll(c.args, "{taken}", taken.Addr().String())
		want := strings.ReplaceAll(c.want, "{taken}", taken.Addr().String())
		var out, stderr bytes.Buffer
		status := run(t.Context(), time.Now(), "", strings.Fields(args), &out, &stderr)
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if last := lines[len(lines)-1]; status != c.status || !strings.Contains(last, want) || len(lines) > 2 {
			t.Errorf("arbor %s: status %d, %s\nwant %d, %s", args, status, stderr.String(), c.status, want)
		}
	}
}
