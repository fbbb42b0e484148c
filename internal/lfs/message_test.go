package lfs

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"arbor/internal/git/wire"
	"arbor/internal/test/testkit"
)

// pkts are pkt-lines; 0000 and 0001 stand for themselves.
func pkts(lines ...string) (out []byte) {
	for _, line := range lines {
		if line == "0000" || line == "0001" {
			out = append(out, line...)
			continue
		}
		out = wire.AppendPkt(out, line)
	}
	return out
}

// A request of git lfs is read to its end, and the bytes of an object as they are.
func TestReadMessage(t *testing.T) {
	in := wire.NewPktReader(bytes.NewReader(pkts("batch\n", "transfer=ssh\n", "0001", "a 1\n", "b 2\n", "0000",
		"put-object x\n", "size=5\n", "0001", "by\n", "tes", "0000", "quit", "0000")))
	m, err := readMessage(in)
	testkit.NoError(t, err)
	if m.command != "batch" || m.args["transfer"] != "ssh" || strings.Join(m.lines, ",") != "a 1,b 2" || m.data != nil {
		t.Errorf("%+v", m)
	}
	m, err = readMessage(in)
	testkit.NoError(t, err)
	data, err := io.ReadAll(m.data)
	testkit.NoError(t, err)
	if m.word != "x" || m.args["size"] != "5" || string(data) != "by\ntes" {
		t.Errorf("%+v %q", m, data)
	}
	if m, err = readMessage(in); err != nil || m.command != "quit" {
		t.Errorf("%+v %v", m, err)
	}
	many := make([]string, 0, maxLines+10)
	many = append(many, "batch", "0001")
	for range maxLines + 5 {
		many = append(many, "a 1")
	}
	for name, bad := range map[string][]byte{"nothing": pkts("0000"), "two delimiters": pkts("batch", "0001", "0001", "0000"),
		"no argument": pkts("batch", "transfer", "0000"), "no length": []byte("zzzz"), "no end": pkts("batch", "a=b"),
		"too many lines": pkts(append(many, "0000")...)} {
		if m, err := readMessage(wire.NewPktReader(bytes.NewReader(bad))); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// FuzzReadMessage: whatever a client sends is read to an end within bounds.
func FuzzReadMessage(f *testing.F) {
	f.Add(pkts("batch\n", "transfer=ssh\n", "0001", "a 1\n", "0000"))
	f.Add(pkts("put-object x\n", "size=5\n", "0001", "bytes", "0000"))
	f.Add(pkts("lock\n", "path=a b\n", "0000"))
	f.Add([]byte("0005x0002"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		in := wire.NewPktReader(bytes.NewReader(sent))
		for {
			m, err := readMessage(in)
			if err != nil {
				return
			}
			if len(m.lines) > maxLines+1 || len(m.args) > maxArgs+1 {
				t.Fatalf("%d lines, %d arguments", len(m.lines), len(m.args))
			}
			if m.data != nil {
				n, err := io.Copy(io.Discard, m.data)
				if n > int64(len(sent)) {
					t.Fatalf("%d bytes of %d", n, len(sent))
				}
				if err != nil {
					return
				}
			}
		}
	})
}
