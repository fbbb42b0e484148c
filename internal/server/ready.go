package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"arbor/internal/durable"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// How often a probe looks at most, however often it is asked, and how long its answer is
// waited for. A disk or a database that hangs holds one look and not a request each.
const (
	probeEvery = time.Second
	probeWait  = 2 * time.Second
)

// probe remembers for a moment whether something works, for those who ask without credentials
// and without end.
type probe struct {
	look func(context.Context) error
	slow string // what takes too long, for the answer

	mu    sync.Mutex
	at    time.Time
	err   error
	under chan struct{} // closed when the look that is under way ends; nil: none is
}

// ask gives the answer of the last look if it is new, else of a new one. Error: 503.
func (p *probe) ask(ctx context.Context) error {
	p.mu.Lock()
	if time.Since(p.at) < probeEvery {
		defer p.mu.Unlock()
		return p.err
	}
	if p.under == nil {
		p.under = make(chan struct{})
		go p.run(p.under)
	}
	under := p.under
	p.mu.Unlock()
	timer := time.NewTimer(probeWait)
	defer timer.Stop()
	select {
	case <-under:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-timer.C:
		return errs.New(errs.Unavailable, p.slow)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *probe) run(under chan struct{}) {
	err := p.look(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.err, p.under = time.Now(), err, nil
	close(under)
}

// databaseProbe asks the database something.
func (s *Server) databaseProbe() *probe {
	return &probe{slow: "the database does not answer", look: func(ctx context.Context) error {
		if err := s.o.DB.Answers(ctx); err != nil {
			return errs.Wrap(errs.Unavailable, "the database does not answer", err)
		}
		return nil
	}}
}

// readyPrefix begins the names of the files that probes make, and readyStays is how long a probe takes at
// most: an older file is of one that was killed.
const (
	readyPrefix = ".ready-"
	readyStays  = time.Hour
)

// sweepReady removes the files of probes that were killed.
func sweepReady(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), readyPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > readyStays {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// folderProbe writes where pushes and uploads do.
func (s *Server) folderProbe() *probe {
	push := &pushProbe{dir: s.forge.Repos.Dir()}
	return &probe{slow: "the data folder does not answer", look: func(context.Context) error {
		sweepReady(s.o.DataDir)
		err := writeReady(s.o.DataDir)
		if err == nil {
			err = push.look()
		}
		if errors.Is(err, syscall.ENOSPC) {
			return nil // reading and deleting go on
		}
		if err != nil {
			return errs.Wrap(errs.Unavailable, "the data folder cannot be written", err)
		}
		return nil
	}}
}

// writeReady makes and removes a file in a folder.
func writeReady(dir string) error {
	f, err := os.CreateTemp(dir, readyPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("ready")
	return cmp.Or(err, f.Close(), os.Remove(f.Name()))
}

// pushProbe tries what a push to a new repository does: it makes a folder in the folder of all repositories, and
// in one of those that these are in, each in its turn. Where that failed it tries again, until it works.
type pushProbe struct {
	dir  string // of all repositories
	last string // the folder in it that was tried last
}

func (p *pushProbe) look() error {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(p.dir); err != nil {
			return nil // the first push makes it
		}
	}
	if err == nil {
		err = durable.Try(p.dir)
	}
	if err != nil {
		return err
	}
	next := p.next(entries)
	if next == "" {
		return nil
	}
	if err := durable.Try(filepath.Join(p.dir, next)); err != nil {
		return err
	}
	p.last = next
	return nil
}

// next is the folder of repositories behind the last one, or the first one; empty if there is none.
func (p *pushProbe) next(entries []fs.DirEntry) string {
	first := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case !repo.IsShard(name):
		case name > p.last:
			return name
		case first == "":
			first = name
		}
	}
	return first
}

// brokenProbe counts the repositories whose folder is broken. It fails where none has one: the disk of the
// repositories is not there.
func (s *Server) brokenProbe() *probe {
	return &probe{slow: "the repositories' folder does not answer", look: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, probeWait)
		defer cancel()
		n, err := s.forge.Repos.CountBroken(ctx)
		if err != nil {
			return errs.Wrap(errs.Unavailable, "the database does not answer", err)
		}
		s.brokenRepos.Store(int64(n))
		if n == 0 {
			return nil
		}
		found, err := s.forge.Repos.HasFolders()
		if err != nil || !found {
			return errs.Wrap(errs.Unavailable, "the repositories' folder is missing or empty", err)
		}
		return nil
	}}
}

// GET /readyz
//
// Readyz answers 200 while a load balancer may send requests here: the server was not told to
// stop, the database answers and the data folder can be written, where pushes write too. It looks once a
// second at most. A second line is an alarm: folders of single repositories are broken, which no other
// node would serve better. Error: 503, which says what is missing.
func (s *Server) Readyz(w http.ResponseWriter, r *http.Request) error {
	if s.stopping.Load() {
		return errs.New(errs.Paused, "the server is stopping")
	}
	if err := s.folder.ask(r.Context()); err != nil {
		return err
	}
	if err := s.broken.ask(r.Context()); err != nil {
		return err
	}
	if err := s.Healthz(w, r); err != nil {
		return err
	}
	if s.brokenRepos.Load() == 0 {
		return nil
	}
	_, err := io.WriteString(w, "alarm: folders of repositories are missing or cannot be used: "+
		"see the log, and arbor check\n")
	return err
}

// GET /healthz
//
// Healthz answers 200 while the process works and its database answers, also while it stops: a
// process that does not is to be started anew. Error: 503.
func (s *Server) Healthz(w http.ResponseWriter, r *http.Request) error {
	if err := s.database.ask(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, err := w.Write([]byte("ok\n"))
	return err
}
