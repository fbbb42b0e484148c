package wire

import (
	"bufio"
	"errors"
	"io"

	"arbor/internal/errs"
)

// Section reads one message of a client on a connection that stays open: pkt-lines up to a flush-pkt, which
// is part of it. It reads no byte further. In a negotiation of protocol 0 and 1 a line "done" ends it, too.
type Section struct {
	in          *bufio.Reader
	negotiation bool
	left        int // bytes of the pkt-line that is being read
	begun       bool
	ended       bool
	done        bool
}

// NewSection reads the next message of in, whose buffer holds 16 bytes or more.
func NewSection(in *bufio.Reader, negotiation bool) *Section {
	return &Section{in: in, negotiation: negotiation}
}

// Done reports that the message has ended with a line "done".
func (s *Section) Done() bool { return s.done }

// Read is io.Reader's. The end of the connection before the message is io.EOF as well, and an empty message;
// within it is io.ErrUnexpectedEOF. Error: Malformed for data that is not a pkt-line.
func (s *Section) Read(p []byte) (int, error) {
	if s.left == 0 {
		if s.ended {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n, err := s.in.Read(p[:min(len(p), s.left)])
	s.left -= n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next begins a pkt-line.
func (s *Section) next() error {
	head, err := s.in.Peek(4)
	if err != nil {
		if errors.Is(err, io.EOF) && (s.begun || len(head) > 0) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	n := 0
	for _, c := range head {
		digit, ok := unhex(c)
		if !ok {
			return errs.Newf(errs.Malformed, "bad pkt-line length %q", head)
		}
		n = n<<4 | digit
	}
	if n == 3 || n > MaxPktData+4 {
		return errs.Newf(errs.Malformed, "bad pkt-line length %q", head)
	}
	s.begun, s.ended, s.left = true, n == 0, max(n, 4)
	if s.negotiation && (n == len("0008done") || n == len("0009done\n")) {
		line, err := s.in.Peek(n)
		if err == nil && (string(line[4:]) == "done" || string(line[4:]) == "done\n") {
			s.done, s.ended = true, true
		}
	}
	return nil
}
