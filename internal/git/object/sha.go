package object

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/errs"
)

// SHA names an object: 40 lower-case hexadecimal digits. Values come from
// [ParseSHA] or from git.
type SHA string

// ZeroSHA is git's name for "no object": the old value of a ref that is
// created and the new value of one that is deleted.
const ZeroSHA SHA = "0000000000000000000000000000000000000000"

// EmptyTree is the tree without entries, which git knows without storing it.
const EmptyTree SHA = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// ParseSHA takes exactly 40 hexadecimal digits, of either case. The result is a copy:
// caches keep SHAs, and must not keep the address or object that they stood in. The
// error is of kind Invalid.
func ParseSHA(s string) (SHA, error) {
	if !IsSHA(s) {
		return "", errs.Newf(errs.Invalid, "%q is not a full SHA", errs.Clip(s))
	}
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'F' {
			raw, err := hex.DecodeString(s)
			return SHA(hex.EncodeToString(raw)), err
		}
	}
	return SHA(strings.Clone(s)), nil
}

// IsZero reports whether s names no object.
func (s SHA) IsZero() bool { return s == "" || s == ZeroSHA }

// Check keeps what is no SHA away from git's own name resolution. Error: Invalid.
func (s SHA) Check() error {
	if !s.Valid() {
		return errs.Newf(errs.Invalid, "%q is not a full SHA", errs.Clip(string(s)))
	}
	return nil
}

// Valid reports whether s may be passed to git.
func (s SHA) Valid() bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'F' {
			return false
		}
	}
	return IsSHA(string(s))
}

// IsSHA reports 40 hexadecimal digits, of either case.
func IsSHA[T string | []byte](s T) bool {
	if len(s) != 40 {
		return false
	}
	for i := range 40 {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// ID is an object's name in 20 bytes, for sets of many.
type ID [20]byte

// String is the name in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// SHA is the name in hexadecimal digits.
func (id ID) SHA() SHA { return SHA(id.String()) }

// ID is the SHA in 20 bytes; the zero ID if it is not a full SHA.
func (s SHA) ID() (id ID) {
	_, _ = hex.Decode(id[:], []byte(s[:min(len(s), 40)]))
	return id
}

// Type is the type of an object.
type Type string

// The four types of objects. A submodule's entry in a tree has TypeCommit.
const (
	TypeBlob   Type = "blob"
	TypeTree   Type = "tree"
	TypeCommit Type = "commit"
	TypeTag    Type = "tag"
)

// ParseType avoids an allocation and refuses what git does not have.
func ParseType[T string | []byte](s T) (Type, error) {
	switch string(s) {
	case "blob":
		return TypeBlob, nil
	case "tree":
		return TypeTree, nil
	case "commit":
		return TypeCommit, nil
	case "tag":
		return TypeTag, nil
	}
	return "", fmt.Errorf("git: unknown object type %q", errs.Clip(string(s)))
}

// Mode is the mode of a tree entry, one of the five that git writes.
type Mode uint32

// The modes of tree entries.
const (
	ModeTree       Mode = 0o040000
	ModeFile       Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
)

// String is the mode as git prints it: six octal digits.
func (m Mode) String() string {
	switch m {
	case ModeTree:
		return "040000"
	case ModeFile:
		return "100644"
	case ModeExecutable:
		return "100755"
	case ModeSymlink:
		return "120000"
	case ModeSubmodule:
		return "160000"
	}
	s := strconv.FormatUint(uint64(m), 8)
	for len(s) < 6 {
		s = "0" + s
	}
	return s
}

// Type is the type of the object that an entry of mode m names.
func (m Mode) Type() Type {
	switch m {
	case ModeTree:
		return TypeTree
	case ModeSubmodule:
		return TypeCommit
	}
	return TypeBlob
}

// canonical folds the odd modes of old histories (100664, say) into the five,
// as git does when it reads a tree.
func (m Mode) canonical() Mode {
	switch m & 0o170000 {
	case 0o100000:
		if m&0o100 != 0 {
			return ModeExecutable
		}
		return ModeFile
	case 0o120000:
		return ModeSymlink
	case 0o040000:
		return ModeTree
	}
	return ModeSubmodule
}
