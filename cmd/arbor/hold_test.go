package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

var errReleased = errors.New("released")

// hold takes the rows of all repositories (with SQLite: the write lock) as a
// second program on the same database may, so that a push gets everything done
// but its commit. release lets it go on: soon, since a writer of SQLite waits for some seconds alone.
func (s *instance) hold() (release func()) {
	s.t.Helper()
	d := s.open()
	held, released, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := tx.Exec(`UPDATE repos SET name = name`); err != nil {
				return err
			}
			close(held)
			<-released
			return errReleased
		})
	}()
	select {
	case <-held:
	case err := <-ended:
		s.t.Fatal(err)
	}
	done := false
	release = func() {
		if done {
			return
		}
		done = true
		close(released)
		if err := <-ended; !errors.Is(err, errReleased) {
			s.t.Errorf("holding the database: %v", err)
		}
		if err := d.Close(); err != nil {
			s.t.Error(err)
		}
	}
	s.t.Cleanup(release)
	return release
}

// packs waits until the server has received so many packs, also those that are
// not accepted yet.
func (s *instance) packs(t testing.TB, n int) {
	t.Helper()
	testkit.Eventually(t, func() bool { return s.packCount() >= n }, "packs on the server")
}

// packCount counts packs by their names: one that is moved meanwhile may be found in two folders.
func (s *instance) packCount() int {
	names := map[string]bool{}
	for _, path := range s.find("pack-*.idx") {
		names[filepath.Base(path)] = true
	}
	return len(names)
}
