package git

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"arbor/internal/cache"
	"arbor/internal/git/object"
	"arbor/internal/test/testkit"
)

// The cache of a history must not keep the texts of its commits: sixteen thousand of
// them, with a megabyte of signature each, would take all memory.
func TestLinksDoNotKeepCommits(t *testing.T) {
	const commits, signature = 50, 1_000_000
	sha := strings.Repeat("ab", 20)
	text := fmt.Appendf(nil, "tree %s\nparent %[1]s\nauthor A <a@b> 1 +0000\n", sha)
	text = fmt.Appendf(text, "committer A <a@b> 1 +0000\ngpgsig %s\n\nm\n", strings.Repeat("s", signature))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var kept []links
	for range commits {
		c, err := object.ParseCommit(bytes.Clone(text))
		testkit.NoError(t, err)
		kept = append(kept, newLinks(c))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > commits*signature/10 {
		t.Errorf("the links of %d commits keep %d bytes", commits, used)
	}
	if l := kept[0]; l.tree != SHA(sha) || len(l.parents) != 1 || l.parents[0] != SHA(sha) || l.when != 1 {
		t.Errorf("they are %+v", l)
	}
	g := &Git{links: cache.NewRecent[treeKey, links](maxLinks, nil)}
	g.keepLinks(treeKey{sha: SHA(sha)}, links{parents: make([]SHA, maxKeptParents+1)})
	if _, ok := g.links.Get(treeKey{sha: SHA(sha)}); ok {
		t.Error("a commit of many parents is kept")
	}
}
