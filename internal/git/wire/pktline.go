package wire

import (
	"errors"
	"io"

	"arbor/internal/errs"
)

// MaxPktData is the most that one pkt-line carries: 65520 bytes with its four
// digits of length.
const MaxPktData = 65520 - 4

// PktKind says what a pkt-line is.
type PktKind uint8

// The kinds of pkt-lines.
const (
	PktData        PktKind = iota // carries bytes, perhaps none
	PktFlush                      // 0000: the end of a message
	PktDelim                      // 0001: between sections, protocol 2
	PktResponseEnd                // 0002: the end of a stateless response
)

// PktReader reads pkt-lines, never a byte further than the last one.
type PktReader struct {
	r   io.Reader
	buf []byte
}

// NewPktReader reads from r, which should be buffered.
func NewPktReader(r io.Reader) *PktReader { return &PktReader{r: r} }

// Next reads one pkt-line. The bytes are valid until the next call. At the end
// of input it gives io.EOF, within a line io.ErrUnexpectedEOF, and a Malformed
// error for a length that git does not allow.
func (p *PktReader) Next() (PktKind, []byte, error) {
	if p.buf == nil {
		p.buf = make([]byte, 1024)
	}
	if _, err := io.ReadFull(p.r, p.buf[:4]); err != nil {
		return 0, nil, err
	}
	n := 0
	for _, c := range p.buf[:4] {
		digit, ok := unhex(c)
		if !ok {
			return 0, nil, errs.Newf(errs.Malformed, "bad pkt-line length %q", p.buf[:4])
		}
		n = n<<4 | digit
	}
	switch {
	case n <= 2:
		return PktFlush + PktKind(n), nil, nil
	case n == 3 || n > MaxPktData+4:
		return 0, nil, errs.Newf(errs.Malformed, "bad pkt-line length %q", p.buf[:4])
	}
	n -= 4
	if n > len(p.buf) {
		p.buf = make([]byte, MaxPktData)
	}
	if _, err := io.ReadFull(p.r, p.buf[:n]); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return PktData, p.buf[:n], nil
}

func unhex(c byte) (int, bool) {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0'), true
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10, true
	}
	return 0, false
}

// MalformedEOF turns the end of input in mid-message into the client's fault.
func MalformedEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errs.Wrap(errs.Malformed, "the request ends too early", err)
	}
	return err
}

// The three pkt-lines without data.
const (
	FlushPkt       = "0000"
	delimPkt       = "0001"
	responseEndPkt = "0002"
)

// AppendPkt appends one pkt-line of up to MaxPktData bytes. Longer data is
// a defect in the caller, and cut.
func AppendPkt[T string | []byte](buf []byte, data T) []byte {
	if len(data) > MaxPktData {
		data = data[:MaxPktData]
	}
	buf = appendPktLength(buf, len(data))
	return append(buf, data...)
}

func appendPktLength(buf []byte, n int) []byte {
	const digits = "0123456789abcdef"
	n += 4
	return append(buf, digits[n>>12&15], digits[n>>8&15], digits[n>>4&15], digits[n&15])
}

// WriteFlush writes a flush-pkt.
func WriteFlush(w io.Writer) error {
	_, err := io.WriteString(w, FlushPkt)
	return err
}
