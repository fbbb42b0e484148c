package git

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/object"
)

// Info returns the type and size of an object; NotFound when it is missing.
func (r *Repository) Info(ctx context.Context, sha SHA) (Object, error) {
	if err := sha.Check(); err != nil {
		return Object{}, err
	}
	var info Object
	err := r.cat(ctx, func(c *catfile.Process) (err error) {
		info, err = c.Info(sha)
		return err
	})
	return info, err
}

// Infos is Info for many objects in one exchange, in the order of shas;
// NotFound when any is missing.
func (r *Repository) Infos(ctx context.Context, shas []SHA) ([]Object, error) {
	for _, sha := range shas {
		if err := sha.Check(); err != nil {
			return nil, err
		}
	}
	var objects []Object
	err := r.cat(ctx, func(c *catfile.Process) error {
		objects = make([]Object, 0, len(shas))
		return c.Infos(len(shas), func(i int) SHA { return shas[i] }, func(_ int, o Object) {
			objects = append(objects, o)
		})
	})
	return objects, err
}

// Contents reads a whole object. Over limit bytes it is TooLarge, and the
// Object is still given; NotFound when it is missing.
func (r *Repository) Contents(ctx context.Context, sha SHA, limit int64) (Object, []byte, error) {
	if err := sha.Check(); err != nil {
		return Object{}, nil, err
	}
	var info Object
	var contents []byte
	err := r.cat(ctx, func(c *catfile.Process) error {
		var err error
		info, contents, err = c.Contents(sha, limit)
		return err
	})
	return info, contents, err
}

// PeelToTree follows a commit or tag to its tree. NotFound when something on
// the way is missing, Invalid when the end is not a tree.
func (r *Repository) PeelToTree(ctx context.Context, sha SHA) (SHA, error) {
	for range maxTags {
		info, err := r.Info(ctx, sha)
		if err != nil {
			return "", err
		}
		switch info.Type {
		case TypeTree:
			return sha, nil
		case TypeBlob:
			return "", errs.Newf(errs.Invalid, "%s is a blob, not a tree", sha)
		}
		_, contents, err := r.Contents(ctx, sha, object.MaxCommitBytes)
		if err != nil {
			return "", err
		}
		// "tree SHA" opens a commit, "object SHA" a tag.
		line, _, _ := strings.Cut(string(contents[:min(len(contents), 64)]), "\n")
		_, target, _ := strings.Cut(line, " ")
		if sha, err = ParseSHA(target); err != nil {
			return "", fmt.Errorf("git: %s %s has no target: %w", info.Type, info.SHA, err)
		}
	}
	return "", errs.Newf(errs.Invalid, "%s is a tag of more than %d tags", sha, maxTags)
}

// maxTags bounds a chain of tags of tags.
const maxTags = 32

// Commit reads a commit. NotFound when it is missing, Invalid when sha is
// something else (tags are not followed).
func (r *Repository) Commit(ctx context.Context, sha SHA) (*Commit, error) {
	info, contents, err := r.Contents(ctx, sha, object.MaxCommitBytes)
	if info.Type != "" && info.Type != TypeCommit {
		return nil, errs.Newf(errs.Invalid, "%s is a %s, not a commit", sha, info.Type)
	}
	if err != nil {
		return nil, err
	}
	commit, err := object.ParseCommit(contents)
	if err != nil {
		return nil, fmt.Errorf("git: commit %s: %w", sha, err)
	}
	commit.SHA = sha
	return commit, nil
}

// Tag reads an annotated tag. NotFound when it is missing, Invalid when sha is
// something else.
func (r *Repository) Tag(ctx context.Context, sha SHA) (*Tag, error) {
	info, contents, err := r.Contents(ctx, sha, object.MaxCommitBytes)
	if info.Type != "" && info.Type != TypeTag {
		return nil, errs.Newf(errs.Invalid, "%s is a %s, not a tag", sha, info.Type)
	}
	if err != nil {
		return nil, err
	}
	tag, err := object.ParseTag(contents)
	if err != nil {
		return nil, fmt.Errorf("git: tag %s: %w", sha, err)
	}
	tag.SHA = sha
	return tag, nil
}
