package wire

import (
	"bytes"
	"context"
	"errors"
	"io"

	"arbor/internal/git/object"
)

// fetchRequest is what a client names in a request for objects.
type fetchRequest struct {
	wants []object.SHA
	known []object.SHA // that the client says it has: have and shallow
}

// The words behind which a request names an object, in each version of the
// protocol. git itself refuses lines with anything but an object behind them.
var wantWord, knownWords = []byte("want "), [...][]byte{[]byte("have "), []byte("shallow ")}

// readFetch reads what a request names, up to its end. Error: Malformed.
func readFetch(request []byte) (named fetchRequest, err error) {
	in := NewPktReader(bytes.NewReader(request))
	for {
		_, line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return named, nil
		}
		if err != nil {
			return named, MalformedEOF(err)
		}
		if sha, ok := objectBehind(line, wantWord); ok {
			named.wants = append(named.wants, sha)
		}
		for _, word := range knownWords {
			if sha, ok := objectBehind(line, word); ok {
				named.known = append(named.known, sha)
			}
		}
	}
}

// IsLast reports whether a request for objects is the last one of a fetch, which git answers with a pack.
func IsLast(request []byte) bool {
	in := NewPktReader(bytes.NewReader(request))
	for {
		_, line, err := in.Next()
		if err != nil {
			return false
		}
		if string(bytes.TrimSuffix(line, []byte("\n"))) == "done" {
			return true
		}
	}
}

// objectBehind reads the object that a line names behind a word.
func objectBehind(line, word []byte) (object.SHA, bool) {
	rest, ok := bytes.CutPrefix(line, word)
	if !ok || len(rest) < 40 {
		return "", false
	}
	sha, err := object.ParseSHA(string(rest[:40]))
	return sha, err == nil
}

// withoutKnown is a request without the lines which say that the client has one
// of the objects.
func withoutKnown(request []byte, absent map[object.SHA]bool) ([]byte, error) {
	in, out := NewPktReader(bytes.NewReader(request)), make([]byte, 0, len(request))
	for {
		kind, line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, MalformedEOF(err)
		case kind != PktData:
			out = append(out, [...]string{FlushPkt, delimPkt, responseEndPkt}[kind-PktFlush]...)
			continue
		}
		drop := false
		for _, word := range knownWords {
			sha, ok := objectBehind(line, word)
			drop = drop || ok && absent[sha]
		}
		if !drop {
			out = AppendPkt(out, line)
		}
	}
}

// NotOurs refuses an object that the client may not see. Its text is git's own.
type NotOurs object.SHA

func (e NotOurs) Error() string { return "upload-pack: not our ref " + string(e) }

// OnlyThere holds a request to the objects that the client may see. It refuses one that
// wants others, and removes others that the client says it has. Errors: NotOurs,
// Malformed.
func OnlyThere(
	ctx context.Context, request []byte,
	absent func(context.Context, []object.SHA) (map[object.SHA]bool, error),
) ([]byte, error) {
	named, err := readFetch(request)
	if err != nil {
		return nil, err
	}
	gone, err := absent(ctx, append(named.wants[:len(named.wants):len(named.wants)], named.known...))
	if err != nil || len(gone) == 0 {
		return request, err
	}
	for _, sha := range named.wants {
		if gone[sha] {
			return nil, NotOurs(sha)
		}
	}
	return withoutKnown(request, gone)
}
