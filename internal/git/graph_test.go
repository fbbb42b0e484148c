package git_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

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
