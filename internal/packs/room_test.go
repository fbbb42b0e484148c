package packs_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/packs"
	"arbor/internal/repo"
	"arbor/internal/space"
	"arbor/internal/test/testkit"
)

// Repositories that are brought at one time fit the cache together: none may fill the disk because others are not
// there yet. One that does not fit waits for the others, for some seconds.
func TestLoadsFitTheCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := packs.New(nil, nil, slog.New(slog.DiscardHandler), repo.New(nil, nil, nil, t.TempDir(), nil), nil)
		s.Size = 100
		take := func(need int64, fits bool) (done func(), took time.Duration) {
			t.Helper()
			began := time.Now()
			room, err := s.MakeRoom(t.Context(), need)
			if (err == nil) != fits || err != nil && !errs.Is(err, errs.Unavailable) {
				t.Fatalf("%d bytes: %v", need, err)
			}
			return room.Release, time.Since(began)
		}
		if _, took := take(101, false); took > 0 {
			t.Errorf("a repository larger than the cache is refused after %s", took)
		}
		first, _ := take(60, true)
		if _, took := take(41, false); took == 0 {
			t.Error("a repository does not wait for the room that others take")
		}
		second, _ := take(40, true)
		go func() {
			time.Sleep(time.Second)
			first()
		}()
		third, _ := take(60, true)
		second()
		third()
		all, _ := take(100, true)
		all()
	})
}

// Repositories that are brought leave the room that the disk should have.
func TestLoadsFitTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, _, err := space.Of(dir)
	testkit.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		repos := repo.New(nil, nil, nil, dir, nil)
		repos.Room = space.NewGuard(1<<20, log, dir)
		s := packs.New(nil, nil, log, repos, nil)
		most := int64(free / 3 * 2)
		if _, err := s.MakeRoom(t.Context(), 2*most); !errs.Is(err, errs.Unavailable) {
			t.Errorf("more than the disk has: %v", err)
		}
		room, err := s.MakeRoom(t.Context(), most)
		testkit.NoError(t, err)
		if _, err := s.MakeRoom(t.Context(), most); !errs.Is(err, errs.Unavailable) {
			t.Errorf("more than the disk has, in two parts: %v", err)
		}
		room.Wrote(most) // the disk is as free as before, so it has room for as much again
		second, err := s.MakeRoom(t.Context(), most)
		testkit.NoError(t, err)
		if _, err := s.MakeRoom(t.Context(), most); !errs.Is(err, errs.Unavailable) {
			t.Errorf("more than the disk has, in three parts: %v", err)
		}
		second.Release()
		room.Release()
		_, err = s.MakeRoom(t.Context(), most)
		testkit.NoError(t, err)
	})
}

// evictingContext is the context of a load that is evicting folders until it is canceled: evictTo asks for Err before
// each.
type evictingContext struct {
	context.Context
	began *atomic.Bool
}

func (c evictingContext) Err() error {
	c.began.Store(true)
	<-c.Done()
	return c.Context.Err()
}

// While a load removes folders, which may take long, loads that fit go on, and others end when their client is gone.
func TestLoadsWhileFoldersAreRemoved(t *testing.T) {
	t.Parallel()
	s := packs.New(nil, nil, slog.New(slog.DiscardHandler), repo.New(nil, nil, nil, t.TempDir(), nil), nil)
	s.Size = 100
	s.AddCached(repo.Folder{ID: 1}, 90)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var began atomic.Bool
	go func() { _, _ = s.MakeRoom(evictingContext{ctx, &began}, 60) }()
	testkit.Eventually(t, began.Load, "a load evicts folders")
	gone, leave := context.WithCancel(t.Context())
	leave()
	small, large := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := s.MakeRoom(t.Context(), 1)
		small <- err
	}()
	go func() {
		_, err := s.MakeRoom(gone, 20)
		large <- err
	}()
	testkit.Eventually(t, func() bool { return len(small)+len(large) == 2 }, "other loads do not wait for it")
	testkit.NoError(t, <-small)
	if err := <-large; !errors.Is(err, context.Canceled) {
		t.Errorf("a load that does not fit, whose client is gone: %v", err)
	}
}

// Bytes that a load has written take no free space a second time, until their files are dropped.
func TestLoadsCountWhatTheyWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := packs.New(nil, nil, slog.New(slog.DiscardHandler), repo.New(nil, nil, nil, dir, nil), nil)
	objects := (&git.Git{}).Repository(dir)
	testkit.NoError(t, os.MkdirAll(objects.PacksDir(), 0o700))
	want := func(when string, bytes, written int64) {
		t.Helper()
		if b, w := s.Coming(); b != bytes || w != written {
			t.Errorf("%s: %d bytes are coming and %d written, want %d and %d", when, b, w, bytes, written)
		}
	}
	room, err := s.MakeRoom(t.Context(), 100)
	testkit.NoError(t, err)
	drop, err := room.WritePack(objects, strings.NewReader(strings.Repeat("x", 40)), 60)
	testkit.NoError(t, err)
	want("in the middle of a pack", 100, 40)
	drop()
	want("after the pack was dropped", 100, 0)
	drop, err = room.WritePack(objects, strings.NewReader(strings.Repeat("x", 60)), 60)
	testkit.NoError(t, err)
	defer drop()
	want("with the pack", 100, 60)
	room.Release()
	want("after the load", 0, 0)
}
