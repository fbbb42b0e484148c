// Package space looks how much room there is on the disks that hold a store, and refuses
// writes while there is little.
package space

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"arbor/internal/errs"
)

// Auto is the least room by default: a hundredth of the disk, 1 GiB at most.
const Auto int64 = -1

const maxAuto = 1 << 30

// every is how often the disks are looked at.
const every = time.Second

// Guard refuses writes while one of the disks has less room than it should. A nil Guard
// refuses nothing.
type Guard struct {
	dirs  []string
	least int64
	log   *slog.Logger

	spareDir string       // the folder of the database
	spare    func() int64 // bytes that its file has free inside; nil: none

	mu   sync.Mutex
	next time.Time // when the disks are looked at again
	low  bool
	full bool // also for rows
}

// NewGuard watches the disks on which the folders are. least is in bytes, or Auto; 0 gives nil.
func NewGuard(least int64, log *slog.Logger, dirs ...string) *Guard {
	if least == 0 {
		return nil
	}
	return &Guard{dirs: slices.Compact(slices.Sorted(slices.Values(dirs))), least: least, log: log}
}

// Spare says how many bytes the database's file has free inside, and in which folder that is. It is called
// before the guard is used, and does not wait for the database.
func (g *Guard) Spare(dir string, bytes func() int64) {
	if g != nil {
		g.spareDir, g.spare = dir, bytes
	}
}

// Check returns the error of kind [errs.NoRoom] while there is too little room for files. It looks at
// the disks once a second at most. A disk that cannot be looked at has room.
func (g *Guard) Check() error {
	if low, _ := g.look(); low {
		return ErrNoRoom
	}
	return nil
}

// CheckFor is Check for a file of so many bytes: with it there must be enough room as well. It looks at the disks each
// time.
func (g *Guard) CheckFor(bytes int64) error {
	if g == nil {
		return nil
	}
	for _, dir := range g.dirs {
		free, all, err := Of(dir)
		if err == nil && all > 0 && free < g.leastOf(all)+uint64(bytes) {
			return ErrNoRoom
		}
	}
	return nil
}

// CheckRows is Check for what is written to the database, for which the free pages inside its file are room as
// well: for half of the room that should be there, since the log of the database and small objects need some.
func (g *Guard) CheckRows() error {
	if _, full := g.look(); full {
		return ErrNoRoom
	}
	return nil
}

// look reports whether there is too little room for files, and for rows.
func (g *Guard) look() (low, full bool) {
	if g == nil {
		return false, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.After(g.next) {
		was := g.low
		g.low, g.full, g.next = false, false, now.Add(every)
		for _, dir := range g.dirs {
			low, full := g.isLow(dir)
			g.low, g.full = g.low || low, g.full || full
		}
		switch {
		case g.low && !was:
			g.log.Warn("the disk is nearly full: writes are refused until there is room", "folders", g.dirs)
		case was && !g.low:
			g.log.Info("there is room on the disk again: writes are taken")
		}
	}
	return g.low, g.full
}

// ErrNoRoom is of kind [errs.NoRoom].
var ErrNoRoom = errs.New(errs.NoRoom,
	"The disk of this server is nearly full: it takes no writes until there is room. Reading and deleting go on.")

func (g *Guard) isLow(dir string) (low, full bool) {
	free, all, err := Of(dir)
	if err != nil || all == 0 {
		return false, false
	}
	least := g.leastOf(all)
	if free >= least {
		return false, false
	}
	return true, g.spare == nil || free < least/2 || free+uint64(g.spare()) < least || !sameDisk(dir, g.spareDir)
}

// leastOf returns how many bytes should be free on a disk.
func (g *Guard) leastOf(all uint64) uint64 {
	if g.least == Auto {
		return min(all/100, maxAuto)
	}
	return uint64(g.least)
}

// nothing is so little room that anything fails for it, in bytes.
const nothing = 1 << 20

// Explain turns an error of unknown kind into one of kind [errs.NoRoom], if one of the disks is
// full: a write that fails there may fail in many ways, some of them in processes of git.
func Explain(err error, dirs ...string) error {
	if !errs.Is(err, errs.Internal) {
		return err
	}
	for _, dir := range dirs {
		if free, all, e := Of(dir); e == nil && all > 0 && free < nothing {
			return errs.Wrap(errs.NoRoom, ErrNoRoom.Message, err)
		}
	}
	return err
}
