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

// A probe looks at most once in probeEvery, however often it is asked, and a caller waits at most
// probeWait. If a disk or the database hangs, only one look waits for it and not every request.
const (
	probeEvery = time.Second
	probeWait  = 2 * time.Second
)

// probe checks whether something works, and remembers the result for a moment because anyone may ask.
type probe struct {
	look func(context.Context) error
	slow string // the message if it takes too long

	mu    sync.Mutex
	at    time.Time
	err   error
	under chan struct{} // closed when the current look ends; nil if none is running
}

// ask returns the last result if it is recent, else that of a new look. Error: 503.
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

// databaseProbe queries the database.
func (s *Server) databaseProbe() *probe {
	return &probe{slow: "the database does not answer", look: func(ctx context.Context) error {
		if err := s.o.DB.Answers(ctx); err != nil {
			return errs.Wrap(errs.Unavailable, "the database does not answer", err)
		}
		return nil
	}}
}

// readyPrefix starts the names of files that probes create. Files older than readyStays were left by a
// killed process.
const (
	readyPrefix = ".ready-"
	readyStays  = time.Hour
)

// sweepReady removes files that killed processes left.
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

// folderProbe writes to the directories of pushes and uploads.
func (s *Server) folderProbe() *probe {
	push := &pushProbe{dir: s.forge.Repos.Dir()}
	return &probe{slow: "the data folder does not answer", look: func(context.Context) error {
		sweepReady(s.o.DataDir)
		err := writeReady(s.o.DataDir)
		if err == nil {
			err = push.look()
		}
		if errors.Is(err, syscall.ENOSPC) {
			return nil // reading and deleting still work
		}
		if err != nil {
			return errs.Wrap(errs.Unavailable, "the data folder cannot be written", err)
		}
		return nil
	}}
}

// writeReady creates and removes a file in a directory.
func writeReady(dir string) error {
	f, err := os.CreateTemp(dir, readyPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.WriteString("ready")
	return cmp.Or(err, f.Close(), os.Remove(f.Name()))
}

// pushProbe does what a push to a new repository does: it creates a directory in the repositories'
// directory and in one of its shards, a different one each time. After a failure it tries the same shard
// until it works.
type pushProbe struct {
	dir  string // the repositories' directory
	last string // the shard tried last
}

func (p *pushProbe) look() error {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(p.dir); err != nil {
			return nil // the first push creates it
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

// next returns the shard after the last one, or the first one, or "" if there is none.
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

// brokenProbe counts the repositories whose directory is missing or unreadable. It fails if that is true
// for all of them: then their disk is missing.
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
		if s.o.Objects != "" { // the folders are caches
			return nil
		}
		found, err := s.forge.Repos.HasFolders()
		if err != nil || !found {
			return errs.Wrap(errs.Unavailable, "the repositories' folder is missing or empty", err)
		}
		return nil
	}}
}

// depotProbe asks the storage of repositories and files, if that is not the data folder.
func (s *Server) depotProbe() *probe {
	const slow = "the storage of repositories and files (--objects) does not answer"
	return &probe{slow: slow, look: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, probeWait)
		defer cancel()
		if s.o.Objects == "" {
			return nil
		}
		if _, err := s.forge.Files.Check(ctx); err != nil {
			return errs.Wrap(errs.Unavailable, slow, err)
		}
		return nil
	}}
}

// GET /readyz
//
// Readyz returns 200 while a load balancer may send requests to this node: it is not stopping, the database
// answers, and the data directory and the repositories' directory are writable. It looks at most once a
// second. More lines warn of repositories with a broken directory, and of a storage of files that does not
// answer: other nodes could not serve these either. Error: 503, with the cause.
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
	if s.depot.ask(r.Context()) != nil {
		if _, err := io.WriteString(w, "alarm: the storage of repositories and files (--objects) does not answer: "+
			"what is not on this disk is answered 503\n"); err != nil {
			return err
		}
	}
	if problem := s.o.DB.ReplicaProblem(); problem != "" {
		if _, err := io.WriteString(w, "alarm: the replica of the database (--replica) cannot be used: see the log\n"); err != nil {
			return err
		}
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
// Healthz returns 200 while the process and its database work, even during shutdown. Restart a process only if this
// fails for longer than a failover of the database takes: it connects again by itself. Error: 503.
func (s *Server) Healthz(w http.ResponseWriter, r *http.Request) error {
	if err := s.database.ask(r.Context()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, err := w.Write([]byte("ok\n"))
	return err
}
