package wire

import (
	"io"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// endless repeats a pkt-line for ever, as a few bytes of gzip can.
type endless struct {
	line string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

// A request of half a megabyte that unpacks to gigabytes of prefixes would take
// the server's memory with it, and needs no account.
func TestLsRefsBounds(t *testing.T) {
	t.Parallel()
	head := string(AppendPkt(nil, "command=ls-refs\n")) + delimPkt
	long := string(AppendPkt(nil, "ref-prefix refs/heads/"+strings.Repeat("a", 60_000)))
	request, err := ReadLsRefs(strings.NewReader(head + strings.Repeat(long, 200) + FlushPkt))
	testkit.NoError(t, err)
	kept := 0
	for _, p := range request.Prefixes {
		kept += len(p)
	}
	if kept > maxPrefixBytes {
		t.Errorf("%d bytes of prefixes are kept, want at most %d", kept, maxPrefixBytes)
	}
	for name, line := range map[string]string{"prefixes": long, "flags": string(AppendPkt(nil, "peel"))} {
		in := io.MultiReader(strings.NewReader(head), &endless{line: line})
		if _, err := ReadLsRefs(in); !errs.Is(err, errs.Malformed) && !errs.Is(err, errs.TooLarge) {
			t.Errorf("endless %s: %v", name, err)
		}
	}
}
