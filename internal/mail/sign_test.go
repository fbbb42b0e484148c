package mail

import (
	"math"
	"strings"
	"testing"
)

// A signed address says what it was made for, to whoever has the key, and in the case that a mail server leaves it.
func TestSigned(t *testing.T) {
	t.Parallel()
	key, other := []byte("a key of this database"), []byte("that of another one")
	for _, s := range []*Signed{{Account: 1, Kind: 'i', ID: 7}, {Account: math.MaxInt64, Kind: 'a', ID: math.MaxInt64}} {
		text := s.Sign(key, "stop")
		if len(text) > maxSecret || text != strings.ToLower(text) {
			t.Errorf("%q", text)
		}
		read, ok := ReadSigned(strings.ToUpper(text))
		if !ok || read.Account != s.Account || read.Kind != s.Kind || read.ID != s.ID {
			t.Fatalf("%q is read as %+v", text, read)
		}
		if !read.Is(key, "stop") || read.Is(other, "stop") || read.Is(key, "reply") {
			t.Errorf("%q: the signature is not checked", text)
		}
		read.Account--
		if read.Is(key, "stop") {
			t.Error("it holds for another account")
		}
	}
}

// FuzzReadSigned: no text breaks reading, and one that nobody signed does not hold.
func FuzzReadSigned(f *testing.F) {
	key := []byte("a key that nobody has")
	f.Add((&Signed{Account: 1, Kind: 'i', ID: 7}).Sign([]byte("another"), "stop"))
	f.Add("")
	f.Add(strings.Repeat("a", maxSecret))
	f.Fuzz(func(t *testing.T, text string) {
		if s, ok := ReadSigned(text); ok && s.Is(key, "stop") {
			t.Errorf("%q holds", text)
		}
	})
}
