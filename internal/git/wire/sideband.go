package wire

import (
	"io"
	"sync"
)

// Band is one of the three channels of a sideband stream.
type Band byte

// The bands.
const (
	BandData     Band = 1 // the report, or a pack
	BandProgress Band = 2 // text that git shows behind "remote:"
	BandFatal    Band = 3 // a last message; git gives up after it
)

// maxBandData is the most that one pkt-line of a band carries, in bytes.
const maxBandData = MaxPktData - 1

// Sideband interleaves bands on one writer. It is safe for concurrent use: a
// line is written whole.
type Sideband struct {
	mu    sync.Mutex
	w     io.Writer
	flush func() // after progress, which is worth nothing when it comes late
	buf   []byte
}

// NewSideband writes to w. flush may be nil; it is called after each piece of
// progress.
func NewSideband(w io.Writer, flush func()) *Sideband { return &Sideband{w: w, flush: flush} }

// Write sends p on one band, in as many pkt-lines as it takes.
func (s *Sideband) Write(band Band, p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := len(p)
	for len(p) > 0 {
		n := min(len(p), maxBandData)
		s.buf = append(appendPktLength(s.buf[:0], n+1), byte(band))
		s.buf = append(s.buf, p[:n]...)
		if _, err := s.w.Write(s.buf); err != nil {
			return total - len(p), err
		}
		p = p[n:]
	}
	if s.flush != nil && band == BandProgress {
		s.flush()
	}
	return total, nil
}

// Band is an io.Writer for one band.
func (s *Sideband) Band(band Band) io.Writer { return bandWriter{s, band} }

// Close ends the stream with a flush-pkt.
func (s *Sideband) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return WriteFlush(s.w)
}

type bandWriter struct {
	sideband *Sideband
	band     Band
}

func (b bandWriter) Write(p []byte) (int, error) { return b.sideband.Write(b.band, p) }
