//go:build long

package git_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"arbor/internal/test/gittest"
)

// BenchmarkPush is what the client waits for: a push over HTTP, against the
// same push to a bare repository by path.
func BenchmarkPush(b *testing.B) {
	goTree := func(b *testing.B) (string, []string) {
		dir, _ := gittest.GoTree(b)
		return dir, []string{"refs/heads/main"}
	}
	history := func(b *testing.B) (string, []string) {
		return gittest.Repository(b, 2000, 200), []string{"refs/heads/main"}
	}
	for _, c := range []struct {
		name string
		make func(*testing.B) (string, []string)
	}{{"history", history}, {"refs", manyRefs}, {"go", goTree}} {
		b.Run(c.name, func(b *testing.B) {
			dir, refs := c.make(b)
			push := append([]string{"push", "-q", ""}, refs...)
			b.Run("path", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					push[2] = filepath.Join(b.TempDir(), fmt.Sprint(i))
					gittest.Run(b, dir, "init", "-q", "--bare", push[2])
					b.StartTimer()
					gittest.Run(b, dir, push...)
				}
			})
			b.Run("http", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					b.StopTimer()
					s := serve(b, filepath.Join(b.TempDir(), fmt.Sprint(i)))
					push[2] = s.url
					b.StartTimer()
					gittest.Run(b, dir, push...)
				}
			})
		})
	}
}
