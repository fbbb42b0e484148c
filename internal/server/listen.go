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

// Timeouts of connections. admission.Pace sets those of bodies and responses.
const (
	headerTimeout  = 10 * time.Second
	idleConnection = 2 * time.Minute
	stopTimeout    = 30 * time.Second // for requests in flight when the server stops
)

// http2Bounds limits the cost of an HTTP/2 connection. Its requests are counted like connections
// (admission.Conns). A frame is in memory before it is counted, and so is the part of a body that a handler
// has not read yet; net/http's defaults allow a megabyte of each. A connection whose client does not read
// is closed. A stream's deadline ends the stream when it passes, even while idle, so admission.Pace sets
// one only for each read and write.
func http2Bounds() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          100,
		MaxReadFrameSize:              16 << 10, // the minimum
		MaxReceiveBufferPerConnection: 256 << 10,
		MaxReceiveBufferPerStream:     256 << 10,
		WriteByteTimeout:              admission.Grace,
	}
}

// maxHeader is the limit of a request's header in bytes.
const maxHeader = 64 << 10

// Listen listens on HOST:PORT, or on a Unix socket for unix:PATH. It replaces a socket that a dead server
// left, and fails if a server still answers on it.
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

// Retire sets /readyz to 503, so that load balancers stop sending requests, and ends streams of events. Other
// requests are served as before.
func (s *Server) Retire() {
	s.stopping.Store(true)
	s.live.End()
}

// Serve serves requests on l and runs the server's background work until ctx is done. Then it waits up to
// half a minute for requests in flight, stops the background work and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.ServeHandler(ctx, l, s) }

// ServeHandler is like Serve with a handler that wraps the server.
func (s *Server) ServeHandler(ctx context.Context, l net.Listener, h http.Handler) error {
	defer context.AfterFunc(ctx, s.Retire)()
	return Serve(ctx, l, h, s.log, s.control.Conns, s.Run)
}

// ServeAdmin serves the handler of Admin on l until ctx is done.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return Serve(ctx, l, s.Admin(), s.log, nil, nil)
}

// Serve serves h on l with this package's timeouts and limits, like Server.Serve. conns limits connections
// and may be nil. work runs in the background and may be nil; its context is canceled after the last
// response.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger, conns *admission.Conns,
	work func(context.Context) error) error {
	// Requests outlive ctx, so that they can finish when the server stops.
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
