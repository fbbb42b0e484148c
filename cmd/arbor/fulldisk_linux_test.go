//go:build long

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
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

// fullDisk is what people wrote to a server whose disk filled up, as it was acknowledged.
type fullDisk struct {
	*instance
	mu      sync.Mutex
	issues  []string          // titles
	files   []string          // that the API committed
	pushed  map[string]string // by branch
	forks   []string
	refused atomic.Int64
}

// try makes a request; a refusal must be a 507 that says why.
func (f *fullDisk) try(method, path, body string) bool {
	status, text := f.tryDo(method, path, body)
	switch {
	case status >= 200 && status < 300:
		return true
	case status != 507 || !strings.Contains(text, "disk"):
		f.t.Errorf("%s %s on a full disk: %d %s", method, path, status, text)
	}
	f.refused.Add(1)
	return false
}

func (f *fullDisk) note(list *[]string, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, what)
}

// write is a round of all kinds of writers. big makes what is written large.
func (f *fullDisk) write(dir string, round int, big string) {
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 5 {
			title := fmt.Sprintf("issue-%d-%d", round, i)
			if f.try("POST", "/repos/alice/garden/issues", `{"title": "`+title+`", "body": "`+big+`"}`) {
				f.note(&f.issues, title)
			}
		}
	})
	all.Go(func() {
		for i := range 3 {
			file := fmt.Sprintf("file-%d-%d", round, i)
			if f.try("PUT", "/repos/alice/shed/contents/"+file, `{"message": "x", "content": "`+big+`"}`) {
				f.note(&f.files, file)
			}
		}
	})
	all.Go(func() {
		branch := fmt.Sprintf("b%d", round)
		sha := string(add(f.t, dir, branch, big+branch))
		r := try(f.t, dir, "push", f.remote("alice", "alice/garden"), branch)
		switch {
		case r.err == nil:
			f.mu.Lock()
			f.pushed["refs/heads/"+branch] = sha
			f.mu.Unlock()
		case !strings.Contains(r.out, "507") && !strings.Contains(r.out, "disk") &&
			!strings.Contains(r.out, "unpacker error"):
			f.t.Errorf("a push to a full disk: %s", r.out)
		default:
			f.refused.Add(1)
		}
	})
	all.Go(func() {
		name := fmt.Sprintf("fork%d", round)
		if f.try("POST", "/repos/bob/seeds/forks",
			`{"organization": "org`+fmt.Sprint(round)+`", "name": "`+name+`"}`) {
			f.note(&f.forks, "org"+fmt.Sprint(round)+"/"+name)
		}
	})
	all.Wait()
}

// read gives an answer to alice.
func (f *fullDisk) read(path string) string {
	f.t.Helper()
	r, text := f.do("alice", "GET", path, nil, nil)
	if r.StatusCode != 200 {
		f.t.Errorf("%s: %d %s", path, r.StatusCode, text)
	}
	return text
}

// check looks for all that was acknowledged.
func (f *fullDisk) check() {
	f.t.Helper()
	got := refs(f.t, f.remote("alice", "alice/garden"))
	for name, sha := range f.pushed {
		if got[name] != sha {
			f.t.Errorf("%s is %q, acknowledged was %s", name, got[name], sha)
		}
	}
	whole(f.t, f.remote("alice", "alice/garden"))
	var titles strings.Builder
	for page := 1; page < 20; page++ {
		titles.WriteString(f.read(fmt.Sprintf("/repos/alice/garden/issues?state=all&per_page=100&page=%d",
			page)))
	}
	for _, title := range f.issues {
		if !strings.Contains(titles.String(), `"`+title+`"`) {
			f.t.Errorf("%s was acknowledged and is not there", title)
		}
	}
	files := f.read("/repos/alice/shed/contents")
	for _, file := range f.files {
		if !strings.Contains(files, `"`+file+`"`) {
			f.t.Errorf("%s was acknowledged and is not there", file)
		}
	}
	for _, fork := range f.forks {
		f.read("/repos/" + fork)
		whole(f.t, f.remote("alice", fork))
	}
}

// A disk that fills up while people push, commit, fork and file issues: what was acknowledged
// is there, the rest was refused with a reason; with room all goes on without a restart, and
// nothing needs repair. Once with all on the disk, and once with each part alone.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"all", "database", "postgres", "repositories"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			size := 24 << 20
			if what == "postgres" {
				size *= 2
			}
			disk := smallDisk(t, size)
			data := t.TempDir()
			database := "" // in the data folder
			switch what {
			case "all":
				data = disk
			case "database":
				database = filepath.Join(disk, "arbor.db")
			case "postgres":
				database = dbtest.In(t, disk)
			case "repositories":
				if err := os.Symlink(disk, filepath.Join(data, "repositories")); err != nil {
					t.Fatal(err)
				}
			}
			s := newInstanceOn(t, data, database)
			s.makeTables()
			s.start()
			s.user("alice", "bob")
			const rounds = 8
			for _, name := range []string{"alice/garden", "alice/shed", "bob/seeds"} {
				s.repo(name, "")
			}
			var orgs []string
			for i := range rounds + 1 {
				orgs = append(orgs, fmt.Sprintf("org%d", i))
			}
			s.org(orgs...)
			dir := gittest.Bare(t)
			add(t, dir, "main", "begin")
			gittest.Run(t, dir, "push", "-q", s.remote("bob", "bob/seeds"), "main")
			gittest.Run(t, dir, "push", "-q", s.remote("alice", "alice/garden"), "main")
			f := &fullDisk{instance: s, pushed: map[string]string{}}
			f.write(dir, 0, "c21hbGw=")

			// What is left is filled by a file, then by what people write.
			ballast := filepath.Join(disk, "ballast")
			var free unix.Statfs_t
			if err := unix.Statfs(disk, &free); err != nil {
				t.Fatal(err)
			}
			room := int(free.Bavail)*int(free.Bsize) - 700<<10
			if err := os.WriteFile(ballast, make([]byte, room), 0o600); err != nil {
				t.Fatal(err)
			}
			random := seeded(t)
			for round := 1; round < rounds; round++ {
				big := make([]byte, 60_000)
				for i := range big {
					big[i] = "abcdefghijklmnopqrstuvwxyzABCDEF"[random.IntN(32)]
				}
				f.write(dir, round, string(big))
			}
			if f.refused.Load() == 0 {
				t.Error("the disk never was full")
			}
			f.check()
			t.Logf("%d refused, acknowledged: %d issues, %d files, %d branches, %d forks", f.refused.Load(),
				len(f.issues), len(f.files), len(f.pushed), len(f.forks))

			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			before := f.refused.Load()
			f.write(dir, rounds, "c21hbGw=")
			if f.refused.Load() != before {
				t.Error("with room again, writes are refused")
			}
			f.check()
			s.sound()
			s.kill()
			s.start()
			f.check()
			s.sound()
			s.sweepAll()
		})
	}
}
