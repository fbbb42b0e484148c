package packfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"arbor/internal/git/object"
)

// Index is an open .idx file of version 2: which objects a pack holds. A
// large one is read in place, so that its size does not matter.
type Index struct {
	file   io.ReaderAt
	closer io.Closer
	fanout [256]uint32
}

// Parts of an index: magic and version, the fan-out table, then sorted names.
const (
	indexHeader = 8
	indexNames  = indexHeader + 256*4
)

// OpenIndex opens an .idx file.
func OpenIndex(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &Index{file: f, closer: f}
	if info, err := f.Stat(); err == nil && info.Size() <= smallIndex {
		if whole := make([]byte, info.Size()); readAll(f, whole) {
			x.file = bytes.NewReader(whole)
		}
	}
	var head [indexNames]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return nil, errors.Join(fmt.Errorf("git: pack index: %w", err), f.Close())
	}
	if !bytes.Equal(head[:indexHeader], []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, errors.Join(errors.New("git: pack index is not of version 2"), f.Close())
	}
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[indexHeader+4*i:])
		if i > 0 && x.fanout[i] < x.fanout[i-1] {
			return nil, errors.Join(errors.New("git: pack index is not in order"), f.Close())
		}
	}
	return x, nil
}

// smallIndex is the size in bytes of an index that is read at once.
const smallIndex = 256 << 10

func readAll(f *os.File, to []byte) bool {
	_, err := f.ReadAt(to, 0)
	return err == nil
}

func (x *Index) Close() error { return x.closer.Close() }

// Count is the number of objects in the pack.
func (x *Index) Count() int { return int(x.fanout[255]) }

// Has reports whether the pack holds sha.
func (x *Index) Has(sha object.SHA) (bool, error) {
	id, err := hex.DecodeString(string(sha))
	if err != nil || len(id) != 20 {
		return false, sha.Check()
	}
	return x.HasID(id)
}

// HasID is Has for a name in 20 bytes.
func (x *Index) HasID(id []byte) (bool, error) {
	position, err := x.find(id)
	return position >= 0 && err == nil, err
}

// find returns the position of a name in the index, or -1.
func (x *Index) find(id []byte) (int, error) {
	low, high := uint32(0), x.fanout[id[0]]
	if id[0] > 0 {
		low = x.fanout[id[0]-1]
	}
	var name [20]byte
	for low < high {
		middle := low + (high-low)/2
		if _, err := x.file.ReadAt(name[:], indexNames+20*int64(middle)); err != nil {
			return -1, err
		}
		switch bytes.Compare(name[:], id) {
		case 0:
			return int(middle), nil
		case -1:
			low = middle + 1
		default:
			high = middle
		}
	}
	return -1, nil
}

// offset is where in the pack the object at a position is.
func (x *Index) offset(position int) (int64, error) {
	var b [8]byte
	n := int64(x.Count())
	if _, err := x.file.ReadAt(b[:4], indexNames+24*n+4*int64(position)); err != nil {
		return 0, err
	}
	offset := binary.BigEndian.Uint32(b[:])
	if offset < farOffset {
		return int64(offset), nil
	}
	_, err := x.file.ReadAt(b[:], indexNames+28*n+8*int64(offset-farOffset))
	return int64(binary.BigEndian.Uint64(b[:]) &^ (1 << 63)), err
}

// farOffset marks a place in the table of offsets that 31 bits do not hold.
const farOffset = 1 << 31

// offsets are the places of all objects, in the order of names.
func (x *Index) offsets() ([]placed, error) {
	n := x.Count()
	in := bufio.NewReaderSize(io.NewSectionReader(x.file, indexNames+24*int64(n), 4*int64(n)), 64<<10)
	list := make([]placed, n)
	var b [4]byte
	for i := range list {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return nil, err
		}
		list[i] = placed{int64(binary.BigEndian.Uint32(b[:])), uint32(i)}
		if list[i].offset < farOffset {
			continue
		}
		var err error
		if list[i].offset, err = x.offset(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// name is the SHA of an object.
func (x *Index) name(p placed) (object.SHA, error) {
	var id [20]byte
	_, err := x.file.ReadAt(id[:], indexNames+20*int64(p.position))
	return object.SHA(hex.EncodeToString(id[:])), err
}

// names reads the pack's object names in order.
func (x *Index) names() *nameReader {
	n := int64(x.Count())
	return &nameReader{left: n, in: bufio.NewReaderSize(io.NewSectionReader(x.file, indexNames, 20*n),
		64<<10)}
}

// nameReader reads sorted object names one by one.
type nameReader struct {
	in   *bufio.Reader
	left int64
	name [20]byte
}

// next reports false at the end.
func (n *nameReader) next() (bool, error) {
	if n.left == 0 {
		return false, nil
	}
	n.left--
	_, err := io.ReadFull(n.in, n.name[:])
	return err == nil, err
}

// Each calls fn with the name of each object, in order.
func (x *Index) Each(fn func(id object.ID) error) error {
	for names := x.names(); ; {
		more, err := names.next()
		if err != nil || !more {
			return err
		}
		if err := fn(names.name); err != nil {
			return err
		}
	}
}

// HoldsAll reports whether every object of other is in x too.
func (x *Index) HoldsAll(other *Index) (bool, error) {
	mine, theirs := x.names(), other.names()
	for {
		more, err := theirs.next()
		if err != nil || !more {
			return err == nil, err
		}
		for order := -1; order != 0; {
			more, err := mine.next()
			if err != nil || !more {
				return false, err
			}
			if order = bytes.Compare(mine.name[:], theirs.name[:]); order > 0 {
				return false, nil
			}
		}
	}
}

// AddedBehind returns the objects of a pack after the first n, which were sent: the bases
// that --fix-thin added.
func (x *Index) AddedBehind(n int) ([]object.SHA, error) {
	if n >= x.Count() {
		return nil, nil
	}
	list, err := x.offsets()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, byOffset)
	shas := make([]object.SHA, 0, len(list)-n)
	for _, p := range list[n:] {
		sha, err := x.name(p)
		if err != nil {
			return nil, err
		}
		shas = append(shas, sha)
	}
	return shas, nil
}

// ObjectsIn is how many objects an index of so many bytes is of, about.
func ObjectsIn(indexBytes int64) int64 { return max(indexBytes-indexNames, 0) / 28 }
