package file_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/test/testkit"
)

// BenchmarkFiles stores and reads files in the data folder and in another folder, where digests are compared.
func BenchmarkFiles(b *testing.B) {
	for _, size := range []int{64 << 10, 8 << 20} {
		content := strings.Repeat("x", size)
		for _, place := range []string{"data", "folder"} {
			e := newEstate(b, db.SQLite)
			if place == "folder" {
				e.use()
			}
			benchmarkFiles(b, fmt.Sprintf("%s/%dKiB", place, size>>10), e, content)
		}
	}
}

func benchmarkFiles(b *testing.B, name string, e *estate, content string) {
	var f *file.File
	b.Run(name+"/store", func(b *testing.B) {
		for b.Loop() {
			f = e.add(content)
		}
	})
	b.Run(name+"/read", func(b *testing.B) {
		for b.Loop() {
			in, err := e.files.Open(b.Context(), f)
			testkit.NoError(b, err)
			_, err = io.Copy(io.Discard, in)
			testkit.NoError(b, err)
			testkit.NoError(b, in.Close())
		}
	})
}
