package packfile

import (
	"fmt"
	"math"
	"testing"

	"arbor/internal/git/object"
	"arbor/internal/test/testkit"
)

// An object that would begin past 2 GiB in a pack written here is refused, since
// its index could not say where it is.
func TestPackEndsAt31Bits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := NewWriter(dir, 2)
	testkit.NoError(t, err)
	defer p.Drop()
	o, err := new(Packer).Pack(object.NewObject{Type: object.TypeBlob, Data: []byte("x")})
	testkit.NoError(t, err)
	p.offset = math.MaxInt32
	if err := p.Add(o); err != nil {
		t.Errorf("the last object with an offset that fits is refused: %v", err)
	}
	if err := p.Add(o); err == nil {
		t.Errorf("an object at %d is written", p.offset)
	}
	index := indexBytes(p.objects, make([]byte, 20))
	if got := fmt.Sprintf("%x", index[len(index)-44:len(index)-40]); got != "7fffffff" {
		t.Errorf("the index says it is at %s", got)
	}
}
