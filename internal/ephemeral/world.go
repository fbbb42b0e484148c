package ephemeral

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/server"
)

// databaseFile is the database in the folder of a life.
const databaseFile = "arbor.db"

// patience is how long a request may go on in a life that has ended.
const patience = 30 * time.Second

// world is one life of the store, with everything that knows of it.
type world struct {
	dir    string
	db     *db.DB
	git    *git.Git
	server *server.Server
	admin  http.Handler

	inFlight sync.WaitGroup  // requests
	over     context.Context // done when requests may go on no longer
	abandon  context.CancelFunc
	working  chan error // receives the end of background work; nil: it never began
	stop     context.CancelFunc
	conns    *handed            // of SSH
	ssh      chan error         // when they have ended; nil: there never were any
	hangUp   context.CancelFunc // ends them, as soon as nothing is in flight
}

// begin creates a life in a new folder. Nothing works in it yet.
func (s *Server) begin(ctx context.Context, dir string) (*world, error) {
	w := &world{dir: dir}
	w.over, w.abandon = context.WithCancel(context.Background())
	if err := w.open(ctx, s); err != nil {
		return nil, errors.Join(err, w.end())
	}
	return w, nil
}

func (w *world) open(ctx context.Context, s *Server) (err error) {
	if err := copyStore(s.seeded(), w.dir); err != nil {
		return err
	}
	if w.git, err = git.New(ctx, s.o.Git); err != nil {
		return err
	}
	w.db, err = db.Open(ctx, db.Options{
		URL: filepath.Join(w.dir, databaseFile), Log: s.log, Now: s.o.Server.Now,
		Throwaway: true,
	})
	if err != nil {
		return err
	}
	o := s.o.Server
	o.DB, o.Git, o.DataDir = w.db, w.git, w.dir
	w.server = server.New(o)
	w.admin = w.server.Admin()
	return nil
}

// work starts the background work.
func (w *world) work() {
	ctx, stop := context.WithCancel(w.over)
	working := make(chan error, 1)
	w.stop, w.working = stop, working
	go func() { working <- w.server.Run(ctx) }()
	over, hangUp := context.WithCancel(w.over)
	ssh := make(chan error, 1)
	w.conns, w.hangUp, w.ssh = newHanded(), hangUp, ssh
	go func() { ssh <- w.server.ServeSSH(over, w.conns) }()
}

// serve calls a handler, whose context ends with the life.
func (w *world) serve(rw http.ResponseWriter, r *http.Request, h http.Handler) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(w.over, cancel)()
	h.ServeHTTP(rw, r.WithContext(ctx))
}

// end waits for the requests, ends everything else and removes the folder.
func (w *world) end() error {
	late := time.AfterFunc(patience, w.abandon)
	defer late.Stop()
	w.inFlight.Wait()
	defer w.abandon()
	var list []error
	if w.ssh != nil {
		w.hangUp()
		list = append(list, <-w.ssh)
	}
	if w.working != nil {
		w.stop()
		list = append(list, <-w.working)
	}
	if w.server != nil {
		w.server.Forge().Repos.Wait()
		w.server.Forge().Files.Wait()
	}
	if w.git != nil {
		list = append(list, w.git.Close())
	}
	if w.db != nil {
		list = append(list, w.db.Close())
	}
	return errors.Join(append(list, os.RemoveAll(w.dir))...)
}
