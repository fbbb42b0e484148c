package repo

import (
	"strings"
	"testing"
	"unsafe"
)

// What keeps a repository that was found does not keep the address of the request, which
// may have 64 KB.
func TestFoundKeyCopies(t *testing.T) {
	t.Parallel()
	address := "/alice/garden?" + strings.Repeat("x", 60<<10)
	key := newFoundKey(nil, address[1:6], address[7:13])
	if key.owner != "alice" || key.name != "garden" {
		t.Fatalf("%q, %q", key.owner, key.name)
	}
	if unsafe.StringData(key.owner) == unsafe.StringData(address[1:]) ||
		unsafe.StringData(key.name) == unsafe.StringData(address[7:]) {
		t.Error("the names are parts of the address")
	}
}
