package space

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"arbor/internal/errs"
)

// Writes are refused while there is too little room, and taken again once there is more.
func TestGuard(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	if g := NewGuard(0, log, t.TempDir()); g != nil || g.Check() != nil {
		t.Error("a guard that wants no room refuses")
	}
	for least, low := range map[int64]bool{1 << 60: true, 1: false} {
		if err := NewGuard(least, log, t.TempDir(), t.TempDir()).Check(); errs.Is(err, errs.NoRoom) != low {
			t.Errorf("%d bytes are wanted: %v", least, err)
		}
	}
	if err := NewGuard(1<<60, log, "/there/is/no/such/folder").Check(); err != nil {
		t.Errorf("a disk that nobody can look at: %v", err)
	}
	g := NewGuard(1<<60, log, t.TempDir())
	if g.Check() == nil {
		t.Fatal("no refusal")
	}
	g.least, g.next = 1, time.Now().Add(time.Hour) // as if somebody had made room, just after the look
	if g.Check() == nil {
		t.Error("the disk was looked at again before it was time")
	}
	g.next = time.Time{}
	if err := g.Check(); err != nil {
		t.Errorf("with room: %v", err)
	}
}

// A file is refused that would leave too little room.
func TestGuardOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, _, err := Of(dir)
	if err != nil || free == 0 {
		t.Skip("the disk cannot be looked at")
	}
	g := NewGuard(int64(free/2), slog.New(slog.DiscardHandler), dir)
	if err := g.CheckFor(int64(free / 4)); err != nil {
		t.Errorf("a file for which there is room: %v", err)
	}
	if err := g.CheckFor(int64(free)); !errs.Is(err, errs.NoRoom) {
		t.Errorf("a file that fills the disk: %v", err)
	}
	if err := (*Guard)(nil).CheckFor(1 << 60); err != nil {
		t.Errorf("a guard that wants no room: %v", err)
	}
}

// Room inside the database's file is room for rows, as long as the disk has half of what it should, and none
// for files. If it did not count, a server would stay read-only after what filled its disk was deleted.
func TestSpareRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, _, err := Of(dir)
	if err != nil || free == 0 {
		t.Skip("the disk cannot be looked at")
	}
	for _, c := range []struct {
		least int64
		spare int64
		rows  bool // are taken
	}{{int64(free + free/2), int64(free), true}, {int64(free + free/2), 1 << 20, false}, {int64(free * 3), int64(free * 9), false}} {
		g := NewGuard(c.least, slog.New(slog.DiscardHandler), dir)
		g.Spare(dir, func() int64 { return c.spare })
		if err := g.CheckRows(); (err == nil) != c.rows {
			t.Errorf("%+v: rows: %v", c, err)
		}
		if err := g.Check(); err == nil {
			t.Errorf("%+v: files are taken", c)
		}
	}
}

// An error that has a meaning keeps it, whatever the disk is like.
func TestExplain(t *testing.T) {
	t.Parallel()
	if err := Explain(errs.Absent(), t.TempDir()); !errs.Is(err, errs.NotFound) {
		t.Errorf("%v", err)
	}
	if err := Explain(errors.New("broken"), t.TempDir()); !errs.Is(err, errs.Internal) {
		t.Errorf("on a disk with room: %v", err)
	}
}
