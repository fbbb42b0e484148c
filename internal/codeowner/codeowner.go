// Package codeowner implements CODEOWNERS files: who has to review changes of which files.
//
//	codeowner.go   [File]: the file of a commit, found in one of its three places
//	parse.go       reads lines, and reports what is wrong with them
//	match.go       patterns, and the line that counts for a path
//	owned.go       [File.Owned]: what a change touches, by the lines that give it owners
//	known.go       [Resolve]: which of the owners that a file names count in a repository
//	store.go       the SQL
//	errors.go      the errors of a file; api.go: their endpoint
//
// A file counts at the base of a pull request, never as the pull request changes it. Package rule requires reviews of
// the owners before a merge, and package pull requests them. Names are resolved when they are needed, in the
// transaction that needs them: accounts that were renamed, deleted or lost the right to push are no owners from
// then on.
//
// A pattern never costs more than it is long, but a file may have many, and a change many files. [File.Owned] counts
// its steps and gives up at a bound. What cannot be checked is not merged. A file that is too large, has too many
// lines or is a symbolic link is ignored, as at GitHub; [File.Ignored] says so wherever its owners would be shown.
package codeowner

import (
	"context"
	"slices"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// Bounds of a file.
const (
	maxBytes   = 3 << 20 // as at GitHub
	maxLines   = 100_000 // with a pattern
	maxPattern = 1024    // bytes
	maxOwners  = 100     // of a line
	maxErrors  = 1000    // that are reported
	maxSource  = 1024    // bytes of a line in an error
)

// places are the paths of the file. The first one that exists counts.
var places = [...]string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// IsPlace reports whether a path is one of the places of the file.
func IsPlace(path string) bool { return slices.Contains(places[:], path) }

// File is the CODEOWNERS file of a commit. It is not safe for concurrent use.
type File struct {
	Path    string // empty: there is none
	Ignored string // why the file has no effect, as a sentence; empty: it has
	Errors  []Error

	text  string
	lines []line
	taken int // steps of Owner
	index
}

// line is a line that gives a pattern owners, or takes them away.
type line struct {
	number int
	owners string // separated by spaces; empty: nobody
}

// Read reads the file of a commit or tree. Without a file it returns an empty one.
func Read(ctx context.Context, objects *git.Repository, at git.SHA) (*File, error) {
	tree, err := objects.PeelToTree(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		entry, err := objects.Lookup(ctx, tree, place)
		if errs.Is(err, errs.NotFound) || err == nil && entry.Type == git.TypeTree {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := &File{Path: place}
		if entry.Mode == git.ModeSymlink || entry.Type != git.TypeBlob {
			f.ignore("it is not a regular file")
			return f, nil
		}
		_, text, err := objects.Contents(ctx, entry.SHA, maxBytes)
		if errs.Is(err, errs.TooLarge) {
			f.ignore("it is larger than 3 MB")
			return f, nil
		}
		if err == nil {
			f.parse(string(text))
		}
		return f, err
	}
	return &File{}, nil
}

// ignore takes the effect from the file.
func (f *File) ignore(why string) {
	*f = File{Path: f.Path, Ignored: "CODEOWNERS is ignored: " + why + "."}
	f.Errors = []Error{{Line: 1, Column: 1, Kind: "Ignored file", Suggestion: why, Path: f.Path}}
}
