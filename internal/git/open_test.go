package git_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A repository is deleted while it is read: the readers come to their end, nobody
// else begins, and then its folder goes.
func TestRemoveWaitsForUsers(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Repository(t, 2, 3)
	tip := gittest.Resolve(t, dir, "main")
	r, first, err := g.Open(t.Context(), dir)
	testkit.NoError(t, err)
	_, second, err := g.Open(t.Context(), dir)
	testkit.NoError(t, err)
	removed := 0
	remove := func() {
		removed++
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	g.Remove(dir, remove)
	g.Remove(dir, remove)
	first()
	if _, _, err := g.Open(t.Context(), dir); !errs.Is(err, errs.NotFound) {
		t.Errorf("a repository that is being removed opens: %v", err)
	}
	if _, err := r.Commit(t.Context(), tip); err != nil || removed != 0 || g.Pinned() != 1 {
		t.Errorf("before the last release: %v, removed %d times, %d pins", err, removed, g.Pinned())
	}
	second()
	if removed != 1 || g.Pinned() != 0 {
		t.Errorf("after the last release: removed %d times, %d pins", removed, g.Pinned())
	}
	r, release, err := g.Open(t.Context(), dir)
	if err != nil || r.Exists() {
		t.Fatalf("a folder that is gone opens with %v", err)
	}
	release()
	g.Remove(dir, remove)
	if removed != 2 {
		t.Error("a repository that nobody uses is not removed at once")
	}
}

// What cannot be opened leaves no pin, and opens once it can be.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	shard := filepath.Join(t.TempDir(), "shard")
	dir := filepath.Join(shard, "1.git")
	testkit.NoError(t, os.WriteFile(shard, nil, 0o600))
	if _, _, err := g.Open(t.Context(), dir); err == nil || errs.Is(err, errs.NotFound) {
		t.Errorf("a folder that cannot be read opens with %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.Open(ended, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("for a request that has ended: %v", err)
	}
	if g.Pinned() != 0 {
		t.Errorf("%d pins are left", g.Pinned())
	}
	testkit.NoError(t, os.Remove(shard))
	r, release, err := g.Open(t.Context(), dir)
	testkit.NoError(t, err)
	defer release()
	if err := r.Init(); err != nil {
		t.Error(err)
	}
}

// A folder that git takes for no repository, or whose objects cannot be listed, is an error that Open finds,
// also after it was readable once.
func TestOpenBroken(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	dir := gittest.Repository(t, 1, 1)
	opened := func() error {
		_, release, err := g.Open(t.Context(), dir)
		if err == nil {
			release()
		}
		return err
	}
	objects := filepath.Join(dir, "objects")
	for _, instead := range []string{"nothing", "a file"} {
		testkit.NoError(t, opened())
		testkit.NoError(t, os.Rename(objects, objects+".away"))
		if instead == "a file" {
			gittest.WriteFile(t, dir, "objects", "x")
		}
		var out bytes.Buffer
		err := serve.UploadPack(t.Context(), gittest.Opened(g.Repository(dir)), serve.Request{Out: &out,
			In:   strings.NewReader("0032want " + strings.Repeat("1", 40) + "\n00000009done\n"),
			Refs: func(context.Context) (git.Refs, error) { return git.Refs{}, nil }})
		if err == nil || !strings.Contains(err.Error(), dir) || out.Len() > 0 {
			t.Errorf("a fetch with %s in place of objects: %v, %q", instead, err, out.String())
		}
		if err := opened(); err == nil {
			t.Errorf("opened with %s in place of objects", instead)
		}
		_ = os.Remove(objects)
		testkit.NoError(t, os.Rename(objects+".away", objects))
	}
	if err := opened(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
