package lfs

import (
	"io"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/wire"
)

// Bounds of a message, but for the bytes of an object.
const (
	maxArgs  = 100
	maxLines = maxBatch
)

// message is a request of git-lfs-transfer: a command with at most one word, arguments, and behind a delimiter lines, or
// the bytes of an object.
type message struct {
	command, word string
	args          map[string]string
	lines         []string
	data          io.Reader // of an object, up to the flush; nil: there is none
}

// readMessage reads a message to its flush, or to the bytes of an object. Errors: 400, 413; io.EOF and those of the
// reader.
func readMessage(in *wire.PktReader) (*message, error) {
	m := &message{args: map[string]string{}}
	kind, line, err := in.Next()
	if err != nil {
		return nil, err
	}
	if kind != wire.PktData {
		return nil, errs.New(errs.Malformed, "a request begins with a command")
	}
	m.command, m.word, _ = strings.Cut(text(line), " ")
	for size := len(line); ; size += len(line) {
		if kind, line, err = in.Next(); err != nil {
			return nil, err
		}
		switch {
		case kind == wire.PktFlush:
			return m, nil
		case kind == wire.PktDelim && m.command == "put-object":
			m.data = &pktBytes{in: in}
			return m, nil
		case kind == wire.PktDelim && m.lines == nil:
			m.lines = []string{}
			continue
		case kind != wire.PktData:
			return nil, errs.New(errs.Malformed, "a request has at most one delimiter")
		case size > maxRequest || len(m.lines) > maxLines || len(m.args) > maxArgs:
			return nil, errs.New(errs.TooLarge, "the request is too large")
		}
		if m.lines != nil {
			m.lines = append(m.lines, text(line))
			continue
		}
		key, value, ok := strings.Cut(text(line), "=")
		if !ok {
			return nil, errs.Newf(errs.Malformed, "%q is no argument: KEY=VALUE", errs.Clip(text(line)))
		}
		m.args[key] = value
	}
}

// text is a pkt-line without its line feed.
func text(line []byte) string { return strings.TrimSuffix(string(line), "\n") }

// pktBytes reads the data of pkt-lines up to a flush.
type pktBytes struct {
	in   *wire.PktReader
	rest []byte
	err  error // the end
}

func (p *pktBytes) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		kind, line, err := p.in.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // within a message
			p.err = io.ErrUnexpectedEOF
		case err != nil:
			p.err = err
		case kind == wire.PktFlush:
			p.err = io.EOF
		case kind != wire.PktData:
			p.err = errs.New(errs.Malformed, "the bytes of an object end with a flush")
		}
		p.rest = line
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
