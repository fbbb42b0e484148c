package object

import (
	"crypto/sha1" //nolint:gosec // git's own names
	"strconv"

	"arbor/internal/errs"
)

// NewObject is an object that is to be written: its contents as git keeps
// them, without the header.
type NewObject struct {
	Type Type
	Data []byte
}

// ID is the object's name in 20 bytes.
func (o NewObject) ID() (id ID) {
	h := sha1.New()
	header := append(append(make([]byte, 0, 32), o.Type...), ' ')
	header = append(strconv.AppendInt(header, int64(len(o.Data)), 10), 0)
	h.Write(header)
	h.Write(o.Data)
	h.Sum(id[:0])
	return id
}

// SHA names the object as git does.
func (o NewObject) SHA() SHA { return o.ID().SHA() }

// The largest objects that are taken in, in bytes. Larger ones that are stored
// from before stay.
const (
	MaxBlobBytes      = 100 << 20
	MaxTreeBytes      = 32 << 20 // about half a million entries in one directory
	MaxNewCommitBytes = 1 << 20  // and tags
)

// CheckSize refuses an object that is too large. Error: TooLarge.
func CheckSize(t Type, size int64, name func() string) error {
	limit := int64(MaxBlobBytes)
	switch t {
	case TypeCommit, TypeTag:
		limit = MaxNewCommitBytes
	case TypeTree:
		limit = MaxTreeBytes
	}
	if size <= limit {
		return nil
	}
	return errs.Newf(errs.TooLarge, "%s %s has %d bytes (maximum is %d)", t, name(), size, limit)
}
