package git_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// objects lists all objects of a repository, reachable or not.
func objects(t testing.TB, dir string) string {
	t.Helper()
	return string(gittest.Pipe(t, dir, nil, "cat-file", "--batch-check", "--batch-all-objects"))
}

// Nobody notices that a repository is packed: pushes, clones and reads go on.
func TestPackMeanwhile(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir()+"/server.git")
	const rounds, pushers = 12, 2
	source := gittest.Repository(t, 1, 40)
	gittest.Run(t, source, "push", "-q", s.url, "main")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for p := range pushers {
		ref := fmt.Sprintf("refs/heads/p%d", p)
		mine := gittest.Bare(t)
		wg.Go(func() {
			for i := range rounds {
				gittest.Import(t, mine, gittest.History(ref, 3*(i+1), 10+p))
				if _, stderr, err := gittest.Try(t, mine, nil, "push", "-q", s.url, ref); err != nil {
					t.Errorf("push: %v: %s", err, stderr)
				}
			}
		})
	}
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir := t.TempDir()
			if _, stderr, err := gittest.Try(t, dir, nil, "clone", "-q", "--mirror", s.url, "c"); err != nil {
				t.Errorf("clone: %v: %s", err, stderr)
			}
		}
	})
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			refs, _ := s.snapshot(t.Context())
			for _, ref := range refs.List {
				tree, err := s.r.PeelToTree(t.Context(), ref.SHA)
				if err != nil {
					t.Errorf("read: %v", err)
					continue
				}
				if err := s.r.WalkTree(t.Context(), tree, true, func(*git.WalkEntry) error {
					return nil
				}); err != nil {
					t.Errorf("walk: %v", err)
				}
			}
		}
	})
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			gittest.Object(t, s.r.Dir(), git.TypeBlob, fmt.Sprint("api ", len(files(t, s.r))))
			if err := s.r.Pack(t.Context()); err != nil {
				t.Errorf("pack: %v", err)
			}
		}
	})
	wg.Wait()
	close(stop)
	others.Wait()
	gittest.Run(t, s.r.Dir(), "fsck", "--full")
}

// The refs on disk are what git itself reads there.
func TestWritePackedRefs(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	source := gittest.Repository(t, 3, 3)
	gittest.Run(t, source, "tag", "-a", "-m", "x", "v1", "main")
	tip, tag := gittest.Resolve(t, source, "main"), gittest.Resolve(t, source, "v1")
	r := g.Repository(t.TempDir() + "/r.git")
	push(t, r, packOf(t, source, []string{"main", "v1"}, nil), nil, tip, tag)
	list := []git.Ref{{Name: "refs/heads/main", SHA: tip}, {Name: "refs/heads/tr\u00fcnk", SHA: tip},
		{Name: "refs/tags/v1", SHA: tag, Peeled: tip}}
	testkit.NoError(t, r.WritePackedRefs(git.Refs{List: list, Head: "refs/heads/tr\u00fcnk"}))
	var want bytes.Buffer
	for _, ref := range list {
		fmt.Fprintf(&want, "%s %s %s\n", ref.SHA, ref.Name, ref.Peeled)
	}
	got := gittest.Run(t, r.Dir(), "for-each-ref", "--format=%(objectname) %(refname) %(*objectname)")
	if got+"\n" != want.String() {
		t.Errorf("git reads\n%s, want\n%s", got, want.String())
	}
	if head := gittest.Run(t, r.Dir(), "symbolic-ref", "HEAD"); head != "refs/heads/tr\u00fcnk" {
		t.Errorf("HEAD is %s", head)
	}
}

// A history that came in as one pack must be walked as quickly as one that
// grew; and the graph must not be written again for nothing.
func TestGraphOfAnImport(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 3000, 50)
	r := gittest.New(t, git.Options{}).Repository(dir)
	if needed, err := r.NeedsGraph(); err != nil || !needed {
		t.Fatalf("after an import: %v, %v", needed, err)
	}
	testkit.NoError(t, r.WriteGraph(t.Context()))
	if needed, err := r.NeedsGraph(); err != nil || needed {
		t.Errorf("after writing it: %v, %v", needed, err)
	}
	graph, err := os.ReadFile(filepath.Join(dir, "objects", "info", "commit-graph"))
	testkit.NoError(t, err)
	gittest.Run(t, dir, "commit-graph", "verify")
	for _, chunk := range []string{"BIDX", "BDAT"} { // changed paths
		if !bytes.Contains(graph[:200], []byte(chunk)) {
			t.Errorf("the graph has no chunk %s", chunk)
		}
	}
}
