//go:build long

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// exec runs a statement on the server's database.
func (s *instance) exec(query string, args ...any) {
	s.t.Helper()
	d := s.open()
	defer d.Close()
	if err := d.Write(s.t.Context(), func(tx *db.Tx) error { return tx.Run(query, args...) }); err != nil {
		s.t.Fatal(err)
	}
}

// objectsOf is the names of all objects of a repository.
func objectsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	list := gittest.Run(t, dir, "cat-file", "--batch-check=%(objectname)",
		"--batch-all-objects", "--unordered")
	names := map[string]bool{}
	for _, sha := range strings.Fields(list) {
		names[sha] = true
	}
	return names
}

// packFiles is a pack and its index, without what ends their names.
type packFiles string

// packsOf packs what each of the last commits of main has, with deltas.
func packsOf(t *testing.T, source string, n int) []packFiles {
	t.Helper()
	dir := t.TempDir()
	packs := make([]packFiles, n)
	for i := range packs {
		sum := gittest.Pipe(t, source, strings.NewReader(fmt.Sprintf("main~%d\n", i)),
			"pack-objects", "-q", "--revs", filepath.Join(dir, "pack"))
		packs[i] = packFiles(filepath.Join(dir, "pack-"+strings.TrimSpace(string(sum))))
	}
	return packs
}

// copyTo puts the pack among those of a repository, the index last: then git takes it for one.
func (p packFiles) copyTo(t *testing.T, dir string) {
	t.Helper()
	for _, end := range []string{".pack", ".idx"} {
		data, err := os.ReadFile(string(p) + end)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(string(p))+end), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A server is killed again and again while it packs a repository. Every object is there
// afterwards, and the next server goes on with the work.
func TestKilledInMaintenance(t *testing.T) {
	t.Parallel()
	rounds := roundsOr(3)
	source := gittest.Repository(t, 60, 10)
	packs := packsOf(t, source, min(25+rounds, 60))
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice")
		s.repo("alice/garden", source)
		dir := filepath.Join(s.data, "repositories", "01", "1.git")
		handle := gittest.New(t, git.Options{}).Repository(dir)
		random := seeded(t)
		var written []git.SHA
		killed := 0
		for round := range rounds {
			s.stop()
			loose := t.TempDir()
			var names strings.Builder
			for i := range 25 { // packs with deltas, for git, and a loose object
				packs[(i+round)%len(packs)].copyTo(t, filepath.Join(dir, "objects", "pack"))
				name := fmt.Sprint(i)
				gittest.WriteFile(t, loose, name, fmt.Sprint("loose ", round, i))
				fmt.Fprintln(&names, filepath.Join(loose, name))
			}
			gittest.Pipe(t, dir, strings.NewReader(names.String()), "hash-object", "-w", "--no-filters",
				"--stdin-paths")
			for i := range 20 { // small ones, as the API writes them
				blob := git.NewObject{Type: git.TypeBlob, Data: fmt.Appendf(nil, "%d of round %d", i, round)}
				shas, err := handle.WriteObjects(t.Context(), []git.NewObject{blob})
				if err != nil {
					t.Fatal(err)
				}
				written = append(written, shas...)
			}
			before := objectsOf(t, dir)
			left := len(packing(t, dir))
			s.start()
			status, text := s.tryCall("PUT", fmt.Sprintf("contents/file%d", round),
				`{"message": "Write", "content": "YQ=="}`)
			if status != 201 {
				t.Fatalf("round %d: %d %s", round, status, text)
			}
			if round%2 == 0 && s.awaitPacking(dir, left) {
				killed++
			}
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			s.kill()
			gittest.Run(t, dir, "fsck", "--full", "--no-dangling")
			after := objectsOf(t, dir)
			for sha := range before {
				if !after[sha] {
					t.Errorf("round %d: %s is gone", round, sha)
				}
			}
			s.exec(`UPDATE packings SET due_at = 0`) // without waiting for a minute
			s.start()
			if status, _ := s.tryCall("GET", fmt.Sprintf("contents/file%d", round), ""); status != 200 {
				t.Errorf("round %d: the written file answers %d", round, status)
			}
			whole(t, s.remote("alice", "alice/garden"))
			s.sound()
		}
		t.Logf("%d of %d kills while git was packing", killed, rounds)
		status, text := s.tryCall("PUT", "contents/last", `{"message": "Write", "content": "YQ=="}`)
		if status != 201 {
			t.Errorf("%d %s", status, text)
		}
		testkit.Eventually(t, func() bool {
			return len(s.find("pack-*.idx"))-len(s.aside("*.idx")) < 20
		}, "few packs")
		if _, err := handle.Infos(t.Context(), written); err != nil {
			t.Error(err)
		}
		s.stop()
		s.sweep(0)
		if left := s.aside("*"); len(left) > 0 {
			t.Errorf("%q stay", left)
		}
		gittest.Run(t, dir, "fsck", "--full", "--no-dangling")
	})
}

// awaitPacking waits until git is packing, in a directory besides those that are left,
// or has packed, and reports whether it is at it.
func (s *instance) awaitPacking(dir string, left int) (busy bool) {
	s.t.Helper()
	testkit.Eventually(s.t, func() bool {
		busy = len(packing(s.t, dir)) > left
		return busy || len(glob(s.t, filepath.Join(dir, "objects", "pack", "pack-*.idx"))) < 20
	}, "git begins to pack, or has packed")
	return busy
}

// packing lists the directories in which a repository's new packs are made.
func packing(t testing.TB, dir string) []string {
	t.Helper()
	return glob(t, filepath.Join(dir, "objects", "packing-*"))
}

// aside lists the files that maintenance has set aside.
func (s *instance) aside(pattern string) []string {
	s.t.Helper()
	return glob(s.t, filepath.Join(s.data, "repositories", "*", "*", "objects", "replaced-*", pattern))
}
