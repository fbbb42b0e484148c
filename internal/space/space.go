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

	mu   sync.Mutex
	next time.Time // when the disks are looked at again
	low  bool
}

// NewGuard watches the disks on which the folders are. least is in bytes, or Auto; 0 gives nil.
func NewGuard(least int64, log *slog.Logger, dirs ...string) *Guard {
	if least == 0 {
		return nil
	}
	return &Guard{dirs: slices.Compact(slices.Sorted(slices.Values(dirs))), least: least, log: log}
}

// Check returns the error of kind [errs.NoRoom] while there is too little room. It looks at
// the disks once a second at most. A disk that cannot be looked at has room.
func (g *Guard) Check() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.After(g.next) {
		was := g.low
		g.low, g.next = slices.ContainsFunc(g.dirs, g.isLow), now.Add(every)
		switch {
		case g.low && !was:
			g.log.Warn("the disk is nearly full: writes are refused until there is room", "folders", g.dirs)
		case was && !g.low:
			g.log.Info("there is room on the disk again: writes are taken")
		}
	}
	if g.low {
		return ErrNoRoom
	}
	return nil
}

// ErrNoRoom is of kind [errs.NoRoom].
var ErrNoRoom = errs.New(errs.NoRoom,
	"The disk of this server is nearly full: it takes no writes until there is room. Reading and deleting go on.")

func (g *Guard) isLow(dir string) bool {
	free, all, err := Of(dir)
	if err != nil || all == 0 {
		return false
	}
	least := uint64(g.least)
	if g.least == Auto {
		least = min(all/100, maxAuto)
	}
	return free < least
}

// nothing is so little room that anything fails for it, in bytes.
const nothing = 1 << 20

// Explain makes an error that nobody knows an error of kind [errs.NoRoom], if one of the disks is
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
