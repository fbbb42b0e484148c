package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"arbor/internal/test/testkit"
)

var updateSettings = flag.Bool("update-settings", false, "rewrite docs/settings.md")

const settingsHead = `# Settings

Every setting of ` + "`arbor serve`" + ` is a flag, an environment variable, or a line of a YAML file: the flag's name
without ` + "`--`" + ` and its value as the flag takes it, or a list where the flag can be repeated. Other commands
take the settings that they share, such as ` + "`data` and `database`" + `, from the same file. The first of these that
sets a value wins; an empty variable counts as unset:

1. a flag
2. the environment
3. the file that ` + "`--config FILE`" + ` or ` + "`ARBOR_CONFIG`" + ` names, in place of the next two
4. ` + "`/etc/arbor/arbor.yaml`" + `, the file of the service. If it sets ` + "`data`" + `, it applies to that folder
   only: ` + "`arbor serve --data OTHER`" + ` does not read it
5. ` + "`arbor.yaml`" + ` in the data folder, which backups do not contain
6. the default

` + "`arbor demo` and `arbor serve --ephemeral`" + ` read only the file of ` + "`--config`" + `. Unknown and
repeated keys and invalid values are errors that name file and line.

` + "```yaml" + `
data: /srv/arbor
listen: 127.0.0.1:8080
memory: 2GiB
acme-domain: [code.example.org, git.example.org]
` + "```" + `

The file may contain the database's password: make it readable only by the server's account
(` + "`chown root:arbor`, `chmod 640`" + `). The tables are generated from the flags by ` + "`make settings`" + `.
`

// model is the command line as run makes it.
func model(t testing.TB) (*kong.Kong, *settingsFile) {
	t.Helper()
	parser, said, err := newParser(&commandLine{}, "", &bytes.Buffer{}, &bytes.Buffer{}, func(int) {})
	testkit.NoError(t, err)
	return parser, said
}

// An operator finds each setting in the documentation, with what it is without being said.
func TestSettingsAreDocumented(t *testing.T) {
	_, said := model(t)
	tables := map[string][]string{}
	for _, f := range said.known {
		value, placeholder := "", strings.Trim(f.PlaceHolder, `"`)
		if f.HasDefault && f.Default != "" {
			value = "`" + f.Default + "`"
		}
		if f.Enum != "" {
			placeholder = strings.ReplaceAll(f.Enum, ",", "\\|")
		}
		if !f.IsBool() && placeholder != "" {
			placeholder = " " + placeholder
		} else {
			placeholder = ""
		}
		no := ""
		if f.IsBool() && f.Tag.Negatable != "" {
			no = "[no-]"
		}
		tables[f.Group.Key] = append(tables[f.Group.Key], fmt.Sprintf(
			"| `%s` | `--%s%s%s` | `%s` | %s | %s |\n", f.Name, no,
			f.Name, placeholder, f.Envs[0], value,
			strings.ReplaceAll(f.Help, "|", "\\|")))
	}
	text := settingsHead
	for _, group := range []string{"Network", "TLS", "SSH", "Access", "Mail", "Storage", "Limits", "Log"} {
		slices.Sort(tables[group])
		text += "\n## " + group + "\n\n| key | flag | environment | default | meaning |\n|---|---|---|---|---|\n" +
			strings.Join(tables[group], "")
		delete(tables, group)
	}
	if len(tables) > 0 {
		t.Errorf("flags of other groups are left out: %v", tables)
	}
	testkit.Written(t, filepath.Join("..", "..", "docs", "settings.md"), text, *updateSettings, "settings")
}

// parse is what commands are told by the system's file of settings, the environment and flags.
func parse(t *testing.T, system string, args ...string) (*commandLine, error) {
	t.Helper()
	var c commandLine
	parser, said, err := newParser(&c, system, io.Discard, io.Discard, func(int) { t.Error("it exits") })
	testkit.NoError(t, err)
	_, err = parser.Parse(args)
	return &c, cmp.Or(said.err, err)
}

// parsed is parse with a file that a flag names.
func parsed(t *testing.T, text string, args ...string) (*commandLine, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "arbor.yaml")
	testkit.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := parse(t, "", append([]string{"--config", file}, args...)...)
	if err != nil {
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), file, "FILE"))
	}
	return c, err
}

// What is said nearer counts: a flag, then the environment, then the file, then the default.
func TestSettingsOfAFile(t *testing.T) {
	const text = "# ours\ndata: /srv/file\nmemory: 2GiB\nrate-limit: 60\nrequire-token: true\nacme-domain: [a.example, b.example]\nlog-format: json\n"
	t.Setenv("ARBOR_RATE_LIMIT", "70")
	t.Setenv("ARBOR_DATA", "/srv/env")
	c, err := parsed(t, text, "serve", "--data", "/srv/flag")
	testkit.NoError(t, err)
	s := &c.Serve
	got := fmt.Sprint(s.Data, s.Memory, s.RateLimit, s.RequireToken, s.ACMEDomain, s.LogFormat, s.Listen)
	if want := "/srv/flag" + fmt.Sprint(byteSize(2<<30), int64(70), true,
		[]string{"a.example", "b.example"}) +
		"json127.0.0.1:8080"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("serve is told %s, want %s", got, want)
	}
	if c, err = parsed(t, text, "user", "list"); err != nil || c.User.List.Data != "/srv/env" {
		t.Errorf("another command: %q, %v", c.User.List.Data, err)
	}
	os.Unsetenv("ARBOR_DATA")
	if c, err = parsed(t, text, "check"); err != nil || c.Check.Data != "/srv/file" {
		t.Errorf("a third command: %q, %v", c.Check.Data, err)
	}
	// The environment names the file, too.
	file := filepath.Join(t.TempDir(), "a.yaml")
	testkit.NoError(t, os.WriteFile(file, []byte("data: "+t.TempDir()+"/none\n"), 0o600))
	t.Setenv("ARBOR_CONFIG", file)
	var stderr bytes.Buffer
	if status := run(t.Context(), time.Now(), "", []string{"check"}, &bytes.Buffer{}, &stderr); status != 1 ||
		!strings.Contains(stderr.String(), "/none") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// A switch that the file or the environment sets can be taken back by a flag, and a variable that is set to
// nothing is none: systemd and compose files often have such.
func TestSwitches(t *testing.T) {
	t.Setenv("ARBOR_REQUIRE_TOKEN", "")
	t.Setenv("ARBOR_RATE_LIMIT", "")
	t.Setenv("ARBOR_MIN_FREE_SPACE", "")
	for _, test := range []struct {
		text string
		args []string
		want bool
	}{
		{"", nil, false}, {"require-token: true\n", nil, true}, {"", []string{"--require-token"}, true},
		{"require-token: true\n", []string{"--no-require-token"}, false},
		{"require-token: false\n", nil, false},
	} {
		c, err := parsed(t, test.text, append([]string{"serve"}, test.args...)...)
		if err != nil || c.Serve.RequireToken != test.want || c.Serve.RateLimit != 0 {
			t.Errorf("%q %q: %v, %v", test.text, test.args, c.Serve.RequireToken, err)
		}
	}
	t.Setenv("ARBOR_REQUIRE_TOKEN", "true")
	for _, args := range [][]string{{"--no-require-token"}, {}} {
		c, err := parsed(t, "", append([]string{"serve"}, args...)...)
		if err != nil || c.Serve.RequireToken != (len(args) == 0) {
			t.Errorf("%q beside the environment: %v, %v", args, c.Serve.RequireToken, err)
		}
	}
	t.Setenv("ARBOR_REQUIRE_TOKEN", "perhaps")
	if _, err := parsed(t, "", "serve"); err == nil {
		t.Error("a switch is set to perhaps")
	}
}

// A setting that is not understood stops the command, with its place, whichever command it is: a
// server that ran without it would be open where it was to be closed.
func TestWrongSettings(t *testing.T) {
	for text, want := range map[string]string{
		"listen: :80\nrequire_token: true\n":        `FILE:2: unknown key "require_token"`,
		"memory: lots\n":                            `FILE:1: memory: "lots" is not a size like 512MiB or 4GiB`,
		"\n\nlog-format: xml\n":                     `FILE:3: log-format: it must be one of text, json, not "xml"`,
		"max-tree-entries: many\n":                  "FILE:1: max-tree-entries: ",
		"require-token: perhaps\n":                  "FILE:1: require-token: ",
		"data: a\ndata: b\n":                        "FILE:2: ",
		"data:\n":                                   "FILE:1: data: it has no value",
		"data: {a: b}\n":                            "FILE:1: data: it takes one value",
		"data: [a, b]\n":                            "FILE:1: data: it takes one value",
		"- data\n":                                  "FILE:1: settings are lines like",
		"data: [\n":                                 "FILE:",
		"config: other.yaml\n":                      `FILE:1: unknown key "config"`,
		"help: true\n":                              `FILE:1: unknown key "help"`,
		"name: alice\n":                             `FILE:1: unknown key "name"`,
		"a: &x 1\ndata: *x\n":                       `FILE:1: unknown key "a"`,
		"data: a\n---\ndata: b\n":                   "FILE:",
		strings.Repeat("# filled\n", maxSettings/8): "FILE: it is larger than",
	} {
		for _, args := range [][]string{{"serve"}, {"user", "list"}} {
			_, err := parsed(t, text, args...)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%.40q for %q: %v, want %s", text, args, err, want)
			}
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if _, err := parsed(t, text, "serve"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	var stderr bytes.Buffer
	args := []string{"serve", "--config", filepath.Join(t.TempDir(), "missing")}
	if status := run(t.Context(), time.Now(), "", args, &bytes.Buffer{}, &stderr); status != 2 ||
		!strings.Contains(stderr.String(), "no such file") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

func FuzzSettings(f *testing.F) {
	for _, text := range []string{"data: a\nmemory: 2GiB\n", "acme-domain: [a, b]\n",
		"data: &a b\nlisten: *a\n", "{}", "- a", "? [a]\n: b\n"} {
		f.Add([]byte(text))
	}
	_, said := model(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		values, err := said.parse(text)
		for key := range values {
			if err != nil || said.flag(key) == nil {
				t.Errorf("%q is read as %q, %v", text, values, err)
			}
		}
	})
}

// Variables that are set to nothing, as scripts and compose files leave them, change nothing: an empty
// address would be all of the machine's, an empty folder the present one. Nor does a version that somebody
// notes for themselves.
func TestEmptyVariables(t *testing.T) {
	for _, name := range []string{"DATA", "LISTEN", "LOG_LEVEL", "MEMORY", "ACME_DOMAIN",
		"REQUIRE_TOKEN", "CONFIG"} {
		t.Setenv("ARBOR_"+name, "")
	}
	t.Setenv("ARBOR_VERSION", "1.4.2")
	c, err := parse(t, "", "serve")
	testkit.NoError(t, err)
	s := &c.Serve
	if s.Data != "./arbor-data" || s.Listen != "127.0.0.1:8080" || s.LogLevel != "info" || s.Memory != 0 ||
		len(s.ACMEDomain) != 0 || s.RequireToken {
		t.Errorf("serve is told %+v", s)
	}
}

// A misspelt variable would be ignored in silence.
func TestUnknownVariables(t *testing.T) {
	parser, _ := model(t)
	got := unknownVariables(parser.Model.Node, []string{"ARBOR_LISEN=x", "ARBOR_LISTEN=x", "ARBOR_TEST_STRICT=1",
		"ARBOR_NONE=", "ARBORETUM=x", "ARBOR_CONFIG=x", "ARBOR_AUDIT_DAY=1"})
	if want := []string{"ARBOR_AUDIT_DAY", "ARBOR_LISEN"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
