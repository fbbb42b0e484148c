package packfile

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// The kinds of entries of a pack: objects, deltas whose base is an entry so many bytes
// before, and deltas that name their base.
const (
	kindCommit   = 1
	kindTree     = 2
	kindBlob     = 3
	kindTag      = 4
	kindOfsDelta = 6
	kindRefDelta = 7
)

func kindType(kind byte) (object.Type, bool) {
	types := [...]object.Type{
		kindCommit: object.TypeCommit, kindTree: object.TypeTree, kindBlob: object.TypeBlob,
		kindTag: object.TypeTag,
	}
	if kind < kindCommit || kind > kindTag {
		return "", false
	}
	return types[kind], true
}

// entry is what stands before the contents of an entry of a pack.
type entry struct {
	kind byte
	size uint64 // of the contents, which are instructions when it is a delta
	back uint64 // of an ofs-delta: how far its base is before it
	base [20]byte
}

var errEntry = errors.New("git: an entry of a pack is damaged")

// readEntry reads the head of an entry.
func readEntry(in io.ByteReader) (e entry, err error) {
	c, err := in.ReadByte()
	if err != nil {
		return e, err
	}
	e.kind, e.size = c>>4&7, uint64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil || shift > 56 {
			return e, errEntry
		}
		e.size |= uint64(c&0x7f) << shift
	}
	switch e.kind {
	case kindOfsDelta:
		for n := 0; ; n++ {
			if c, err = in.ReadByte(); err != nil || n > 8 {
				return e, errEntry
			}
			if e.back = e.back<<7 | uint64(c&0x7f); c&0x80 == 0 {
				return e, nil
			}
			e.back++
		}
	case kindRefDelta:
		for i := range e.base {
			if e.base[i], err = in.ReadByte(); err != nil {
				return e, errEntry
			}
		}
	}
	return e, nil
}

// inflater unpacks the contents of entries one by one.
type inflater struct{ z io.ReadCloser }

func (i *inflater) reset(in io.Reader) (io.Reader, error) {
	if i.z == nil {
		var err error
		i.z, err = zlib.NewReader(in)
		return i.z, err
	}
	return i.z, i.z.(zlib.Resetter).Reset(in, nil)
}

// deltaHead reads the sizes of the base and of the result of a delta, which its
// instructions begin with.
func deltaHead(in io.Reader) (base, result uint64, err error) {
	var head [2 * binary.MaxVarintLen64]byte
	n, err := io.ReadFull(in, head[:])
	base, k := binary.Uvarint(head[:n])
	if k <= 0 {
		return 0, 0, errors.Join(errEntry, err)
	}
	result, l := binary.Uvarint(head[k:n])
	if l <= 0 {
		return 0, 0, errors.Join(errEntry, err)
	}
	return base, result, nil
}

// Sizes reads the kinds and sizes of a pack's objects, without unpacking more of
// each than its head.
type Sizes struct {
	index    *Index
	pack     *os.File
	order    []placed // by offset
	kinds    []byte   // of the objects in this order; 0: not known yet
	inflater inflater
	head     []byte
}

// placed is an object's place in the index and in the pack.
type placed struct {
	offset   int64
	position uint32
}

func byOffset(a, b placed) int { return cmp.Compare(a.offset, b.offset) }

// OpenSizes opens a pack, given without extension. Its memory is 20 bytes
// an object.
func OpenSizes(path string) (*Sizes, error) {
	index, err := OpenIndex(path + ".idx")
	if err != nil {
		return nil, err
	}
	s := &Sizes{index: index, head: make([]byte, headBytes)}
	if s.pack, err = os.Open(path + ".pack"); err != nil {
		return nil, errors.Join(err, index.Close())
	}
	if s.order, err = index.offsets(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	slices.SortFunc(s.order, byOffset)
	s.kinds = make([]byte, len(s.order))
	return s, nil
}

// headBytes are read of each entry: with them a delta's first bytes inflate,
// after the longest table of codes that may stand before them.
const headBytes = 512

func (s *Sizes) Close() error { return errors.Join(s.pack.Close(), s.index.Close()) }

// object returns the kind of an object and its size.
func (s *Sizes) object(i int) (kind byte, size uint64, err error) {
	e, rest, err := s.entry(i)
	if err != nil {
		return 0, 0, err
	}
	if size = e.size; e.kind >= kindOfsDelta {
		in, err := s.inflater.reset(rest)
		if err != nil {
			return 0, 0, err
		}
		if _, size, err = deltaHead(in); err != nil {
			return 0, 0, err
		}
	}
	kind, err = s.kind(i, e)
	return kind, size, err
}

func (s *Sizes) entry(i int) (entry, *bytes.Reader, error) {
	n, err := s.pack.ReadAt(s.head, s.order[i].offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return entry{}, nil, err
	}
	in := bytes.NewReader(s.head[:n])
	e, err := readEntry(in)
	return e, in, err
}

// kind follows a delta to the object that its chain begins with, and notes the kind of
// that for the whole chain.
func (s *Sizes) kind(i int, e entry) (byte, error) {
	var way []int
	for s.kinds[i] == 0 && e.kind >= kindOfsDelta {
		if way = append(way, i); len(way) > len(s.order) {
			return 0, errEntry
		}
		offset := s.order[i].offset - int64(e.back)
		if e.kind == kindRefDelta {
			position, err := s.index.find(e.base[:])
			if err == nil && position < 0 {
				err = errEntry
			}
			if err == nil {
				offset, err = s.index.offset(position)
			}
			if err != nil {
				return 0, err
			}
		}
		var ok bool
		i, ok = slices.BinarySearchFunc(s.order, placed{offset: offset}, byOffset)
		if !ok {
			return 0, errEntry
		}
		if s.kinds[i] == 0 {
			var err error
			if e, _, err = s.entry(i); err != nil {
				return 0, err
			}
		}
	}
	if s.kinds[i] == 0 {
		s.kinds[i] = e.kind
	}
	for _, j := range way {
		s.kinds[j] = s.kinds[i]
	}
	return s.kinds[i], nil
}

// Tree is a tree of a pack.
type Tree struct {
	SHA  object.SHA
	Size int64
}

// Check refuses the pack when one of its first objects, as many as were sent, is
// too large. It gives those that are trees, which in a pack mostly stand before
// what they hold, the last one first. Error: TooLarge.
func (s *Sizes) Check(sent int) ([]Tree, error) {
	var trees []Tree
	for i := range min(sent, len(s.order)) {
		kind, size, err := s.object(i)
		if err != nil {
			return nil, fmt.Errorf("git: pack entry at %d: %w", s.order[i].offset, err)
		}
		t, ok := kindType(kind)
		if !ok {
			return nil, errEntry
		}
		if size > object.MaxNewCommitBytes {
			sha, err := s.index.name(s.order[i])
			if err != nil {
				return nil, err
			}
			err = object.CheckSize(t, int64(min(size, 1<<62)), func() string { return string(sha) })
			if err != nil {
				return nil, err
			}
		}
		if t == object.TypeTree {
			sha, err := s.index.name(s.order[i])
			if err != nil {
				return nil, err
			}
			trees = append(trees, Tree{sha, int64(size)})
		}
	}
	slices.Reverse(trees)
	return trees, nil
}

// Header is the twelve bytes that open a pack.
type Header [12]byte

// ReadHeader reads the header and the number of objects it claims.
func ReadHeader(r io.Reader) (Header, uint32, error) {
	var h Header
	if _, err := io.ReadFull(r, h[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return h, 0, errs.Wrap(errs.Invalid, "the pack is truncated", err)
		}
		return h, 0, err
	}
	if string(h[:4]) != "PACK" || h[4] != 0 || h[5] != 0 || h[6] != 0 || h[7] != 2 && h[7] != 3 {
		return h, 0, errs.New(errs.Invalid, "what was sent is not a pack")
	}
	return h, uint32(h[8])<<24 | uint32(h[9])<<16 | uint32(h[10])<<8 | uint32(h[11]), nil
}
