package wire_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"arbor/internal/git/object"
	"arbor/internal/git/wire"
	"arbor/internal/test/testkit"
)

// A repository may have many refs, and a crowd may ask for them: the list is
// written as it is, without a copy for each.
func TestAdvertisementCopiesNoList(t *testing.T) {
	sha := object.SHA(strings.Repeat("1", 40))
	refs := wire.Refs{Head: "refs/heads/main", List: make([]wire.Ref, 0, 50_001)}
	refs.List = append(refs.List, wire.Ref{Name: "refs/heads/main", SHA: sha})
	for n := range 50_000 {
		refs.List = append(refs.List, wire.Ref{Name: fmt.Sprintf("refs/heads/x%05d", n), SHA: sha})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	testkit.NoError(t, wire.WriteAdvertisement(io.Discard, wire.ServiceUploadPack, 0, refs))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a list of %d refs takes %d bytes to write", len(refs.List), n)
	}
}
