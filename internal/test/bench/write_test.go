//go:build long

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// write measures what clients without a clone wait for, and what their writing
// costs those who read.
func (s *suite) write(b *testing.B) {
	b.Run("tree", s.writeTrees)
	b.Run("commits", s.writeCommits)
}

// writeTrees has clients post trees of ten new files on the tree of the Go
// distribution.
func (s *suite) writeTrees(b *testing.B) {
	a := s.start(b)
	a.create(b, "go")
	source, tree := gittest.GoTree(b)
	gittest.Run(b, source, "push", "-q", a.remote("go"), allBranches)
	files := strings.Split(gittest.Run(b, source, "ls-tree", "-r", "--name-only", string(tree)), "\n")
	w := &treeWriter{tree: tree, files: files, token: a.token}
	for i := range 5 {
		w.check(b, a, source, i)
	}
	for _, connections := range []int{1, 8} {
		s.part(b, fmt.Sprintf("connections-%d", connections), func(b *testing.B) {
			l := newLoad(b, a.url, connections, func(int) []byte { return w.request() })
			l.run(b, time.Second)
			rate := l.run(b, 10*time.Second)
			detail := fmt.Sprintf("10 new blobs each on %d files", len(files))
			if connections == 1 {
				s.note(b, rate, "trees/s", detail) // what one client gets is mostly the disk's sync
				return
			}
			s.atLeast(b, rate, 200, "trees/s", detail)
		})
	}
}

// treeWriter creates distinct requests.
type treeWriter struct {
	tree  git.SHA
	files []string
	token string
	n     atomic.Int64
}

// entries returns ten files, new ones or replacements of existing ones.
func (w *treeWriter) entries() (paths, contents []string) {
	n := int(w.n.Add(1))
	for i := range 10 {
		path := w.files[(n*7919+i*104729)%len(w.files)]
		if i%2 == 0 {
			path = filepath.Join(filepath.Dir(path), fmt.Sprintf("new%d.go", n))
		}
		paths = append(paths, path)
		contents = append(contents, strings.Repeat(fmt.Sprintf("// line of change %d, file %d\n", n, i), 40))
	}
	return paths, contents
}

func (w *treeWriter) body(paths, contents []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"base_tree":%q,"tree":[`, w.tree)
	for i, path := range paths {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"path":%q,"mode":"100644","type":"blob","content":%q}`, path, contents[i])
	}
	return b.String() + "]}"
}

func (w *treeWriter) request() []byte {
	return request("POST", "/repos/alice/go/git/trees", w.token, w.body(w.entries()))
}

// check holds one answer against what git itself makes of the same files.
func (w *treeWriter) check(b *testing.B, a *arbor, source string, i int) {
	paths, contents := w.entries()
	got := a.call(b, "POST", "/repos/alice/go/git/trees", w.body(paths, contents))["sha"]
	dir := filepath.Join(b.TempDir(), fmt.Sprint(i))
	gittest.Run(b, source, "clone", "-q", "--bare", "--shared", source, dir)
	gittest.Run(b, dir, "read-tree", string(w.tree))
	var in bytes.Buffer
	for k, path := range paths {
		fmt.Fprintf(&in, "100644 %s\t%s\n", gittest.Object(b, dir, git.TypeBlob, contents[k]), path)
	}
	gittest.Pipe(b, dir, &in, "update-index", "--index-info")
	if want := gittest.Run(b, dir, "write-tree"); got != want {
		b.Fatalf("tree %s, git says %s", got, want)
	}
}

// call sends a request and returns the JSON of its response.
func (a *arbor) call(b testing.TB, method, path, body string) map[string]any {
	answer, err := a.try(method, path, body)
	testkit.NoError(b, err)
	return answer
}

func (a *arbor) try(method, path, body string) (map[string]any, error) {
	r, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode > 299 {
		err = fmt.Errorf("%w: %s %s: %s", errStatus, method, path, text)
	}
	if err != nil {
		return nil, err
	}
	var value map[string]any
	return value, json.Unmarshal(text, &value)
}

// apiCommits is how many commits are made one after the other.
const apiCommits = 10_000

// writeCommits creates many commits over HTTP in one of two identical repositories, and then compares reads
// of the older commits in both.
func (s *suite) writeCommits(b *testing.B) {
	a := s.start(b)
	dir := gittest.Repository(b, 3000, 50)
	for _, name := range []string{"control", "small"} {
		a.create(b, name)
		gittest.Run(b, dir, "push", "-q", a.remote(name), allBranches)
	}
	trees := strings.Split(gittest.Run(b, dir, "log", "--format=%T", "main"), "\n")
	s.part(b, "rate", func(b *testing.B) {
		took := timed(func() { a.commitMany(b, gittest.Run(b, dir, "rev-parse", "main"), apiCommits) })
		s.note(b, apiCommits/took, "commits/s", "tree, commit and ref each, 4 clients")
	})
	s.part(b, "reads-after", func(b *testing.B) {
		time.Sleep(5 * time.Second)
		var c *client
		look := 0.0
		read := func(name string) func() float64 {
			ask := func(trees ...string) float64 {
				return timed(func() {
					for _, tree := range trees { // no cache holds them: see below
						if _, err := c.must(get("/repos/alice/"+name+"/git/trees/"+tree,
							a.token)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			return func() float64 {
				// Objects were written without a ref, so the first tree that a client names has
				// the server find all that refs lead to, once.
				look = max(look, ask(trees[1000]))
				return ask(trees[:1000]...)
			}
		}
		round := 0
		fresh := func(measure func() float64) func() float64 {
			return func() float64 {
				if round++; round%2 == 1 {
					a.stop(b)
					*a = *s.serve(b, a.data, a.token)
					c = connect(b, a.url)
				}
				return measure()
			}
		}
		ratio, x, y := pairs(7, fresh(read("small")), fresh(read("control")))
		s.note(b, 1000*look, "ms",
			"at most, for the first tree by SHA after a start: all that refs lead to is found")
		s.atMost(b, ratio, 1.2, "x-of-before", "1000 first reads: "+seconds(x, y))
	})
}

// commitMany creates commits on four branches concurrently.
func (a *arbor) commitMany(b *testing.B, from string, n int) {
	var g errgroup.Group
	for client := range 4 {
		branch := fmt.Sprintf("api%d", client)
		a.call(b, "POST", "/repos/alice/small/git/refs",
			fmt.Sprintf(`{"ref":"refs/heads/%s","sha":%q}`, branch, from))
		g.Go(func() error {
			tip := from
			for i := range n / 4 {
				tree, err := a.try("POST", "/repos/alice/small/git/trees", fmt.Sprintf(
					`{"base_tree":%q,"tree":[{"path":"dir%d/file-of-%s.txt","mode":"100644","content":"change %d\n"}]}`, tip, i%10, branch, i))
				if err != nil {
					return err
				}
				commit, err := a.try("POST", "/repos/alice/small/git/commits", fmt.Sprintf(
					`{"message":"change %d","tree":%q,"parents":[%q]}`, i, tree["sha"], tip))
				if err != nil {
					return err
				}
				tip = commit["sha"].(string)
				if _, err := a.try("PATCH", "/repos/alice/small/git/refs/heads/"+branch,
					fmt.Sprintf(`{"sha":%q}`, tip)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	testkit.NoError(b, g.Wait())
}
