package git_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

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
		err := g.Repository(dir).UploadPack(t.Context(), git.UploadOptions{Out: &out,
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
