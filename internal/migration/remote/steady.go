package remote

import (
	"context"
	"fmt"
	"io"
	"time"
)

// A server must send leastBytes in each minute in which its client waits for an answer to go on.
const leastBytes = 256 << 10

var errSlow = fmt.Errorf("the server sends less than %d KiB in a minute", leastBytes>>10)

// steady is the body of an answer that must keep coming.
type steady struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request
	cancel context.CancelCauseFunc
	minute time.Duration

	waited time.Duration // since bytes was 0
	bytes  int
}

// Read reads what has come. Error: also that too little comes.
func (s *steady) Read(p []byte) (int, error) {
	began := time.Now()
	timer := time.AfterFunc(s.minute, func() { s.cancel(errSlow) })
	n, err := s.ReadCloser.Read(p)
	timer.Stop()
	s.waited += time.Since(began)
	s.bytes += n
	if s.waited >= s.minute && err == nil {
		if s.bytes < leastBytes {
			s.cancel(errSlow)
		}
		s.waited, s.bytes = 0, 0
	}
	if cause := context.Cause(s.ctx); cause == errSlow && err != io.EOF {
		err = errSlow
	}
	return n, err
}

// Close ends the request.
func (s *steady) Close() error {
	defer s.cancel(nil)
	return s.ReadCloser.Close()
}
