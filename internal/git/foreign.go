package git

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A push relies on objects that it does not bring along: on bases of its deltas,
// and on what its trees and commits name. Where not all that is stored is there
// for everybody, these must be there for who pushes: else a push could make an
// object reachable, and so readable, whose name is all that its sender has.

//
// Nor does the answer tell anything of such an object. A delta makes a new object of
// any part of its base: from the new one's SHA in a message, or from whether another
// object of the pack may name it, the base could be read byte by byte. So what git
// finds wrong is told only where nothing of it can come from an absent object, and
// else all refusals read the same, whether the object is stored or not.

// bases are the objects that deltas of a pack name. They may be in the pack, too.
type bases struct {
	named []SHA
	all   bool // there are no others
}

// mustHush reports whether what git says of a pack may tell of objects that are not
// there for who pushes, since it may have read them. outside are the pack's bases.
func (o *ReceiveOptions) mustHush(ctx context.Context, outside bases) (bool, error) {
	if o.Absent == nil || outside.all && len(outside.named) == 0 {
		return false, nil
	}
	if !outside.all {
		return true, nil
	}
	gone, err := o.Absent(ctx, outside.named)
	return len(gone) > 0, err
}

// mayTell is what git found wrong with an object, if it may be told: nothing of files
// that git checks by their names, which need not have been sent.
func (o *ReceiveOptions) mayTell(problem string) string {
	if o.Absent != nil && (strings.Contains(problem, ": gitmodules") || strings.Contains(problem, ": gitattributes")) {
		return ""
	}
	return problem
}

// checkBases refuses a pack of which a delta's base is not there for who pushes. It
// comes before all other checks, which may tell what they found.
func (q *Quarantine) checkBases(ctx context.Context, o ReceiveOptions) error {
	x, err := openIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
	if err != nil {
		return err
	}
	defer x.close()
	added, err := x.addedBehind(q.sent)
	if err != nil || len(added) == 0 {
		return err
	}
	return o.refuseAbsent(ctx, added)
}

// checkForeign is checkConnected with the check that all is there for who pushes.
func (q *Quarantine) checkForeign(ctx context.Context, tips []SHA, o ReceiveOptions) error {
	var sentPack *packIndex
	if q.pack != "" {
		x, err := openIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
		if err != nil {
			return err
		}
		defer x.close()
		sentPack = x
	}
	in, err := revisionList(tips, o.Tips)
	if err != nil {
		return err
	}
	var ask []SHA
	r := q.repository
	err = r.eachID(ctx, task{command: command{sub: "rev-list", flags: []string{"--stdin", "--objects", "--no-object-names"}},
		dir: r.dir, env: q.env(), limit: r.git.options.TransferTimeout, stdin: in}, func(id ID) error {
		if sentPack != nil {
			if own, err := sentPack.hasID(id[:]); err != nil || own {
				return err
			}
		}
		ask = append(ask, SHA(hex.EncodeToString(id[:])))
		return nil
	})
	if isExit(err) {
		return refusedPack(err, "", o.Shallow)
	}
	if err != nil || len(ask) == 0 {
		return err
	}
	return o.refuseAbsent(ctx, ask)
}

// refuseAbsent refuses objects that are not there for who pushes, in the words for
// those that are not stored.
func (o *ReceiveOptions) refuseAbsent(ctx context.Context, shas []SHA) error {
	gone, err := o.Absent(ctx, shas)
	if err == nil && len(gone) > 0 {
		err = refusedPack(nil, "", o.Shallow)
	}
	return err
}

// addedBehind gives the objects of a pack behind the first n that were written
// to it: the bases that --fix-thin added.
func (x *packIndex) addedBehind(n int) ([]SHA, error) {
	count := x.count()
	if n >= count {
		return nil, nil
	}
	type placed struct {
		offset uint64
		at     int
	}
	list := make([]placed, count)
	table := int64(indexNames) + 24*int64(count) // behind the names and the checksums
	in := bufio.NewReader(io.NewSectionReader(x.file, table, 4*int64(count)))
	var b [8]byte
	for i := range list {
		if _, err := io.ReadFull(in, b[:4]); err != nil {
			return nil, err
		}
		offset := uint64(binary.BigEndian.Uint32(b[:4]))
		if offset&(1<<31) != 0 { // its place in the table of large offsets
			at := table + 4*int64(count) + 8*int64(offset&^(1<<31))
			if _, err := x.file.ReadAt(b[:], at); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			offset = binary.BigEndian.Uint64(b[:])
		}
		list[i] = placed{offset, i}
	}
	slices.SortFunc(list, func(a, b placed) int { return cmp.Compare(a.offset, b.offset) })
	shas := make([]SHA, 0, count-n)
	var name ID
	for _, p := range list[n:] {
		if _, err := x.file.ReadAt(name[:], indexNames+20*int64(p.at)); err != nil {
			return nil, err
		}
		shas = append(shas, SHA(hex.EncodeToString(name[:])))
	}
	return shas, nil
}
