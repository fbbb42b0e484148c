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
)

// A push relies on objects that it does not bring along: on bases of its deltas,
// and on what its trees and commits name. Where not all that is stored is there
// for everybody, these must be there for who pushes: else a push could make an
// object reachable, and so readable, whose name is all that its sender has.

// checkForeign is checkConnected with that check. sent is the number of objects
// that came in the pack.
func (q *Quarantine) checkForeign(ctx context.Context, tips []SHA, sent int, o ReceiveOptions) error {
	var sentPack *packIndex
	var ask []SHA
	if q.pack != "" {
		x, err := openIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
		if err != nil {
			return err
		}
		defer x.close()
		if ask, err = x.addedBehind(sent); err != nil {
			return err
		}
		sentPack = x
	}
	in, err := revisionList(tips, o.Tips)
	if err != nil {
		return err
	}
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
		return errDisconnected(err)
	}
	if err != nil || len(ask) == 0 {
		return err
	}
	gone, err := o.Absent(ctx, ask)
	if err == nil && len(gone) > 0 {
		err = errDisconnected(nil)
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
