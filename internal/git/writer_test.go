package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

func blob(text string) git.NewObject { return git.NewObject{Type: git.TypeBlob, Data: []byte(text)} }

func countPacks(t testing.TB, dir string) int {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	testkit.NoError(t, err)
	return len(packs)
}

// What a client was told is written must be what git reads, by the same name,
// whatever its size and type.
func TestWriteObjects(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(filepath.Join(t.TempDir(), "r.git"))
	var objects []git.NewObject
	for _, n := range []int{0, 1, 14, 15, 16, 127, 128, 2047, 2048, 70_000, 5 << 20} {
		objects = append(objects, blob(strings.Repeat("x\x00y", n)[:n]))
	}
	who := git.Signature{Name: "A", Email: "a@example.com"}
	commit := &git.Commit{Tree: git.EmptyTree, Author: who, Committer: who, Message: "m"}
	if _, err := commit.Encode(); err == nil {
		t.Error("a commit before 1970 was accepted")
	}
	commit.Author.When, commit.Committer.When = mustDate(t, "2020-02-29T12:00:00+05:30"),
		mustDate(t, "2020-02-29T12:00:00Z")
	encoded, err := commit.Encode()
	testkit.NoError(t, err)
	tag := &git.Tag{Object: encoded.SHA(), Type: git.TypeCommit, Name: "v1", Tagger: &commit.Author,
		Message: "tagged"}
	tagged, err := tag.Encode()
	testkit.NoError(t, err)
	objects = append(objects, git.NewObject{Type: git.TypeTree}, encoded, tagged, blob("twice"),
		blob("twice"))
	shas, err := r.WriteObjects(t.Context(), objects)
	testkit.NoError(t, err)
	for i, o := range objects {
		if want := gittest.Object(t, gittest.Bare(t), o.Type, string(o.Data)); shas[i] != want {
			t.Errorf("object %d is %s, git says %s", i, shas[i], want)
		}
		object, contents, err := r.Contents(t.Context(), shas[i], 6<<20)
		if err != nil || object.Type != o.Type || string(contents) != string(o.Data) {
			t.Errorf("object %d comes back as %v of %d bytes, %v", i, object, len(contents), err)
		}
	}
	gittest.Run(t, r.Dir(), "fsck", "--strict", "--no-dangling")
	if line := gittest.Run(t, r.Dir(), "cat-file", "-p", string(encoded.SHA())); !strings.Contains(line,
		"author A <a@example.com> 1582957800 +0530") {
		t.Errorf("the commit reads %q", line)
	}
	read, err := r.Tag(t.Context(), tagged.SHA())
	if err != nil || read.Name != "v1" || read.Message != "tagged\n" || read.Object != encoded.SHA() ||
		read.Tagger.Email != "a@example.com" {
		t.Errorf("the tag comes back as %+v, %v", read, err)
	}
	packs := countPacks(t, r.Dir())
	if _, err := r.WriteObjects(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	if n := countPacks(t, r.Dir()); n != packs {
		t.Errorf("writing what is there made %d packs of %d", n, packs)
	}
}

// Many clients write at once, while maintenance works: each must find what it
// wrote, and nothing may be lost.
func TestWriteObjectsAtOnce(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(filepath.Join(t.TempDir(), "r.git"))
	testkit.NoError(t, r.Init())
	ctx, stop := context.WithCancel(t.Context())
	var maintenance, writers errgroup.Group
	maintenance.Go(func() error {
		for ctx.Err() == nil {
			if _, err := r.Maintain(t.Context(), time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	const clients, rounds = 8, 40
	for c := range clients {
		writers.Go(func() error {
			for i := range rounds {
				mine := []git.NewObject{blob(fmt.Sprintf("%d of %d", i, c)),
					blob(fmt.Sprintf("shared %d", i))}
				shas, err := r.WriteObjects(t.Context(), mine)
				if err != nil {
					return err
				}
				if _, err := r.Infos(t.Context(), shas); err != nil {
					return fmt.Errorf("client %d round %d: %w", c, i, err)
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	stop()
	if err != nil || maintenance.Wait() != nil {
		t.Fatal(err, maintenance.Wait())
	}
	for c := range clients {
		for i := range rounds {
			if _, err := r.Info(t.Context(), blob(fmt.Sprintf("%d of %d", i, c)).SHA()); err != nil {
				t.Fatal(err)
			}
		}
	}
	testkit.Eventually(t, func() bool {
		if _, err := r.Maintain(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		return countPacks(t, r.Dir()) <= 30
	}, "few packs")
	gittest.Run(t, r.Dir(), "fsck", "--strict", "--no-dangling")
}

// A damaged pack must not be copied into a new one that then replaces it.
func TestMaintainRefusesDamage(t *testing.T) {
	t.Parallel()
	r := gittest.New(t, git.Options{}).Repository(filepath.Join(t.TempDir(), "r.git"))
	for i := range 20 {
		if _, err := r.WriteObjects(t.Context(), []git.NewObject{blob(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	packs, _ := filepath.Glob(filepath.Join(r.Dir(), "objects", "pack", "*.pack"))
	contents, err := os.ReadFile(packs[3])
	testkit.NoError(t, err)
	contents[len(contents)-22] ^= 1
	testkit.NoError(t, os.Chmod(packs[3], 0o644))
	testkit.NoError(t, os.WriteFile(packs[3], contents, 0o644))
	if _, err := r.Maintain(t.Context(), time.Now()); err == nil {
		t.Error("a damaged pack was combined with others")
	}
	if n := countPacks(t, r.Dir()); n != len(packs) {
		t.Errorf("%d packs of %d are left", n, len(packs))
	}
}

func mustDate(t testing.TB, s string) time.Time {
	t.Helper()
	when, err := git.ParseDate(s)
	testkit.NoError(t, err)
	return when
}
