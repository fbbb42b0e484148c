//go:build long

package repos_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// POST git/trees with ten new blobs on the tree of the Go distribution.
func BenchmarkCreateTree(b *testing.B) {
	source, tree := gittest.GoTree(b)
	files := strings.Split(gittest.Run(b, source, "ls-tree", "-r", "--name-only", string(tree)), "\n")
	s := apitest.Start(b, db.SQLite)
	s.User(b, "alice")
	s.Import(b, s.Repo(b, "alice/go", false), source)
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := int(n.Add(1))
			var entries []string
			for i := range 10 {
				path := files[(n*7919+i*104729)%len(files)]
				if i%2 == 0 {
					path = filepath.Join(filepath.Dir(path), fmt.Sprintf("new%d.go", n))
				}
				entries = append(entries, fmt.Sprintf(`{"path": %q, "mode": "100644", "content": %q}`, path,
					strings.Repeat(fmt.Sprintf("// line of change %d, file %d\n", n, i), 40)))
			}
			a := s.Do(b, apitest.Case{Do: "POST /repos/alice/go/git/trees", As: "alice",
				Send: `{"base_tree": "` + string(tree) + `", "tree": [` + strings.Join(entries, ",") + `]}`})
			if a.Status != 201 {
				b.Errorf("status %d: %s", a.Status, a.Body)
				return
			}
		}
	})
}
