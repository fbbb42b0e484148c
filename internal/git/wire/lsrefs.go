package wire

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"sort"
	"strings"

	"arbor/internal/errs"
)

// LsRefs is protocol 2's request for refs.
type LsRefs struct {
	Peel     bool     // tell what annotated tags name
	Symrefs  bool     // tell what HEAD names
	Unborn   bool     // tell it also when that branch does not exist yet
	Prefixes []string // of the names that are wanted; none means all
}

// Bounds of a request in protocol 2.
const (
	maxCapabilityLines = 200
	maxPrefixes        = 65536    // past it git ignores them all, and so do we
	maxPrefixBytes     = 4 << 20  // of all prefixes together; past it likewise
	maxLsRefs          = 32 << 20 // bytes of a whole request
	maxPeeked          = 16 << 10 // in which the command of a request stands
)

// PeekCommand reads the command of a protocol 2 request and leaves it there:
// "ls-refs", "fetch"; empty for an empty request. Capabilities may stand before it,
// as in git's requests for bundles. in buffers maxPeeked bytes at least.
func PeekCommand(in *bufio.Reader) (string, error) {
	for at := 0; ; {
		head, err := in.Peek(at + 4)
		if err != nil {
			return "", MalformedEOF(err)
		}
		if at == 0 && string(head) == FlushPkt {
			return "", nil
		}
		n := 0
		for _, c := range head[at:] {
			digit, ok := unhex(c)
			if !ok {
				return "", errs.New(errs.Malformed, "bad pkt-line length")
			}
			n = n<<4 | digit
		}
		if n <= 4 || at+n > maxPeeked-4 {
			return "", errs.New(errs.Malformed, "bad command in a protocol 2 request")
		}
		line, err := in.Peek(at + n)
		if err != nil {
			return "", MalformedEOF(err)
		}
		if command, ok := bytes.CutPrefix(line[at+4:], []byte("command=")); ok {
			return string(bytes.TrimSuffix(command, []byte("\n"))), nil
		}
		at += n
	}
}

// ReadLsRefs reads a whole `command=ls-refs` request. The error is Malformed
// for what git would not send, such as a request of more than 32 MiB.
func ReadLsRefs(r io.Reader) (*LsRefs, error) {
	pkts := NewPktReader(io.LimitReader(r, maxLsRefs))
	kind, err := readCapabilityLines(pkts, "ls-refs")
	if err != nil {
		return nil, err
	}
	request := &LsRefs{}
	tooMany, size := false, 0
	for kind == PktDelim || kind == PktData {
		var line []byte
		if kind, line, err = pkts.Next(); err != nil {
			return nil, MalformedEOF(err)
		}
		if kind == PktFlush {
			break
		}
		if kind != PktData {
			return nil, errs.New(errs.Malformed, "unexpected pkt-line in ls-refs")
		}
		if err := request.argument(strings.TrimSuffix(string(line), "\n")); err != nil {
			return nil, err
		}
		if size += len(line); len(request.Prefixes) > maxPrefixes || size > maxPrefixBytes {
			request.Prefixes, tooMany = nil, true
		}
	}
	if tooMany {
		request.Prefixes = nil
	}
	return request, nil
}

// readCapabilityLines reads the part of a request before its arguments and
// gives the kind of the pkt-line that ends it.
func readCapabilityLines(pkts *PktReader, command string) (PktKind, error) {
	for range maxCapabilityLines {
		kind, line, err := pkts.Next()
		if err != nil {
			return 0, MalformedEOF(err)
		}
		if kind == PktFlush || kind == PktDelim {
			if command != "" {
				return 0, errs.New(errs.Malformed, "a protocol 2 request names no command")
			}
			return kind, nil
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		switch {
		case kind != PktData:
			return 0, errs.New(errs.Malformed, "unexpected pkt-line in a protocol 2 request")
		case key == "command" && value == command:
			command = ""
		case key == "agent" || key == "server-option" || key == "session-id":
		case key == "object-format" && value == "sha1":
		default:
			return 0, errs.Newf(errs.Malformed, "unknown capability %q", errs.Clip(key))
		}
	}
	return 0, errs.New(errs.Malformed, "too many lines in a protocol 2 request")
}

// argument takes one argument of ls-refs.
func (l *LsRefs) argument(line string) error {
	switch line {
	case "peel":
		l.Peel = true
	case "symrefs":
		l.Symrefs = true
	case "unborn":
		l.Unborn = true
	default:
		prefix, ok := strings.CutPrefix(line, "ref-prefix ")
		if !ok {
			return errs.Newf(errs.Malformed, "unknown argument %q of ls-refs", errs.Clip(line))
		}
		l.Prefixes = append(l.Prefixes, prefix)
	}
	return nil
}

// WriteLsRefs answers an ls-refs request.
func WriteLsRefs(w io.Writer, request *LsRefs, refs Refs) error {
	out := bufio.NewWriterSize(w, 64<<10)
	wanted := prefixMatcher(request.Prefixes)
	line := make([]byte, 0, 256)
	if wanted("HEAD") {
		head := refs.headRef()
		switch {
		case head != nil:
			line = append(append(line, head.SHA...), " HEAD"...)
		case request.Unborn && request.Symrefs && refs.Head != "":
			line = append(line, "unborn HEAD"...)
		}
		if len(line) > 0 {
			if request.Symrefs {
				line = append(append(line, " symref-target:"...), refs.Head...)
			}
			writeLine(out, append(line, '\n'))
		}
	}
	for _, ref := range refs.List {
		if !wanted(ref.Name) {
			continue
		}
		line = append(append(append(line[:0], ref.SHA...), ' '), ref.Name...)
		if request.Peel && ref.Peeled != "" {
			line = append(append(line, " peeled:"...), ref.Peeled...)
		}
		writeLine(out, append(line, '\n'))
	}
	_, _ = out.WriteString(FlushPkt)
	return out.Flush()
}

// prefixMatcher says which names begin with one of the prefixes, in a time
// that hardly grows with their number: 65,536 of them are allowed.
func prefixMatcher(prefixes []string) func(string) bool {
	if len(prefixes) == 0 {
		return func(string) bool { return true }
	}
	sorted := slices.Sorted(slices.Values(prefixes))
	// Without those that another one covers, the only candidate for a name is
	// the last one that sorts before it.
	kept := sorted[:1]
	for _, p := range sorted[1:] {
		if !strings.HasPrefix(p, kept[len(kept)-1]) {
			kept = append(kept, p)
		}
	}
	return func(name string) bool {
		i := sort.Search(len(kept), func(i int) bool { return kept[i] > name })
		return i > 0 && strings.HasPrefix(name, kept[i-1])
	}
}
