package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
)

// A purge builds a new directory with the remaining objects, object by object. It does not link files of
// the old directory, because packs may contain both purged and remaining objects. The caller replaces the
// repository's directory and removes the old one.

// Stored returns the names of all objects of the folder, each once and in order.
func (r *Repository) Stored() ([]ID, error) {
	var list []ID
	packs, err := os.ReadDir(r.path("objects", "pack"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range packs {
		if !strings.HasSuffix(e.Name(), ".idx") {
			continue
		}
		x, err := packfile.OpenIndex(r.path("objects", "pack", e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // combined with others, whose pack was there before
		}
		if err != nil {
			return nil, err
		}
		list = slices.Grow(list, x.Count())
		err = x.Each(func(id ID) error {
			list = append(list, id)
			return nil
		})
		if err = errors.Join(err, x.Close()); err != nil {
			return nil, err
		}
	}
	for i := range 256 {
		loose, err := r.looseIn(fmt.Sprintf("%02x", i))
		if err != nil {
			return nil, err
		}
		for _, sha := range loose {
			list = append(list, sha.ID())
		}
	}
	slices.SortFunc(list, CompareIDs)
	return slices.Compact(list), nil
}

// CompareIDs orders names of objects.
func CompareIDs(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// PackedBytes is what the folder's packs take on disk.
func (r *Repository) PackedBytes() int64 { return r.load().bytes }

// Unreached returns the objects of the folder, in order, that the tips do not reach.
func (r *Repository) Unreached(ctx context.Context, tips []SHA) ([]ID, error) {
	stored, err := r.Stored()
	if err != nil {
		return nil, err
	}
	reached := make([]bool, len(stored))
	err = r.eachUpkeep(ctx, tips, func(id ID) error {
		if i, found := slices.BinarySearchFunc(stored, id, CompareIDs); found {
			reached[i] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	left := stored[:0]
	for i, id := range stored {
		if !reached[i] {
			left = append(left, id)
		}
	}
	return left, nil
}

// eachUpkeep is EachReached in the time of maintenance, and fails when an object that the
// tips lead to is missing.
func (r *Repository) eachUpkeep(ctx context.Context, tips []SHA, fn func(ID) error) error {
	if len(tips) == 0 {
		return nil
	}
	in, err := revisionList(tips, nil)
	if err != nil {
		return err
	}
	return r.eachID(ctx, r.git.upkeepCage(), process.Task{Dir: r.dir, Stdin: in,
		Command: process.Command{Sub: "rev-list",
			Flags: []string{"--stdin", "--objects", "--no-object-names"}},
		Limit: r.git.options.MaintenanceTimeout, Nice: true}, fn)
}

// LeadTo returns those of the tips, up to a maximum, that reach an object. It walks from
// some tips at a time, so it costs little if few of many reach it.
func (r *Repository) LeadTo(ctx context.Context, tips []SHA, sha SHA, most int) ([]SHA, error) {
	if len(tips) == 0 || most <= 0 {
		return nil, nil
	}
	found := false
	err := r.eachUpkeep(ctx, tips, func(id ID) error {
		if found = id == sha.ID(); found {
			return ErrStop
		}
		return nil
	})
	if err != nil || !found {
		return nil, err
	}
	if len(tips) == 1 {
		return tips, nil
	}
	half := len(tips) / 2
	list, err := r.LeadTo(ctx, tips[:half], sha, most)
	if err != nil {
		return nil, err
	}
	more, err := r.LeadTo(ctx, tips[half:], sha, most-len(list))
	return append(list, more...), err
}

// FindObject finds the one object, of any type, whose name begins so. Errors: NotFound;
// Invalid for an abbreviation of several, or one that is none (see IsPrefix).
func (r *Repository) FindObject(ctx context.Context, name string) (Object, error) {
	sha, err := ParseSHA(name)
	if err != nil {
		if !IsPrefix(name) {
			return Object{}, errs.Newf(errs.Invalid, "%q is no SHA of an object", name)
		}
		var all []SHA
		c := process.Command{Sub: "rev-parse", Flags: []string{"--disambiguate=" + strings.ToLower(name)}}
		err := r.eachID(ctx, r.walkCage(), process.Task{Command: c, Dir: r.dir, Limit: r.git.options.ReadTimeout},
			func(id ID) error {
				all = append(all, SHA(hex.EncodeToString(id[:])))
				return nil
			})
		switch {
		case err != nil:
			return Object{}, err
		case len(all) == 0:
			return Object{}, errs.Absent()
		case len(all) > 1:
			return Object{}, errs.Newf(errs.Invalid, "%s is ambiguous: %d objects begin with it", name, len(all))
		}
		sha = all[0]
	}
	return r.Info(ctx, sha)
}

// Doomed divides objects that no tip leads to, in order, into those that go with one of
// them and those that stay: with it goes what leads to it, and of what these lead to all
// that nothing leads to that stays.
func (r *Repository) Doomed(ctx context.Context, unreached []ID, sha SHA) (gone, stay []ID, err error) {
	g, err := r.graphOf(ctx, unreached)
	if err != nil {
		return nil, nil, err
	}
	target, there := slices.BinarySearchFunc(unreached, sha.ID(), CompareIDs)
	if !there {
		return nil, nil, errs.Newf(errs.Invalid, "%s is not among the objects that no ref leads to", sha)
	}
	leading := g.follow([]int32{int32(target)}, g.from)
	below := g.follow(indexes(leading, true), g.to)
	kept := g.follow(indexes(below, false), g.to)
	for i, id := range unreached {
		if below[i] && !kept[i] {
			gone = append(gone, id)
		} else {
			stay = append(stay, id)
		}
	}
	return gone, stay, nil
}

// objectGraph is which objects of a list lead to which others of it, by place.
type objectGraph struct{ to, from [][]int32 }

// follow marks the places that some lead to, these included.
func (g *objectGraph) follow(places []int32, edges [][]int32) []bool {
	seen := make([]bool, len(edges))
	for _, p := range places {
		seen[p] = true
	}
	for len(places) > 0 {
		p := places[len(places)-1]
		places = places[:len(places)-1]
		for _, next := range edges[p] {
			if !seen[next] {
				seen[next] = true
				places = append(places, next)
			}
		}
	}
	return seen
}

func indexes(marks []bool, of bool) (list []int32) {
	for i, mark := range marks {
		if mark == of {
			list = append(list, int32(i))
		}
	}
	return list
}

// graphOf reads what the objects of an ordered list lead to.
func (r *Repository) graphOf(ctx context.Context, list []ID) (*objectGraph, error) {
	g := &objectGraph{make([][]int32, len(list)), make([][]int32, len(list))}
	at := int32(0)
	link := func(id ID) {
		if i, found := slices.BinarySearchFunc(list, id, CompareIDs); found {
			g.to[at] = append(g.to[at], int32(i))
			g.from[i] = append(g.from[i], at)
		}
	}
	for part := range slices.Chunk(list, 10_000) {
		known, err := r.Known(ctx, shasOf(part))
		if err != nil {
			return nil, err
		}
		for _, o := range known {
			if err := r.eachLink(ctx, o, link); err != nil {
				return nil, fmt.Errorf("git: what %s leads to: %w", o.SHA, err)
			}
			at++
		}
	}
	return g, nil
}

// eachLink calls fn with each object that an object names.
func (r *Repository) eachLink(ctx context.Context, o Object, fn func(ID)) error {
	switch o.Type {
	case TypeCommit:
		c, err := r.Commit(ctx, o.SHA)
		if err != nil {
			return err
		}
		fn(c.Tree.ID())
		for _, p := range c.Parents {
			fn(p.ID())
		}
	case TypeTag:
		t, err := r.Tag(ctx, o.SHA)
		if err != nil {
			return err
		}
		fn(t.Object.ID())
	case TypeTree:
		contents, err := r.TreeContents(ctx, o.SHA, MaxTreeBytes)
		for err == nil && len(contents) > 0 {
			var e object.Entry
			if e, contents, err = object.NextEntry(contents); err == nil {
				fn(ID(e.ID))
			}
		}
		return err
	}
	return nil
}

func shasOf(list []ID) []SHA {
	shas := make([]SHA, len(list))
	for i, id := range list {
		shas[i] = id.SHA()
	}
	return shas
}

// TakeOver copies objects of another folder into this one, durably: what the tips lead
// to and the tips of before do not, and each of the list. What was written is read back,
// and everything that the tips lead to is looked for.
func (r *Repository) TakeOver(ctx context.Context, from *Repository, tips, before []SHA, list []ID) error {
	if err := r.Init(); err != nil {
		return err
	}
	if len(tips) > 0 {
		in, err := revisionList(tips, before)
		if err != nil {
			return err
		}
		if err := r.takePack(ctx, from, in, "--revs"); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		in := &bytes.Buffer{}
		for _, id := range list {
			in.WriteString(hex.EncodeToString(id[:]) + "\n")
		}
		if err := r.takePack(ctx, from, in); err != nil {
			return err
		}
	}
	problem, err := r.FirstMissing(ctx, tips)
	if err == nil && problem != "" {
		err = fmt.Errorf("git: the new folder is not whole: %s", problem)
	}
	return err
}

func (r *Repository) takePack(
	ctx context.Context, from *Repository, in *bytes.Buffer, flags ...string,
) error {
	name, err := r.packFrom(ctx, from, r.git.upkeepCage(), process.Task{Stdin: in, Nice: true,
		Limit: r.git.options.MaintenanceTimeout, Command: process.Command{Flags: flags}})
	if err != nil {
		return err
	}
	return r.verifyPack(ctx, name)
}
