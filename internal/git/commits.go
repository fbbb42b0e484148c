package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
)

// Commits reads many commits in a few exchanges with one pooled process, in the
// order of shas. Errors are those of Commit.
func (r *Repository) Commits(ctx context.Context, shas []SHA) ([]*Commit, error) {
	for _, sha := range shas {
		if err := sha.Check(); err != nil {
			return nil, err
		}
	}
	var commits []*Commit
	err := r.cat(ctx, func(c *catfile.Process) (err error) {
		commits, err = c.Commits(shas, 0)
		return err
	})
	return commits, err
}

// CommitsPart is how many bytes of commits EachCommits holds at one time, unless a
// single one is larger.
const CommitsPart = 1 << 20

// EachCommits reads many commits, as Commits does, and gives them to fn in parts
// of at most CommitsPart bytes: mostly there is one. No process is held while fn
// runs. An error of fn ends it and is returned.
func (r *Repository) EachCommits(ctx context.Context, shas []SHA, fn func(part []*Commit) error) error {
	for _, sha := range shas {
		if err := sha.Check(); err != nil {
			return err
		}
	}
	for len(shas) > 0 {
		part, err := r.commitsPart(ctx, shas)
		if err != nil {
			return err
		}
		shas = shas[len(part):]
		if err := fn(part); err != nil {
			return err
		}
	}
	return nil
}

// commitsPart reads the first of the commits: as many as CommitsPart says, or one.
func (r *Repository) commitsPart(ctx context.Context, shas []SHA) (part []*Commit, err error) {
	err = r.cat(ctx, func(c *catfile.Process) (err error) {
		part, err = c.Commits(shas, CommitsPart)
		return err
	})
	if errors.Is(err, catfile.ErrPart) {
		err = nil
	}
	return part, err
}

// PeelToCommit follows annotated tags to a commit. NotFound when something on
// the way is missing, Invalid when the end is not a commit.
func (r *Repository) PeelToCommit(ctx context.Context, sha SHA) (SHA, error) {
	for range maxTags {
		info, err := r.Info(ctx, sha)
		if err != nil {
			return "", err
		}
		switch info.Type {
		case TypeCommit:
			return sha, nil
		case TypeTag:
		default:
			return "", errs.Newf(errs.Invalid, "%s is a %s, not a commit", sha, info.Type)
		}
		_, contents, err := r.Contents(ctx, sha, object.MaxCommitBytes)
		if err != nil {
			return "", err
		}
		line, _, _ := strings.Cut(string(contents[:min(len(contents), 64)]), "\n")
		if sha, err = ParseSHA(strings.TrimPrefix(line, "object ")); err != nil {
			return "", fmt.Errorf("git: tag %s has no target: %w", info.SHA, err)
		}
	}
	return "", errs.Newf(errs.Invalid, "%s is a tag of more than %d tags", sha, maxTags)
}

// MinPrefix is the length of the shortest abbreviation of a SHA, in digits.
const MinPrefix = 4

// IsPrefix reports whether s may abbreviate a SHA.
func IsPrefix(s string) bool {
	return len(s) >= MinPrefix && len(s) < 40 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// FindCommit finds the one commit whose SHA begins with the digits. NotFound
// when there is none, Invalid when there are several.
func (r *Repository) FindCommit(ctx context.Context, prefix string) (SHA, error) {
	if !IsPrefix(prefix) {
		return "", catfile.Missing(prefix)
	}
	prefix = strings.ToLower(prefix)
	// Only a commit, or a tag of one, can be followed by ^{commit}. Of several
	// git says then that there is none, so the digits alone are asked about.
	info, err := r.named(ctx, prefix+"^{commit}")
	if errs.Is(err, errs.NotFound) {
		if _, err := r.named(ctx, prefix); errs.Is(err, errs.Invalid) {
			return "", err
		}
	}
	if err == nil && !strings.HasPrefix(string(info.SHA), prefix) {
		return "", catfile.Missing(prefix) // a tag, or a ref of that name on disk
	}
	return info.SHA, err
}

// named asks for the object that an abbreviation, which IsPrefix has seen,
// leads to. Invalid when there are several.
func (r *Repository) named(ctx context.Context, name string) (Object, error) {
	var info Object
	err := r.cat(ctx, func(c *catfile.Process) (err error) {
		info, err = c.Named(name)
		return err
	})
	return info, err
}

// Lookup finds the entry at a path below a tree, reading one tree for each of
// its parts. NotFound when there is none, Invalid for a path that CheckPath
// refuses.
func (r *Repository) Lookup(ctx context.Context, tree SHA, path string) (TreeEntry, error) {
	if err := CheckPath(path); err != nil {
		return TreeEntry{}, err
	}
	entry := TreeEntry{Mode: ModeTree, SHA: tree, Type: TypeTree, Size: -1}
	for part := range strings.SplitSeq(path, "/") {
		if entry.Type != TypeTree {
			return TreeEntry{}, catfile.Missing(path)
		}
		var err error
		if entry, err = r.child(ctx, entry.SHA, part); err != nil {
			return TreeEntry{}, err
		}
	}
	entry.Path = path
	return entry, nil
}

// child finds an entry of one tree.
func (r *Repository) child(ctx context.Context, tree SHA, name string) (TreeEntry, error) {
	contents, err := r.TreeContents(ctx, tree, MaxTreeBytes)
	if err != nil {
		return TreeEntry{}, err
	}
	for len(contents) > 0 {
		var raw object.Entry
		if raw, contents, err = object.NextEntry(contents); err != nil {
			return TreeEntry{}, fmt.Errorf("git: tree %s: %w", tree, err)
		}
		if string(raw.Name) == name {
			return TreeEntry{Mode: raw.Mode, SHA: SHA(hex.EncodeToString(raw.ID)), Type: raw.Mode.Type(),
				Size: -1}, nil
		}
	}
	return TreeEntry{}, catfile.Missing(name)
}
