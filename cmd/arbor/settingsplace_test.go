package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// A server and the commands on its store find the same settings, wherever they are run: in the system's file,
// and then in the data folder's own. What stands nearer to the command counts.
func TestSettingsAreFound(t *testing.T) {
	dir := t.TempDir()
	data, other, etc := filepath.Join(dir, "data"), filepath.Join(dir, "other"), filepath.Join(dir, "etc.yaml")
	for _, folder := range []string{data, other} {
		testkit.NoError(t, os.Mkdir(folder, 0o700))
	}
	write := func(file, text string) {
		t.Helper()
		testkit.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write(etc, "data: "+data+"\ndatabase: etc.db\nlisten: :1\n")
	write(filepath.Join(data, "arbor.yaml"), "database: own.db\nrate-limit: 7\n")
	write(filepath.Join(other, "arbor.yaml"), "database: other.db\n")
	write(filepath.Join(dir, "config.yaml"), "rate-limit: 9\n")
	// serve is what a server is told: folder, database, address, limit.
	serve := func(env map[string]string, args ...string) string {
		t.Helper()
		for name, value := range env {
			t.Setenv(name, value)
			defer os.Unsetenv(name)
		}
		c, err := parse(t, etc, append([]string{"serve"}, args...)...)
		testkit.NoError(t, err)
		s := &c.Serve
		text := fmt.Sprint(s.Data, " ", s.Database, " ", s.Listen, " ", s.RateLimit)
		return strings.ReplaceAll(strings.ReplaceAll(text, data, "DATA"), other, "OTHER")
	}
	for _, test := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, nil, "DATA etc.db :1 7"},
		{nil, []string{"--data", data}, "DATA etc.db :1 7"},
		{nil, []string{"--data", other}, "OTHER other.db 127.0.0.1:8080 0"},
		{map[string]string{"ARBOR_DATA": other}, nil, "OTHER other.db 127.0.0.1:8080 0"},
		{map[string]string{"ARBOR_DATABASE": "env.db"}, []string{"--listen", ":2"}, "DATA env.db :2 7"},
		{nil, []string{"--config", filepath.Join(dir, "config.yaml")}, "./arbor-data  127.0.0.1:8080 9"},
		{nil, []string{"--ephemeral"}, "./arbor-data  127.0.0.1:8080 0"},
	} {
		if got := serve(test.env, test.args...); got != test.want {
			t.Errorf("%v %q: %q, want %q", test.env, test.args, got, test.want)
		}
	}
	write(filepath.Join(data, "arbor.yaml"), "data: "+other+"\n")
	if _, err := parse(t, etc, "user", "list"); err == nil {
		t.Error("a folder's file names another folder")
	}
	// A demo is nobody's service.
	if c, err := parse(t, etc, "demo"); err != nil || c.Demo.Listen == ":1" {
		t.Errorf("a demo listens on %s: %v", c.Demo.Listen, err)
	}
}

// The file that the package brings is one that a server takes, and names the folder that the package makes.
func TestPackagedSettings(t *testing.T) {
	t.Parallel()
	c, err := parse(t, filepath.Join("..", "..", "deploy", "arbor.yaml"), "serve")
	if err != nil || c.Serve.Data != "/var/lib/arbor" {
		t.Errorf("a server is told %q: %v", c.Serve.Data, err)
	}
}

// The service and the operator's commands work on one store without a flag, also after the database was moved
// and the file says so.
func TestServiceAndCommandsShareSettings(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	etc := filepath.Join(t.TempDir(), "arbor.yaml")
	moved := filepath.Join(t.TempDir(), "moved.db")
	var env []string
	for _, v := range s.env {
		if !strings.HasPrefix(v, "ARBOR_DATA=") {
			env = append(env, v)
		}
	}
	s.env = append(env, systemVariable+"="+etc)
	settings := func(text string) {
		t.Helper()
		testkit.NoError(t, os.WriteFile(etc, []byte(text), 0o600))
	}
	settings("data: " + s.data + "\n")
	s.arbor("user", "create", "alice")
	s.arbor("database", "move", moved)
	s.refuses("was moved to "+moved, "use --database "+moved)
	settings("data: " + s.data + "\ndatabase: " + moved + "\n")
	s.arbor("user", "create", "bob")
	s.start()
	if _, text := s.do("", "GET", "/users/bob", nil, nil); !strings.Contains(text, `"login":"bob"`) {
		t.Errorf("the server works on another database: %s", text)
	}
}
