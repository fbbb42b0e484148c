package git

import (
	"strings"

	"time"

	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
	"arbor/internal/git/tree"
	"arbor/internal/git/wire"
)

// What most callers need of the packages below has a name here, too, so that
// they import this package alone.
type (
	SHA       = object.SHA
	ID        = object.ID
	Type      = object.Type
	Mode      = object.Mode
	NewObject = object.NewObject
	Commit    = object.Commit
	Tag       = object.Tag
	Signature = object.Signature
	Object    = catfile.Object
	Ref       = wire.Ref
	Refs      = wire.Refs

	TreeEdit    = tree.Edit
	TreeProblem = tree.Problem
	BuiltTree   = tree.Built
)

// The constants of package object.
const (
	ZeroSHA   = object.ZeroSHA
	EmptyTree = object.EmptyTree

	TypeBlob   = object.TypeBlob
	TypeTree   = object.TypeTree
	TypeCommit = object.TypeCommit
	TypeTag    = object.TypeTag

	ModeTree       = object.ModeTree
	ModeFile       = object.ModeFile
	ModeExecutable = object.ModeExecutable
	ModeSymlink    = object.ModeSymlink
	ModeSubmodule  = object.ModeSubmodule

	MaxTreeBytes = object.MaxTreeBytes
)

// What the full names of branches and tags begin with.
const (
	Heads = "refs/heads/"
	Tags  = "refs/tags/"
	Notes = "refs/notes/"
)

// ParseSHA is [object.ParseSHA].
func ParseSHA(s string) (SHA, error) { return object.ParseSHA(s) }

// ParseDate is [object.ParseDate].
func ParseDate(s string) (time.Time, error) { return object.ParseDate(s) }

// CheckRefName is [object.CheckRefName].
func CheckRefName(name string) error { return object.CheckRefName(name) }

// CheckOldRefName is [object.CheckOldRefName].
func CheckOldRefName(name string) error { return object.CheckOldRefName(name) }

// PathProblem is [object.PathProblem].
func PathProblem(path string, m Mode) string { return object.PathProblem(path, m) }

// IsCopied reports whether the full name of a ref is that of a branch, a tag or notes: what mirrors and imports take.
// Refs of pull requests, for example, belong to the server that has them.
func IsCopied(name string) bool {
	return strings.HasPrefix(name, Heads) || strings.HasPrefix(name, Tags) || strings.HasPrefix(name, Notes)
}
