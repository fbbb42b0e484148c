package ssh

import (
	"strings"
	"testing"

	"arbor/internal/errs"
)

// What git and other clients send finds its repository, however it is quoted.
func TestParseCommand(t *testing.T) {
	want := command{service: "git-upload-pack", owner: "alice", name: "garden.git"}
	for _, line := range []string{
		"git-upload-pack 'alice/garden.git'", "git-upload-pack '/alice/garden.git'",
		"git-upload-pack alice/garden.git",
		"git upload-pack 'alice/garden.git'", `git-upload-pack "alice/garden.git"`,
		`git-upload-pack 'alice'\/garden.git/`,
		"  git-upload-pack\t'/alice/garden.git/' ",
	} {
		if got, err := parseCommand(line); err != nil || got != want {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
	if got, err := parseCommand("git-receive-pack 'alice/garden'"); err != nil ||
		got != (command{service: "git-receive-pack", owner: "alice", name: "garden"}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseCommand("git-lfs-authenticate '/alice/garden.git' upload 0abc"); err != nil ||
		got != (command{"git-lfs-authenticate", "alice", "garden.git", true}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseCommand("git-lfs-transfer /alice/garden.git download"); err != nil ||
		got != (command{"git-lfs-transfer", "alice", "garden.git", false}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParseCommandRefuses(t *testing.T) {
	for line, kind := range map[string]errs.Kind{
		"": errs.Invalid, "ls": errs.Invalid, "git": errs.Invalid,
		"git-upload-archive 'alice/garden.git'": errs.Invalid,
		"git-upload-pack":                       errs.Invalid, "git-upload-pack 'alice/garden.git": errs.Invalid, `git-upload-pack a/b\`: errs.Invalid,
		"git-upload-pack a/b c/d": errs.Invalid, "git-upload-pack a/b; ls": errs.Invalid,
		"git-lfs-authenticate a/b": errs.Invalid, "git-lfs-authenticate a/b delete": errs.Invalid,
		"git-lfs-transfer a/b": errs.Invalid, "git-lfs-transfer a/b lock": errs.Invalid, "git-lfs-authenticate a upload": errs.NotFound,
		"git-upload-pack --strict a/b": errs.Invalid,
		"git-upload-pack 'garden'":     errs.NotFound, "git-upload-pack '../../etc'": errs.NotFound, "git-upload-pack '/a/b/c'": errs.NotFound,
		"git-upload-pack 'a/$(ls)'": errs.NotFound, "git-upload-pack 'a/b\nc'": errs.NotFound,
		"git-upload-pack ''":      errs.NotFound,
		"git-upload-pack '//a/b'": errs.NotFound, "git-upload-pack '~/a'": errs.NotFound,
		"git-upload-pack '" + strings.Repeat("a", 2000) + "'": errs.Invalid,
		"scp -t /tmp": errs.Invalid, "git -c core.pager=x upload-pack a/b": errs.Invalid,
		"/bin/git-upload-pack a/b": errs.Invalid,
	} {
		if c, err := parseCommand(line); !errs.Is(err, kind) {
			t.Errorf("%.60q: %v, %v", line, c, err)
		}
	}
}

// Whatever is taken names a service and two words that can be nothing else than a login and a name.
func FuzzParseCommand(f *testing.F) {
	f.Add("git-upload-pack 'alice/garden.git'")
	f.Add("git-lfs-authenticate alice/garden.git upload")
	f.Add(`git receive-pack "a"'/'\b`)
	f.Fuzz(func(t *testing.T, line string) {
		c, err := parseCommand(line)
		switch {
		case err != nil:
			if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.NotFound) {
				t.Fatal(err)
			}
		case c.service != "git-upload-pack" && c.service != "git-receive-pack" && c.service != authenticate,
			c.owner == "", c.name == "", strings.ContainsAny(c.owner+c.name, "/\\ '\"$;\n\x00"):
			t.Fatalf("%q became %v", line, c)
		}
	})
}
