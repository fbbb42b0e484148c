package repos_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

type treePayload struct {
	SHA  string
	URL  string
	Tree []struct {
		Path, Mode, Type, SHA string
		Size                  *int64
		URL                   *string
	}
	Truncated *bool
}

// zoo creates a repository with one of everything that a tree can contain, and returns its path.
func zoo(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	file := func(mode, path, content string) {
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode, path, len(content), content)
	}
	b.WriteString("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 3\nzoo\n")
	file("100644", "plain.txt", "plain\n")
	file("100755", "run.sh", "#!/bin/sh\n")
	file("120000", "link", "plain.txt")
	file("100644", `"tab\tquote\"back\\slash\nline"`, "odd\n")
	file("100644", `"d\303\251j\303\240/caf\303\251"`, "utf-8\n")
	file("100644", `"latin\351"`, "not utf-8\n")
	file("100644", "a.b/deep/er/file", "deep\n")
	file("100644", "a/file", "sorts before a.b only as a file\n")
	file("100644", "empty", "")
	fmt.Fprintf(&b, "M 160000 %s module\n", strings.Repeat("1", 40))
	b.WriteString("\ntag v1\nfrom refs/heads/main\ntagger A <a@example.org> 1700000001 +0000\ndata 3\none\n")
	b.WriteString("reset refs/tags/light\nfrom refs/heads/main\n\nreset refs/heads/feature/x\nfrom refs/heads/main\n\n")
	dir := gittest.Bare(t)
	gittest.Import(t, dir, &b)
	return dir
}

// lsTree lists what git itself says, as the API would show it.
func lsTree(t *testing.T, dir, rev string, recursive bool) []string {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if recursive {
		args = append(args, "-r", "-t")
	}
	var want []string
	for line := range strings.SplitSeq(strings.TrimSuffix(gittest.Run(t, dir, append(args, rev)...), "\x00"),
		"\x00") {
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		want = append(want, fmt.Sprintf("%s %s %s %s %s", f[0], f[1], f[2], f[3],
			strings.ToValidUTF8(path, "\ufffd")))
	}
	return want
}

func (p *treePayload) lines() []string {
	var got []string
	for _, e := range p.Tree {
		size := "-"
		if e.Size != nil {
			size = fmt.Sprint(*e.Size)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s %s", e.Mode, e.Type, e.SHA, size, e.Path))
	}
	return got
}

func compare(t *testing.T, name string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", name, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: entry %d is\n%q, want\n%q", name, i, got[i], want[i])
		}
	}
}

// A client that reads a tree must see exactly what git has, by whichever name
// it asks (decisions 43, 50).
func TestTreeEqualsGit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := zoo(t)
		s.Import(t, s.Repo(t, "alice/zoo", false), dir)
		tree := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main^{tree}"))
		commit := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main"))
		tag := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "v1"))
		for _, name := range []string{tree, commit, tag, strings.ToUpper(tree), "main", "feature/x",
			"feature%2Fx", "v1", "light", "refs/heads/main", "heads/main", "tags/v1", "HEAD"} {
			for query, recursive := range map[string]bool{"": false, "?recursive=1": true,
				"?recursive=true": true, "?recursive=0": false, "?recursive=false": false,
				"?recursive=": false} {
				a := s.Check(t, apitest.Case{Do: "GET /repos/alice/zoo/git/trees/" + name + query,
					Status: 200})
				var p treePayload
				a.JSON(t, &p)
				if p.SHA != tree || p.URL != s.URL+"/repos/alice/zoo/git/trees/"+tree || p.Truncated == nil ||
					*p.Truncated {
					t.Fatalf("%s%s: %+v", name, query, p)
				}
				if etag := a.Header.Get("Etag"); !strings.Contains(etag, tree) {
					t.Errorf("ETag %s does not contain the SHA", etag)
				}
				compare(t, name+query, p.lines(), lsTree(t, dir, tree, recursive))
			}
		}
		a := s.Check(t, apitest.Case{Do: "GET /api/v3/repos/alice/zoo/git/trees/main", Status: 200})
		var p treePayload
		a.JSON(t, &p)
		for _, e := range p.Tree {
			switch {
			case e.Type == "commit" && e.URL != nil:
				t.Errorf("a submodule has the url %s", *e.URL)
			case e.Type == "blob" && *e.URL != s.URL+"/api/v3/repos/alice/zoo/git/blobs/"+e.SHA:
				t.Errorf("blob %s", *e.URL)
			case e.Type == "tree":
				s.Check(t, apitest.Case{Do: "GET " + strings.TrimPrefix(*e.URL, s.URL), Status: 200,
					Want: `{"sha": "` + e.SHA + `"}`})
			}
		}
	})
}

// Names that are not a tree of this repository are not found: other types, short names, objects of others,
// options and paths (decision 50).
func TestTreeNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := zoo(t)
		s.Import(t, s.Repo(t, "alice/zoo", false), dir)
		s.Import(t, s.Repo(t, "alice/other", true), gittest.Repository(t, 3, 3))
		foreign := ""
		s.Check(t, apitest.Case{Do: "GET /repos/alice/other/git/trees/main", As: "alice", Status: 200,
			Keep: func(a *apitest.Answer) {
				var p treePayload
				a.JSON(t, &p)
				foreign = p.SHA
			}})
		blob := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main:plain.txt"))
		tree := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main^{tree}"))
		for _, name := range []string{blob, foreign, tree[:10], "nobranch", "main^{tree}", "main:a", "HEAD~1",
			"--help", "-r", "--output=/tmp/x", "..%2f..%2fother", "main..main", "@", "%00", "main%00",
			"main%0a", strings.Repeat("0", 40), strings.Repeat("f", 40), "refs", "%ff"} {
			s.Check(t, apitest.Case{Do: "GET /repos/alice/zoo/git/trees/" + name, Status: 404,
				Want: `{"message": "Not Found"}`})
		}
		s.Check(t, apitest.Case{Name: "no name at all", Do: "GET /repos/alice/zoo/git/trees/", Status: 404})
	})
}

// A huge tree is cut off where the operator said, and tells so.
func TestTruncation(t *testing.T) {
	t.Parallel()
	limit := func(o *server.Options) { o.MaxTreeEntries = 4 }
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := zoo(t)
		s.Import(t, s.Repo(t, "alice/zoo", false), dir)
		for query, recursive := range map[string]bool{"": false, "?recursive=1": true} {
			var p treePayload
			s.Check(t, apitest.Case{Do: "GET /repos/alice/zoo/git/trees/main" + query, Status: 200}).JSON(t,
				&p)
			if p.Truncated == nil || !*p.Truncated {
				t.Errorf("%q: not truncated", query)
			}
			compare(t, query, p.lines(), lsTree(t, dir, "main", recursive)[:4])
		}
	}, limit)
}

// Readers who come together share one rendering; a tree too large to keep is
// streamed to each, whole (invariant: bounded memory).
func TestManyReadersOfALargeTree(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 4\nwide\n")
	const files = 50_000 // about 14 MB of JSON: more than one answer may keep
	for i := range files {
		fmt.Fprintf(&b, "M 100644 :1 directory-with-a-name-%03d/file-with-a-rather-long-name-%06d-and-a-tail.txt\n", i/100, i)
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, &b)
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/wide", false), dir)
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() {
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/wide/git/trees/main?recursive=1"})
			entries := bytes.Count(a.Body, []byte(`{"path":`))
			if a.Status != 200 || entries != files+files/100 ||
				!bytes.HasSuffix(a.Body, []byte(`],"truncated":false}`)) {
				t.Errorf("status %d, %d entries in %d bytes", a.Status, entries, len(a.Body))
			}
		})
	}
	readers.Wait()
}

// A tree whose paths are long is cut off, too: a repository of a few hundred KB can name a gigabyte of them.
func TestTruncationOfLongPaths(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 4\ndeep\n")
	deep := strings.Repeat(strings.Repeat("d", 240)+"/", 60)
	for i := range 3000 {
		fmt.Fprintf(&b, "M 100644 :1 %s%d\n", deep, i)
	}
	dir := gittest.Bare(t)
	gittest.Import(t, dir, &b)
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/deep", false), dir)
	a := s.Do(t, apitest.Case{Do: "GET /repos/alice/deep/git/trees/main?recursive=1"})
	if a.Status != 200 || len(a.Body) > 40<<20 || !bytes.HasSuffix(a.Body, []byte(`],"truncated":true}`)) {
		t.Errorf("status %d, %d bytes, ends with %q", a.Status, len(a.Body), a.Body[max(0, len(a.Body)-30):])
	}
}
