package git

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strings"

	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
)

// A push relies on objects that it does not bring along: the bases of its deltas, and
// objects that its trees and commits name. Some that are stored may be hidden from the
// sender (ReceiveOptions.Absent). A push that relies on these is refused: else a sender
// who knows only the SHA of an object could make it reachable, and so readable.
//
// The answer tells nothing of such an object, either. A delta makes a new object of any
// part of its base: from the new one's SHA in a message, or from whether another object
// of the pack may name it, the base could be read byte by byte. So git's own finding is
// passed on only if no hidden object can be behind it. All other refusals read the same,
// whether the object is stored or not.

// mustHideMessages reports whether git's messages about a pack could reveal objects that are
// hidden from the sender, since git may have read them. outside are the pack's bases.
func (o *ReceiveOptions) mustHideMessages(ctx context.Context, outside packfile.Bases) (bool, error) {
	if o.Absent == nil || outside.All && len(outside.Named) == 0 {
		return false, nil
	}
	if !outside.All {
		return true, nil
	}
	gone, err := o.Absent(ctx, outside.Named)
	return len(gone) > 0, err
}

// mayTell reports whether the sender may read of a problem that git found in an object.
// git checks .gitmodules and .gitattributes by their names in trees, so these need not have
// been sent: the problem may tell of an object that is hidden from the sender.
func (o *ReceiveOptions) mayTell(problem string) bool {
	ofStored := strings.Contains(problem, ": gitmodules") || strings.Contains(problem, ": gitattributes")
	return o.Absent == nil || !ofStored
}

// checkBases refuses a pack with a delta whose base is hidden from the sender. It comes
// before all other checks, since those tell what they find.
func (q *Quarantine) checkBases(ctx context.Context, o ReceiveOptions) error {
	x, err := packfile.OpenIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
	if err != nil {
		return err
	}
	defer x.Close()
	added, err := x.AddedBehind(q.sent)
	if err != nil || len(added) == 0 {
		return err
	}
	return o.refuseAbsent(ctx, added)
}

// checkForeign is checkConnected, and refuses objects that are hidden from the sender.
func (q *Quarantine) checkForeign(ctx context.Context, tips []SHA, o ReceiveOptions) error {
	var sentPack *packfile.Index
	if q.pack != "" {
		x, err := packfile.OpenIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
		if err != nil {
			return err
		}
		defer x.Close()
		sentPack = x
	}
	in, err := revisionList(tips, o.Tips)
	if err != nil {
		return err
	}
	var ask []SHA
	r := q.repository
	c := process.Command{Sub: "rev-list", Flags: []string{"--stdin", "--objects", "--no-object-names"}}
	walk := process.Task{Command: c, Dir: r.dir, Env: q.env(),
		Limit: r.git.options.TransferTimeout, Stdin: in}
	err = r.eachID(ctx, r.git.walkCage(q.load()), walk, func(id ID) error {
		if sentPack != nil {
			if own, err := sentPack.HasID(id[:]); err != nil || own {
				return err
			}
		}
		ask = append(ask, SHA(hex.EncodeToString(id[:])))
		return nil
	})
	if process.IsExit(err) {
		return refusedPack(err, "", o.Shallow)
	}
	if err != nil || len(ask) == 0 {
		return err
	}
	return o.refuseAbsent(ctx, ask)
}

// refuseAbsent refuses objects that are hidden from the sender, in the words for those
// that are not stored.
func (o *ReceiveOptions) refuseAbsent(ctx context.Context, shas []SHA) error {
	gone, err := o.Absent(ctx, shas)
	if err == nil && len(gone) > 0 {
		err = refusedPack(nil, "", o.Shallow)
	}
	return err
}
