package migration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// What stands in the place of the bundle leads git to no other repository.
func TestBundleIsOne(t *testing.T) {
	t.Parallel()
	secret := gittest.Repository(t, 1, 1)
	for name, write := range map[string]func(dir string) error{
		"a file that names a repository": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, bundleFile), []byte("gitdir: "+secret+"/.git\n"), 0o600)
		},
		"an empty file beside a link": func(dir string) error {
			if err := os.Symlink(secret, filepath.Join(dir, bundleFile+".git")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, bundleFile), nil, 0o600)
		},
		"a link":   func(dir string) error { return os.Symlink(secret, filepath.Join(dir, bundleFile)) },
		"a folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, bundleFile), 0o700) },
	} {
		dir := t.TempDir()
		testkit.NoError(t, write(dir))
		f, err := OpenFolder(dir)
		testkit.NoError(t, err)
		if path, err := f.Git(t.Context()); err == nil {
			t.Errorf("%s is taken as a bundle: %s", name, path)
		}
		testkit.NoError(t, f.Close())
	}
}

// A NUL in a record becomes a character that databases take; what only looks like one stays.
func TestWithoutNUL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"x\u0000y\u0000"}`: `{"a":"x\ufffdy\ufffd"}`,
		`{"a":"\\u0000"}`:        `{"a":"\\u0000"}`,
		`{"a":"\\\u0000"}`:       `{"a":"\\\ufffd"}`,
		`{}`:                     `{}`,
	} {
		if got := string(withoutNUL([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	if strings.Contains(string(withoutNUL([]byte(`\u0000\u0000`))), "0000") {
		t.Error("a NUL stays")
	}
}
