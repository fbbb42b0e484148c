//go:build long

package git_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
)

// BenchmarkReceive compares taking a pack in with `git push` of the same to a
// bare repository by path, which also makes the pack.
func BenchmarkReceive(b *testing.B) {
	g := gittest.New(b, git.Options{})
	history := func(dir string) func(*testing.B) (string, []string) {
		return func(*testing.B) (string, []string) { return dir, []string{"refs/heads/main"} }
	}
	for name, make := range map[string]func(*testing.B) (string, []string){
		"one":     history(gittest.Repository(b, 1, 3)),
		"history": history(gittest.Repository(b, 2000, 200)),
		"refs":    manyRefs,
		"go": func(b *testing.B) (string, []string) {
			dir, _ := gittest.GoTree(b)
			return dir, []string{"refs/heads/main"}
		},
	} {
		b.Run(name, func(b *testing.B) {
			dir, refs := make(b)
			tips := strings.Fields(gittest.Run(b, dir, append([]string{"rev-parse"}, refs...)...))
			var shas []git.SHA
			for _, tip := range tips {
				shas = append(shas, git.SHA(tip))
			}
			pack := packOf(b, dir, tips, nil)
			b.Run("git", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					to := filepath.Join(b.TempDir(), fmt.Sprint(i))
					gittest.Run(b, dir, "init", "-q", "--bare", to)
					gittest.Run(b, dir, append([]string{"push", "-q", to}, refs...)...)
				}
			})
			b.Run("arbor", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					r := g.Repository(filepath.Join(b.TempDir(), fmt.Sprint(i)))
					q, err := r.Receive(b.Context(), git.ReceiveOptions{Pack: bytes.NewReader(pack),
						Commands: creates(shas...)})
					if err != nil {
						b.Fatal(err)
					}
					if err := q.Keep(); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// manyRefs is a repository with 300 branches of a commit each.
func manyRefs(b *testing.B) (string, []string) {
	dir := gittest.Repository(b, 10, 20)
	var refs []string
	for i := range 300 {
		ref := fmt.Sprintf("refs/heads/branch-%d", i)
		gittest.Import(b, dir, gittest.History(ref, 1, 1+i%20))
		refs = append(refs, ref)
	}
	return dir, refs
}
