package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"

	"github.com/alecthomas/kong"
)

// mistake is a command line that is wrong, and its answer.
type mistake struct {
	args   string
	status int
	want   string // {taken} is an address in use, {dir} a folder with a file
}

// What people get wrong most often is answered in one line that says what is wrong and how to go on.
func TestMistakes(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.NoError(t, err)
	defer taken.Close()
	dir := t.TempDir()
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("listne: x\n"), 0o600))
	settings := smallStore(t)
	fill := strings.NewReplacer("{taken}", taken.Addr().String(), "{dir}", dir)
	for _, m := range slices.Concat(serverMistakes, peopleMistakes, repositoryMistakes, storeMistakes) {
		args, want := fill.Replace(m.args), fill.Replace(m.want)
		status, lines := say(t, settings, strings.Fields(args))
		if last := lines[len(lines)-1]; status != m.status || !strings.Contains(last, want) || len(lines) > 2 {
			t.Errorf("arbor %s: status %d, %s\nwant %d, %s", args, status, strings.Join(lines, "\n"), m.status, want)
		}
	}
}

// smallStore makes a store, and a file of settings that names it.
func smallStore(t *testing.T) (settings string) {
	settings = filepath.Join(t.TempDir(), "settings")
	testkit.NoError(t, os.WriteFile(settings, []byte("data: "+filepath.Join(t.TempDir(), "data")), 0o600))
	for _, args := range []string{"user create alice", "user create bob", "org create acme --owner alice",
		"repo create alice/garden", "repo create alice/diary --private", "repo create acme/site"} {
		if status, lines := say(t, settings, strings.Fields(args)); status != 0 {
			t.Fatal(args, lines)
		}
	}
	return settings
}

// say runs a command with the system's file of settings, and returns what it prints for people.
func say(t *testing.T, settings string, args []string) (status int, lines []string) {
	var out, stderr bytes.Buffer
	status = run(t.Context(), time.Now(), settings, args, &out, &stderr)
	return status, strings.Split(strings.TrimSpace(stderr.String()), "\n")
}

var serverMistakes = []mistake{
	{"serv", 2, `unexpected argument serv, did you mean one of "serve", "user"? (see arbor --help)`},
	{"help nothing", 2, `unexpected argument nothing (see arbor --help)`},
	{"serve --listne x", 2, `unknown flag --listne, did you mean "--listen"? (see arbor serve --help)`},
	{"serve --memory lots", 2, `--memory: "lots" is not a size like 512MiB or 4GiB (see arbor serve --help)`},
	{"serve --log-level x", 2, `--log-level must be one of "debug","info","warn","error" but got "x" (see arbor serve --help)`},
	{"serve --base-url x", 2, `--base-url must be a scheme and a host, like https://code.example.org, not "x"`},
	{"serve --bundle-size auto", 2, `--bundle-size must be a size, or 0`},
	{"serve --trust-proxy x", 2, `--trust-proxy: "x" is not a network like 10.0.0.0/8`},
	{"serve --listen 8080", 1, `invalid listen address "8080": want HOST:PORT, such as 127.0.0.1:8080, or unix:PATH`},
	{"serve --listen {taken}", 1, `cannot listen on {taken}: the address is in use, perhaps by another arbor; choose another port`},
	{"serve --listen 127.0.0.1:0 --admin-listen {taken}", 1, `cannot listen on {taken}: the address is in use`},
	{"serve --listen 127.0.0.1:0 --ssh-listen {taken}", 1, `cannot listen on {taken}: the address is in use`},
	{"serve --listen 127.0.0.1:0 --http-redirect {taken} --base-url https://localhost", 1, `cannot listen on {taken}: the address is in use`},
	{"serve --tls-cert x", 2, `--tls-cert and --tls-key go together: --tls-key is missing (see arbor serve --help)`},
	{"serve --tls-cert none --tls-key none", 1, `the TLS certificate: stat none: no such file or directory`},
	{"serve --http-redirect :80", 2, `--http-redirect requires --base-url https://HOST or --acme-domain`},
	{"serve --ssh-url x", 2, `--ssh-url requires --ssh-listen (see arbor serve --help)`},
	{"serve --config none.yaml", 2, `--config: open none.yaml: no such file or directory (see arbor --help)`},
	{"serve --config {dir}/file", 2, `{dir}/file:1: unknown key "listne": keys are the flags of arbor serve, without --`},
	{"serve --ephemeral --replica postgres://localhost/arbor", 2,
		`--ephemeral keeps its store in a temporary folder, in SQLite: leave --replica out`},
	{"serve --replica postgres://localhost/arbor", 1, `a replica needs a database of PostgreSQL`},
	{"serve --ephemeral --seed none.yaml", 1, `cannot open none.yaml: no such file or directory`},
	{"serve --ephemeral --seed {dir}/file", 1, `{dir}/file:1: listne: unknown key: want oauth_apps, orgs, plants, repos, require_two_factor, sign_up, start, users`},
	{"serve --data /proc/x", 1, `cannot create /proc/x: no such file or directory`},
	{"serve --data {dir}/file", 1, `{dir}/file is a file: use the data folder`},
	{"demo --listen {taken}", 1, `cannot listen on {taken}: the address is in use`},
	{"demo --seed none.yaml", 1, `cannot open none.yaml: no such file or directory`},
	{"doctor --json x", 2, `unexpected argument x (see arbor doctor --help)`},
	{"completion -c tcsh", 2, `must be one of "bash","zsh","fish","" but got "tcsh"`},
}

var peopleMistakes = []mistake{
	{"user creat x", 2, `unexpected argument creat, did you mean "create"? (see arbor user --help)`},
	{"user create", 2, `expected "<login>" (see arbor user create --help)`},
	{"user create alice", 1, `the login "alice" is taken by a user`},
	{"user create carol dave", 2, `unexpected argument dave (see arbor user create --help)`},
	{"user create carol --email x", 1, `"x" is not an e-mail address`},
	{"user show nobody", 1, `user "nobody" not found`},
	{"user suspend acme", 1, `user "acme" not found`},
	{"user rename alice bob", 1, `the login "bob" is taken`},
	{"user delete alice --yes", 1, `"alice" owns repositories, transfer or delete them first: alice/diary, alice/garden`},
	{"user quota alice --repos many", 2, `--repos: "many" is not a number of repositories, none or default`},
	{"user email verify alice a@example.org", 1, `"alice" has no address "a@example.org": add it first`},
	{"oauth-app restrict nobody", 1, `organization "nobody" not found`},
	{"oauth-app restrict alice", 1, `"alice" is not an organization`},
	{"oauth-app approve acme x", 1, `OAuth App "x" not found`},
	{"oauth-app policy nobody", 1, `organization "nobody" not found`},
	{"user key add alice /none", 1, `cannot open /none: no such file or directory`},
	{"user key add alice {dir}/file", 1, `key is invalid. You must supply a key in OpenSSH public key format`},
	{"user key remove alice 9", 1, `"alice" has no key 9`},
	{"org create guild", 2, `missing flags: --owner=LOGIN (see arbor org create --help)`},
	{"org create guild --owner nobody", 1, `user "nobody", the owner of the organization, not found`},
	{"org create guild --owner acme", 1, `"acme" is an organization: only a user can own one`},
	{"org delete alice --yes", 1, `organization "alice" not found`},
	{"org delete acme --yes", 1, `"acme" owns repositories, transfer or delete them first: acme/site`},
	{"token create alice --scopes repos", 2, `scope "repos"`},
	{"token create alice --expires 90", 2, `invalid expiry "90": write it as 90d, 12h, 30s or 2027-01-31`},
	{"token create alice --permission write", 2, `--permission requires --repos (see arbor token create --help)`},
	{"token create alice --scopes repo --repos alice/garden", 2, `--scopes and --repos cannot be used together`},
	{"token create bob --repos alice/diary", 1, `repository "alice/diary" not found, or bob cannot see it`},
	{"token create acme", 1, `"acme" is an organization: only users hold tokens`},
	{"token revoke nothing", 1, `token not found: arbor token list shows the ids of all tokens`},
	{"app create alice", 2, `the App has no name or no url: set them in the manifest, or with --name and --url`},
	{"app create nobody --name x --url https://x.example", 1, `user or organization "nobody", the owner of the App, not found`},
	{"app install none alice", 1, `App "none" not found`},
	{"oauth-app rotate-key x", 2, `unexpected argument x (see arbor oauth-app rotate-key --help)`},
	{"app remove none", 2, `this deletes the App none and cannot be undone: confirm it with --yes`},
	{"audit --since 7", 2, `--since: invalid time "7": want an age such as 7d or 12h, or a date such as 2027-01-31 (see arbor audit --help)`},
	{"audit --action x", 2, `--action: unknown action "x" (see arbor audit --help)`},
	{"audit -n 0", 2, `-n must be from 1 to 100000 (see arbor audit --help)`},
}

var repositoryMistakes = []mistake{
	{"repo create x", 2, `"x" is not OWNER/NAME (see arbor repo create --help)`},
	{"repo create nobody/x", 1, `user or organization "nobody" not found`},
	{"repo create alice/garden", 1, `arbor: name already exists on this account`},
	{"repo create alice/new --import /none", 1, `cannot read a repository at "/none": repository '/none' does not exist`},
	{"repo list nobody", 1, `user or organization "nobody" not found`},
	{"repo archive alice/none", 1, `repository "alice/none" not found`},
	{"repo transfer alice/garden nobody", 1, `arbor: new_owner: No account has this login.`},
	{"repo transfer alice/garden a/b/c", 2, `"a/b/c" is not NEW_OWNER or NEW_OWNER/NEW_NAME`},
	{"repo delete alice/garden", 2, `this deletes alice/garden, which can be restored within 30 days: confirm it with --yes (see arbor repo delete --help)`},
	{"repo delete alice/none --yes", 1, `repository "alice/none" not found`},
	{"repo give-back alice/garden", 1, `only a hidden fork whose root was deleted can be given back`},
	{"repo purge alice/garden", 2, `missing flags: --unreachable or --commit=SHA (see arbor repo purge --help)`},
	{"repo purge alice/garden --commit abcd --yes", 1, `object abcd not found`},
	{"repo key remove alice/garden 9", 1, `alice/garden has no key 9`},
	{"mirror add alice/garden file:///x", 1, `remote_url must be an address that begins with https://, http:// or ssh://`},
	{"mirror add alice/garden ssh://alice:secret@example.org/x", 1, `remote_url must not contain a password: the server signs in with a key pair`},
	{"mirror accept alice/garden MD5:12", 1, `invalid fingerprint: want that of a host key, as shown by ssh-keygen -l: SHA256:...`},
	{"mirror sync alice/garden", 1, `alice/garden is not a mirror`},
	{"mirror remove alice/garden --push 9", 1, `alice/garden has no such push mirror`},
	{"issue pin alice/garden#1", 2, `missing flags: --as=LOGIN (see arbor issue pin --help)`},
	{"issue pin alice/garden --as alice", 2, `"alice/garden" is not OWNER/NAME#NUMBER`},
	{"issue pin alice/garden#9 --as alice", 1, `issue "alice/garden#9" not found`},
	{"issue pin alice/garden#9 --as bob", 1, `not allowed as bob: Must have push access to Repository.`},
	{"issue delete alice/garden#9 --as bob --yes", 1, `not allowed as bob: Must have admin rights to Repository.`},
	{"issue pin alice/diary#1 --as bob", 1, `repository "alice/diary" not found, or bob cannot see it`},
	{"issue delete alice/garden#1 --as alice", 2, `this deletes alice/garden#1 and cannot be undone: confirm it with --yes`},
}

var storeMistakes = []mistake{
	{"backup {dir}", 1, `{dir} is not empty and holds no backup: it has a file file`},
	{"backup {dir}/file", 1, `{dir}/file is a file: use arbor backup - > {dir}/file`},
	{"backup verify {dir}", 1, `{dir} holds no finished backup`},
	{"restore /none", 1, `cannot open /none: no such file or directory`},
	{"restore {dir}", 1, `{dir} holds no finished backup`},
	{"database move mysql://x", 1, `unsupported database "mysql": want postgres://USER:PASSWORD@HOST/NAME or the path of a SQLite file`},
	{"objects move --to /srv", 1, `invalid address of a depot: want file:///PATH or s3://BUCKET/PREFIX?endpoint=URL&region=NAME`},
	{"objects move --to s3://key:secret@bucket", 1, `the address of a bucket must not contain access keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead`},
	{"objects move", 2, `missing flags: --to=URL`},
	{"database vacuum x", 2, `unexpected argument x (see arbor database vacuum --help)`},
	{"user list --database {dir}/file", 1, `cannot open the database {dir}/file: file is not a database`},
	{"check --data {dir}", 1, `no store found: {dir}/arbor.db does not exist`},
	{"mail receive --mail-reply alice", 2, `the address of replies must have %s before the @`},
	{"mail receive --mail-reply r+%s@x.example --data {dir}", 75, `the mail waits: no store found: {dir}/arbor.db does not exist`},
}

// Each command answers these in one line, whatever else it does: a flag that it does not have, an argument too few or
// too many, a folder without a store, a file in place of the folder, a database that is down.
func TestMistakesOfEachCommand(t *testing.T) {
	t.Parallel()
	settings := smallStore(t)
	file := filepath.Join(t.TempDir(), "file")
	testkit.NoError(t, os.WriteFile(file, []byte("{}"), 0o600))
	parser, _ := model(t)
	for _, leaf := range parser.Model.Leaves(true) {
		call := callOf(leaf, file)
		words := strings.Fields(leaf.FullPath())[1:]
		rows := []mistake{
			{strings.Join(call, " ") + " --nosuch", 2, "unknown flag --nosuch"},
		}
		if len(leaf.Positional) > 0 && leaf.Positional[0].Required {
			rows = append(rows, mistake{strings.Join(words, " "), 2, "see arbor"})
		}
		if leaf.Name != "help" {
			rows = append(rows, mistake{strings.Join(call, " ") + " --yes-extra", 2, "unknown flag"},
				mistake{strings.Join(append(full(leaf, call), "extra"), " "), 2, "unexpected argument extra"})
		}
		if opensStore(leaf) {
			rows = append(rows,
				mistake{strings.Join(call, " ") + " --data /none", 1, "no store found: /none/arbor.db does not exist. Use --data"},
				mistake{strings.Join(call, " ") + " --data " + file, 1, file + " is a file: use the data folder"},
				mistake{strings.Join(call, " ") + " --database postgres://localhost:1/x", 1, "the database cannot be reached: check that PostgreSQL runs"})
		}
		for _, m := range rows {
			status, lines := say(t, settings, strings.Fields(m.args))
			if status != m.status || len(lines) != 1 || !strings.Contains(lines[0], m.want) {
				t.Errorf("arbor %s: status %d, %s\nwant %d, %s", m.args, status, strings.Join(lines, "\n"), m.status, m.want)
			}
		}
	}
}

// opensStore reports whether a command works on a store that must be there.
func opensStore(leaf *kong.Node) bool {
	return slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "data" }) &&
		!slices.Contains([]string{"arbor serve", "arbor doctor", "arbor restore", "arbor user create",
			"arbor mail receive"}, leaf.FullPath())
}

// callOf is a command line that the command takes, without optional arguments.
func callOf(leaf *kong.Node, file string) []string {
	call := strings.Fields(leaf.FullPath())[1:]
	for _, p := range leaf.Positional {
		if p.Required {
			call = append(call, argumentFor(p.Name, file))
		}
	}
	for _, f := range leaf.Flags {
		switch {
		case f.Name == "yes", f.Name == "unreachable":
			call = append(call, "--"+f.Name)
		case f.Required && f.Name != "commit":
			call = append(call, "--"+f.Name+"=alice")
		case f.Name == "manifest":
			call = append(call, "--name=x", "--url=https://x.example")
		}
	}
	return call
}

// full adds the optional arguments.
func full(leaf *kong.Node, call []string) []string {
	call = slices.Clone(call)
	for _, p := range leaf.Positional {
		if !p.Required {
			value := "alice"
			if p.Name == "shell" {
				value = "bash"
			}
			call = append(call, value)
		}
	}
	return call
}

func argumentFor(name, file string) string {
	switch {
	case strings.Contains(name, "#"):
		return "alice/garden#1"
	case strings.Contains(name, "owner/"):
		return "alice/garden"
	case name == "id":
		return "1"
	case name == "file", name == "source":
		return file
	case name == "target":
		return "-"
	case name == "url":
		return "postgres://localhost:1/x"
	}
	return "alice"
}
