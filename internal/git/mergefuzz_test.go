package git

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

// Whatever a process prints, reading it must end, within its bounds, and must
// never take what is no SHA for the merged tree.
func FuzzReadMerge(f *testing.F) {
	sha := strings.Repeat("a", 40)
	for _, text := range []string{"", "\x00", sha, sha + "\x00", sha + "\x00a\x00b/c\x00", sha + "\x00\x00",
		sha + "\x00cut", sha + "\n\x00", strings.ToUpper(sha) + "\x00",
		sha + "\x00" + strings.Repeat("x", 100) + "\x00",
		sha + "\x00" + strings.Repeat("x\x00", maxConflicts+1)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := readMerge(bufio.NewReaderSize(strings.NewReader(text), 64))
		if err != nil && !errors.Is(err, ErrStop) && o.tree != "" || o.tree != "" && !o.tree.Valid() ||
			len(o.paths) > maxConflicts {
			t.Errorf("%q gives %+v, %v", text, o, err)
		}
		if fields := strings.Split(text, "\x00"); err == nil && o.tree != "" && len(text) > 41 &&
			len(o.paths) < strings.Count(text, "\x00")-1 {
			t.Errorf("of %q only %d paths were read", fields, len(o.paths))
		}
	})
}

// A loose object that is damaged is an error, and never costs more memory than
// it may have.
func FuzzReadLoose(f *testing.F) {
	deflated := func(text string) []byte {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.Bytes()
	}
	for _, text := range []string{"blob 2\x00hi", "tree 0\x00", "blob 99\x00hi", "blob -1\x00",
		"blob 99999999999999999999\x00", "what 1\x00x", "blob", ""} {
		f.Add(deflated(text))
	}
	f.Add(deflated("blob 2\x00hi")[:5])
	f.Add([]byte("blob 2\x00hi"))
	path := filepath.Join(f.TempDir(), "object")
	f.Fuzz(func(t *testing.T, contents []byte) {
		testkit.NoError(t, os.WriteFile(path, contents, 0o644))
		o, whole, err := readLoose(path, 100)
		if err == nil && whole && o.Type != TypeTree && len(o.Data) > 100 || err == nil && o.Type == "" {
			t.Errorf("%d bytes of %q, %v, %v", len(o.Data), o.Type, whole, err)
		}
	})
}
