package git

import (
	"context"
	"fmt"
	"io"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Object is what is known of an object without its contents.
type Object struct {
	SHA  SHA
	Type Type
	Size int64 // bytes of the contents
}

// Info gives type and size of an object; NotFound when it is missing.
func (r *Repository) Info(ctx context.Context, sha SHA) (Object, error) {
	if err := sha.Check(); err != nil {
		return Object{}, err
	}
	var info Object
	err := r.cat(ctx, func(c *catFile) error {
		if err := c.ask("info ", sha); err != nil {
			return errDirty{c.broken(err)}
		}
		var err error
		info, err = c.header()
		return dirtyUnlessMissing(err)
	})
	return info, err
}

// dirtyUnlessMissing marks every error as leaving the process unusable but
// the one for a missing object, which is a whole answer.
func dirtyUnlessMissing(err error) error {
	if err == nil || errs.Is(err, errs.NotFound) {
		return err
	}
	return errDirty{err}
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
	err := r.cat(ctx, func(c *catFile) error {
		objects = make([]Object, 0, len(shas))
		return c.infos(len(shas), func(i int) SHA { return shas[i] }, func(_ int, o Object) {
			objects = append(objects, o)
		})
	})
	return objects, err
}

// infosAtOnce is how many requests are written before answers are read: their
// answers, up to 62 bytes each, fit even the smallest pipe.
const infosAtOnce = 64

// infos asks for n objects and gives each answer to got. The first missing
// object is the error, after all answers are read.
func (c *catFile) infos(n int, sha func(int) SHA, got func(int, Object)) error {
	if n == 0 {
		return nil
	}
	request := make([]byte, 0, n*46+6)
	for i := range n {
		request = append(append(append(request, "info "...), sha(i)...), '\n')
	}
	request = append(request, "flush\n"...)
	written := make(chan error, 1)
	if n <= infosAtOnce {
		_, err := c.in.Write(request)
		written <- err
	} else {
		// git blocks on its answers while we would block on our requests.
		go func() {
			_, err := c.in.Write(request)
			written <- err
		}()
	}
	var missing error
	for i := range n {
		info, err := c.header()
		switch {
		case err == nil:
			got(i, info)
		case errs.Is(err, errs.NotFound):
			if missing == nil {
				missing = err
			}
		default:
			c.kill()
			<-written
			return errDirty{err}
		}
	}
	if err := <-written; err != nil {
		return errDirty{c.broken(err)}
	}
	return missing
}

// skippable is the size up to which unwanted contents are read and dropped
// rather than the process ended.
const skippable = 1 << 20

// Contents reads a whole object. Over limit bytes it is TooLarge, and the
// Object is still given; NotFound when it is missing.
func (r *Repository) Contents(ctx context.Context, sha SHA, limit int64) (Object, []byte, error) {
	if err := sha.Check(); err != nil {
		return Object{}, nil, err
	}
	var info Object
	var contents []byte
	err := r.cat(ctx, func(c *catFile) error {
		var err error
		info, contents, err = c.contents(sha, limit)
		return err
	})
	return info, contents, err
}

// contents reads one object of at most limit bytes.
func (c *catFile) contents(sha SHA, limit int64) (Object, []byte, error) {
	if err := c.ask("contents ", sha); err != nil {
		return Object{}, nil, errDirty{c.broken(err)}
	}
	return c.answer(sha, limit)
}

// keptObject is the size in bytes from which an object is the last that a pooled
// process reads: idle ones are many, and nobody is asked for their memory.
const keptObject = 2 << 20

// answer reads the answer to a request for contents.
func (c *catFile) answer(sha SHA, limit int64) (Object, []byte, error) {
	info, err := c.header()
	if err != nil {
		return Object{}, nil, dirtyUnlessMissing(err)
	}
	if info.Size > limit {
		return c.refuse(info, limit)
	}
	c.large = c.large || info.Size > keptObject
	contents := make([]byte, info.Size+1)
	if _, err := io.ReadFull(c.out, contents); err != nil {
		return Object{}, nil, errDirty{c.broken(err)}
	}
	if contents[info.Size] != '\n' {
		return Object{}, nil, errDirty{fmt.Errorf("git cat-file: %s does not end where it should", sha)}
	}
	return info, contents[:info.Size], nil
}

// refuse gets rid of the contents of an object that is too large.
func (c *catFile) refuse(info Object, limit int64) (Object, []byte, error) {
	tooLarge := errs.Newf(errs.TooLarge, "%s %s has %d bytes (maximum is %d)",
		info.Type, info.SHA, info.Size, limit)
	if info.Size > skippable {
		c.kill()
		return info, nil, errSpent{tooLarge}
	}
	if _, err := c.out.Discard(int(info.Size) + 1); err != nil {
		return Object{}, nil, errDirty{c.broken(err)}
	}
	return info, nil, tooLarge
}

// PeelToTree follows a commit or tag to its tree. NotFound when something on
// the way is missing, Invalid when the end is no tree.
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
