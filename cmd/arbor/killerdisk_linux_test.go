//go:build long

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// smallDisk mounts a file system of some bytes, and unmounts it in the end.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("NOT TESTED: what a full disk does: a tmpfs cannot be mounted (%v): run as root", err)
	}
	t.Cleanup(func() {
		// This process keeps a descriptor of each SQLite file that it ever opened.
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("the small disk stays mounted: %v", err)
		}
	})
	return dir
}

// A disk that fills up while people do every kind of work: what was acknowledged is there, the rest was
// refused with a reason; with room all goes on without a restart, and nothing needs repair. Once with all
// on the disk, and once with each part alone.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"all", "database", "postgres", "repositories"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			size, engine := 24<<20, db.SQLite
			if what == "postgres" {
				size, engine = 2*size, db.PostgreSQL
			}
			disk, data, database := smallDisk(t, size), t.TempDir(), ""
			switch what {
			case "all":
				data = disk
			case "database":
				database = filepath.Join(disk, "arbor.db")
			case "postgres":
				database = dbtest.In(t, disk)
			case "repositories":
				testkit.NoError(t, os.Symlink(disk, filepath.Join(data, "repositories")))
			}
			s := newInstanceOn(t, data, database)
			c := newWorldOn(s, engine, 1)

			// What is left is filled by a file, then by what people write.
			ballast := filepath.Join(disk, "ballast")
			var free unix.Statfs_t
			testkit.NoError(t, unix.Statfs(disk, &free))
			room := int(free.Bavail)*int(free.Bsize) - 700<<10
			testkit.NoError(t, os.WriteFile(ballast, make([]byte, room), 0o600))
			big := make([]byte, 30_000)
			for i := range big {
				big[i] = "abcdefghijklmnopqrstuvwxyzABCDEF"[c.random.IntN(32)]
			}
			c.big = string(big)
			c.begin()
			testkit.Eventually(t, func() bool { return c.full.Load() >= 100 }, "a full disk", c.story.report)
			c.end()
			t.Log(c.story.report())

			testkit.NoError(t, os.Remove(ballast))
			before := c.full.Load()
			for _, row := range table {
				if w := c.newWriter(row); row.group != "" && !row.alone && (row.prepare == nil || row.prepare(w)) {
					row.do(w)
				}
			}
			if c.full.Load() != before {
				t.Error("with room again, writes are refused")
			}
			c.check()
			s.kill()
			c.start(0)
			c.check()
		})
	}
}
