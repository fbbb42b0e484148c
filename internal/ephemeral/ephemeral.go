// Package ephemeral serves a store that is thrown away, and that can be reset: a
// moment later everything is as the seed says, for the next test to begin.
//
//	ephemeral.go  Start, Reset, Close
//	world.go      one life of the store, from a reset to the next
//	ssh.go        git over SSH
//	copy.go       how a life begins: with a copy of the seeded store
//	sweep.go      folders that killed processes left behind
//
// The seed is applied once. Each reset moves to a copy of the outcome that lies
// ready, with a database, a git and a server of its own, so nothing that was
// cached or is going on can be seen from one life in the next: generations and
// stamps restart. Requests from before the reset end in the old life,
// which is then removed; connections stay open. The next copy is prepared concurrently.
//
// The seeded folder itself is never served: each life is a copy, the database copied and objects
// linked. Its database is not synced, and closing it lets go even of the memory that states are
// read from.
package ephemeral

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/seed"
	"arbor/internal/server"
)

// Options are what an ephemeral server is made of.
type Options struct {
	Seed   *seed.Seed     // nil: the store begins empty
	Server server.Options // DB, Git and DataDir are not looked at
	Git    git.Options
	Dir    string // below which its folder is made; empty: the system's folder for temporary files
}

// Server is a server whose store can be reset. It is an http.Handler.
type Server struct {
	o    Options
	log  *slog.Logger
	dir  string
	held *folderLock

	resetting chan struct{} // holds a value while somebody resets or closes
	closed    bool          // guarded by resetting
	lives     int           // that were begun; guarded by resetting
	spare     chan begun    // the next life; guarded by resetting

	mu  sync.RWMutex
	now *world

	ending sync.WaitGroup // lives that end
}

// begun is a life that is ready, or why there is none.
type begun struct {
	world *world
	err   error
}

// ErrClosed is what a Reset of a closed server returns.
var ErrClosed = errors.New("the server is closed")

// Start creates a folder and fills it with the seed; the server is then ready. The
// caller closes it. Errors: *seed.Error.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Server.Log == nil {
		o.Server.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	o.Git.Log = o.Server.Log
	if o.Server.Admission == nil {
		o.Server.Admission = admission.New(admission.DefaultMemory, nil)
	}
	sweep(o.Dir, o.Server.Log)
	s := &Server{o: o, log: o.Server.Log, resetting: make(chan struct{}, 1)}
	var err error
	if s.dir, s.held, err = newFolder(o.Dir); err != nil {
		return nil, err
	}
	if err = s.fill(ctx); err == nil {
		s.now, err = s.begin(ctx, s.place(1))
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	s.lives = 1
	s.now.work()
	s.prepare()
	return s, nil
}

// seeded is the folder that every life is a copy of.
func (s *Server) seeded() string { return filepath.Join(s.dir, "seeded") }

func (s *Server) place(life int) string { return filepath.Join(s.dir, strconv.Itoa(life)) }

// fill creates the seeded store.
func (s *Server) fill(ctx context.Context) error {
	if err := os.Mkdir(s.seeded(), 0o700); err != nil {
		return err
	}
	database := db.Options{URL: filepath.Join(s.seeded(), databaseFile), Log: s.log, Throwaway: true}
	if s.o.Seed == nil {
		d, err := db.Open(ctx, database)
		if err != nil {
			return err
		}
		return d.Close()
	}
	return seed.Fill(ctx, s.o.Seed, seed.Store{DataDir: s.seeded(), Database: database, Git: s.o.Git,
		Admission: s.o.Server.Admission})
}

// prepare prepares the next life in the background.
func (s *Server) prepare() {
	s.lives++
	dir, spare := s.place(s.lives), make(chan begun, 1)
	s.spare = spare
	go func() {
		w, err := s.begin(context.Background(), dir)
		spare <- begun{w, err}
	}()
}

// Reset returns to the seed: requests that come after Reset has returned find
// nothing that was done since. Somebody who calls it at the same time gets a reset of
// their own. Errors: ErrClosed, ctx's, and what the copying met: then everything
// is as it was.
func (s *Server) Reset(ctx context.Context) error {
	select {
	case s.resetting <- struct{}{}:
		defer func() { <-s.resetting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.closed {
		return ErrClosed
	}
	var next begun
	select {
	case next = <-s.spare:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer s.prepare()
	if next.err != nil {
		return next.err
	}
	next.world.work()
	s.mu.Lock()
	old := s.now
	s.now = next.world
	s.mu.Unlock()
	s.end(old)
	return nil
}

// end ends a life in the background.
func (s *Server) end(w *world) {
	s.ending.Go(func() {
		if err := w.end(); err != nil {
			s.log.Warn("what was before the reset was not removed whole", "error", err)
		}
	})
}

// enter returns the present life, which does not end before leave is called.
func (s *Server) enter() *world {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.now.inFlight.Add(1)
	return s.now
}

// ServeHTTP serves a request in the present life.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.enter()
	defer now.inFlight.Done()
	now.serve(w, r, now.server)
}

// Admin serves what operators read, and POST /admin/reset, which answers 204 once
// everything is as the seed says. Counters restart at zero with each reset.
func (s *Server) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /admin/reset", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Reset(r.Context()); err != nil {
			s.log.Error("reset failed", "error", err)
			server.AdminError(w, http.StatusServiceUnavailable,
				"The server could not be reset: its log says why.")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		now := s.enter()
		defer now.inFlight.Done()
		now.serve(w, r, now.admin)
	})
	// A page that somebody reads must not reset what they are testing.
	return server.GuardAdmin(mux, s.o.Server.AdminHost)
}

// Serve answers requests on l until ctx is done, as server.Serve does.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return server.Serve(ctx, l, s, s.log, s.o.Server.Admission.Conns, func(ctx context.Context) error {
		<-ctx.Done() // background work belongs to each life
		return nil
	})
}

// Retire turns the answer of /readyz to 503, until the store is reset.
func (s *Server) Retire() {
	now := s.enter()
	defer now.inFlight.Done()
	now.server.Retire()
}

// ServeAdmin serves Admin on l until ctx is done.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return server.Serve(ctx, l, s.Admin(), s.log, nil, nil)
}

// Close ends what goes on and removes the folder. No more requests may come.
func (s *Server) Close() error {
	s.resetting <- struct{}{}
	defer func() { <-s.resetting }()
	if s.closed {
		return nil
	}
	s.closed = true
	s.end(s.now)
	if next := <-s.spare; next.err == nil {
		s.end(next.world)
	}
	s.ending.Wait()
	return s.remove()
}

func (s *Server) remove() error {
	err := os.RemoveAll(s.dir)
	return errors.Join(err, s.held.release())
}
