package main

import (
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A person at a terminal sees how far each long command is, and then only its result.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	s.makeTables()
	s.user("alice")
	dir, backup := gittest.Repository(t, 3, 3), filepath.Join(t.TempDir(), "backup")
	for _, c := range []struct{ args, bar, result string }{
		{"repo create alice/garden --import file://" + dir, "fetch        [###", "created repository alice/garden with"},
		{"repo create alice/copy --import " + dir, "check        [###", "created repository alice/copy with"},
		{"check", "repositories [###", "looked at 2 repositories"},
		{"repo purge alice/garden --unreachable --yes", "purge        [...", "purged 0 objects"},
		{"database vacuum", "database     0s", "the database had"},
		{"backup " + backup, "repositories [###", "backed up the store"},
		{"backup verify " + backup, "verify       [###", "the backup is whole"},
		{"restore --data " + filepath.Join(t.TempDir(), "restored") + " " + backup, "copy         [###", "restored"},
		{"database move " + filepath.Join(t.TempDir(), "other.db"), "database     0s", "moved"},
	} {
		term := newTerminal(t)
		cmd := term.start(t, s.env, strings.Fields(c.args)...)
		err := cmd.Wait()
		testkit.Eventually(t, func() bool { return strings.Contains(term.text(), c.result) }, c.args, term.text)
		before, _, _ := strings.Cut(term.text(), c.result)
		if err != nil || !strings.Contains(before, c.bar) ||
			!strings.HasSuffix(before[:strings.LastIndex(before, "\r")+1], " \r") {
			t.Errorf("%s: %v, it shows no bar or leaves it:\n%q", c.args, err, term.text())
		}
	}
}
