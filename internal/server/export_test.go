package server

import (
	"flag"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"arbor/internal/route"
	"arbor/internal/web"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "6") // many wait for a deadline to pass; -parallel still decides
	os.Exit(m.Run())
}

// Operation is the anchor of a route's documentation, for tests.
func Operation(r *route.Route) string { return operation(r) }

// InFlight is how many requests are being served at this moment.
func (s *Server) InFlight() int64 { return s.inFlight.Load() }

// Logging returns a server of which only Finish can be called.
func Logging(log *slog.Logger) *Server { return &Server{log: log} }

// Finish is the end of a request, without its metrics.
func (s *Server) Finish(w *web.Writer, r *http.Request, info *web.Info, start time.Time) {
	s.finish(w, r, info, nil, start)
}
