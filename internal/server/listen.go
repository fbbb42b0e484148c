package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/admission"
)

// Timeouts of connections. Those of bodies and answers are admission.Pace's.
const (
	headerTimeout  = 10 * time.Second
	idleConnection = 2 * time.Minute
	stopTimeout    = 30 * time.Second // for what is in flight when the server stops
)

// http2Bounds bound what a connection of HTTP/2 costs. Its requests are counted like connections
// (admission.Conns). A frame is in memory before anything counts it, and so is what came of a
// body that no handler reads yet: with net/http's own bounds that is a megabyte each. A
// connection whose client reads nothing is closed. Deadlines of a stream are timers that end it
// whenever they fire, so admission.Pace sets them for each read and write alone.
func http2Bounds() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          100,
		MaxReadFrameSize:              16 << 10, // the least that is allowed
		MaxReceiveBufferPerConnection: 256 << 10,
		MaxReceiveBufferPerStream:     256 << 10,
		WriteByteTimeout:              admission.Grace,
	}
}

// maxHeader bounds a request's header in bytes.
const maxHeader = 64 << 10

// Listen opens HOST:PORT, or unix:PATH as a Unix socket. A socket that a dead
// server left behind is replaced; one that still answers is not.
func Listen(address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return net.Listen("tcp", address)
	}
	l, err := net.Listen("unix", path)
	if err == nil {
		return l, nil
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || info.Mode()&os.ModeSocket == 0 {
		return nil, err
	}
	if c, dialErr := net.Dial("unix", path); dialErr == nil {
		c.Close()
		return nil, fmt.Errorf("another server listens on %s", path)
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

// Retire makes /readyz answer 503, so that balancers send requests elsewhere. All else is answered as before.
func (s *Server) Retire() { s.stopping.Store(true) }

// Serve answers requests on l until ctx is done; then it finishes what is in
// flight, within half a minute, and returns nil. Beside it the server's own
// work runs, which ends last.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.ServeHandler(ctx, l, s) }

// ServeHandler is Serve with a handler that wraps the server.
func (s *Server) ServeHandler(ctx context.Context, l net.Listener, h http.Handler) error {
	defer context.AfterFunc(ctx, s.Retire)()
	return Serve(ctx, l, h, s.log, s.control.Conns, s.Run)
}

// ServeAdmin serves Admin on l until ctx is done.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return Serve(ctx, l, s.Admin(), s.log, nil, nil)
}

// Serve is Server.Serve for any handler, with this package's timeouts and bounds.
// conns, perhaps nil, bounds the connections. work, perhaps nil, runs beside the
// requests: its context ends when the last is answered.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, conns *admission.Conns,
	work func(context.Context) error) error {
	// Requests do not end with ctx: a stop lets them finish.
	requests, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	server := &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTimeout, WriteTimeout: admission.Grace, IdleTimeout: idleConnection,
		BaseContext: func(net.Listener) context.Context { return requests },
		HTTP2:       http2Bounds(),
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if conns != nil {
		server.ConnState = conns.Watch
	}
	working, stopWork := context.WithCancel(requests)
	defer stopWork()
	var g errgroup.Group
	if work != nil {
		g.Go(func() error { return work(working) })
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(requests, stopTimeout)
		defer cancel()
		err := server.Shutdown(limit)
		if errors.Is(err, context.DeadlineExceeded) {
			abandon()
			err = server.Close()
		}
		stopped <- err
	}()
	err := server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = <-stopped
	}
	stopWork()
	return errors.Join(err, g.Wait())
}
