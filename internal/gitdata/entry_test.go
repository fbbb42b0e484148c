package gitdata

import (
	"testing"

	"arbor/internal/git"
	"arbor/internal/web"
)

// entryStruct is what appendEntry appends, for encoding/json.
type entryStruct struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size *int64 `json:"size,omitzero"`
	URL  string `json:"url,omitzero"`
}

const (
	someTrees = "http://here/repos/alice/garden/git/trees/"
	someBlobs = "http://here/repos/alice/garden/git/blobs/"
	someSHA   = "7fd1a60b01f91b314f59955a4e4d4e80d8edf11d"
)

func inStruct(e *git.WalkEntry) entryStruct {
	out := entryStruct{Path: string(e.Path), Mode: e.Mode.String(), Type: string(e.Type), SHA: string(e.SHA)}
	switch e.Type {
	case git.TypeBlob:
		out.Size, out.URL = &e.Size, someBlobs+out.SHA
	case git.TypeTree:
		out.URL = someTrees + out.SHA
	}
	return out
}

var someEntries = []*git.WalkEntry{
	{Mode: git.ModeFile, Type: git.TypeBlob, SHA: []byte(someSHA), Path: []byte("src/cmd/\"q\" & <é>.go"),
		Size: 12_345},
	{Mode: git.ModeTree, Type: git.TypeTree, SHA: []byte(someSHA), Path: []byte("src/cmd/go"), Size: -1},
	{Mode: git.ModeSubmodule, Type: git.TypeCommit, SHA: []byte(someSHA),
		Path: []byte("src/vendor"), Size: -1},
}

// What is appended by hand is what encoding/json makes of the struct.
func TestAppendEntry(t *testing.T) {
	t.Parallel()
	for _, e := range someEntries {
		want, err := web.Marshal(inStruct(e))
		if got := appendEntry(nil, e, someTrees, someBlobs); err != nil || string(got) != string(want) {
			t.Errorf("got  %s\nwant %s, %v", got, want, err)
		}
	}
}

// BenchmarkAppendEntry renders the entry of a file by hand and by encoding/json.
func BenchmarkAppendEntry(b *testing.B) {
	b.Run("hand", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = appendEntry(buf[:0], someEntries[0], someTrees, someBlobs)
		}
	})
	b.Run("struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := web.Marshal(inStruct(someEntries[0])); err != nil {
				b.Fatal(err)
			}
		}
	})
}
