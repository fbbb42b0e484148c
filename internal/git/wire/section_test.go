package wire_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"arbor/internal/errs"
	"arbor/internal/git/wire"
)

// A message that is read too far would take from the next one, or wait for a client that waits.
func TestSection(t *testing.T) {
	const stream = "0009want\n" + "0000" + "0009have\n" + "0009done\n" + "PACK"
	in := bufio.NewReader(iotest.OneByteReader(strings.NewReader(stream)))
	for n, want := range []string{"0009want\n0000", "0009have\n0009done\n"} {
		s := wire.NewSection(in, n == 1)
		got, err := io.ReadAll(s)
		if err != nil || string(got) != want || s.Done() != (n == 1) {
			t.Fatalf("message %d is %q, %v; want %q", n, got, err, want)
		}
	}
	if rest, _ := io.ReadAll(in); string(rest) != "PACK" {
		t.Errorf("%q is left", rest)
	}
	s := wire.NewSection(bufio.NewReader(strings.NewReader("0009done\n0000x")), false)
	if got, err := io.ReadAll(s); err != nil || string(got) != "0009done\n0000" {
		t.Errorf("a command of protocol 2 is %q, %v", got, err)
	}
}

// FuzzSection holds that a message is what stands up to its end, byte by byte, or an error that blames the
// client.
func FuzzSection(f *testing.F) {
	f.Add([]byte("0009want\n0000"), false)
	f.Add([]byte("0009done\n0008done"), true)
	f.Add([]byte("000"), true)
	f.Add([]byte("fff5"), false)
	f.Fuzz(func(t *testing.T, stream []byte, negotiation bool) {
		in := bufio.NewReader(bytes.NewReader(stream))
		s := wire.NewSection(in, negotiation)
		got, err := io.ReadAll(s)
		if !bytes.HasPrefix(stream, got) {
			t.Fatalf("%q of %q", got, stream)
		}
		switch {
		case err == nil && len(got) == 0 && len(stream) == 0:
		case err == nil && !bytes.HasSuffix(got, []byte(wire.FlushPkt)) && !s.Done():
			t.Fatalf("%q of %q is no message", got, stream)
		case err != nil && !errs.Is(err, errs.Malformed) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.Fatal(err)
		}
		if rest, _ := io.ReadAll(in); err == nil && len(got)+len(rest) != len(stream) {
			t.Fatalf("of %q %q is left", stream, rest)
		}
	})
}
