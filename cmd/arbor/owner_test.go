package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A command that root runs on the folder of a server that is not root's would make folders there that the
// server cannot write: pushes to them break off.
func TestOtherUsersAreRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: commands of root on another user's folder: run as root")
	}
	const nobody = 65534
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := newInstance(t, engine)
		s.makeTables()
		s.user("alice")
		testkit.NoError(t, os.Chown(s.data, nobody, nobody))
		s.refuses(s.data+" belongs to nobody, and this runs as root", "sudo -u nobody arbor")
		for _, args := range [][]string{{"repo", "create", "alice/r"}, {"restore", t.TempDir()}, {"database", "claim"},
			{"database", "move", filepath.Join(t.TempDir(), "new.db")}} {
			if out, err := s.tells(args...); err == nil || !strings.Contains(out, "belongs to nobody") {
				t.Errorf("%q: %v: %s", args, err, out)
			}
		}
		if out, err := s.tells("doctor"); err == nil || !strings.Contains(out, "belongs to nobody") {
			t.Errorf("doctor: %v: %s", err, out)
		}
		testkit.NoError(t, os.Chown(s.data, 0, 0))
		s.arbor("user", "list")
		s.start()
	})
}
