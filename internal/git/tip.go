package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/catfile"
	"arbor/internal/git/process"
)

// Known is Infos for objects that need not exist: those that do not are zero
// in the answer, which has the order of shas.
func (r *Repository) Known(ctx context.Context, shas []SHA) ([]Object, error) {
	for _, sha := range shas {
		if err := sha.Check(); err != nil {
			return nil, err
		}
	}
	objects := make([]Object, len(shas))
	err := r.cat(ctx, func(c *catfile.Process) error {
		clear(objects)
		return c.Infos(len(shas), func(i int) SHA {
			return shas[i]
		}, func(i int, o Object) { objects[i] = o })
	})
	if errs.Is(err, errs.NotFound) {
		err = nil
	}
	return objects, err
}

// Peel says what an object is, and what it finally names when it is a tag (the
// same object otherwise). NotFound when something on the way is missing.
func (r *Repository) Peel(ctx context.Context, sha SHA) (info, peeled Object, err error) {
	if info, err = r.Info(ctx, sha); err != nil {
		return Object{}, Object{}, err
	}
	peeled = info
	for range maxTags {
		if peeled.Type != TypeTag {
			return info, peeled, nil
		}
		tag, err := r.Tag(ctx, peeled.SHA)
		if err != nil {
			return Object{}, Object{}, err
		}
		if peeled, err = r.Info(ctx, tag.Object); err != nil {
			return Object{}, Object{}, err
		}
	}
	return Object{}, Object{}, errs.Newf(errs.Invalid, "tag %s is nested more than %d levels deep", sha, maxTags)
}

// CheckConnected checks that everything reachable from tip is here, as a push must:
// an object that a push included unasked may refer to missing ones. whole are
// objects known to be complete. It walks in a process unless the tip is one
// of them or was marked. Error: Invalid when something is missing.
func (r *Repository) CheckConnected(ctx context.Context, tip SHA, whole []SHA) error {
	if err := tip.Check(); err != nil {
		return err
	}
	if r.IsWhole(tip) {
		return nil
	}
	if !slices.Contains(whole, tip) {
		if err := (&Quarantine{repository: r}).checkConnected(ctx, []SHA{tip},
			ReceiveOptions{Tips: whole}); err != nil {
			return err
		}
	}
	r.MarkWhole(tip)
	if commit, err := r.Commit(ctx, tip); err == nil {
		r.MarkWhole(commit.Tree)
	}
	return nil
}

// IsAncestor reports whether the commit old is in the history of the commit
// tip, itself included. It starts no process if their histories diverged recently.
func (r *Repository) IsAncestor(ctx context.Context, old, tip SHA) (bool, error) {
	if old == tip {
		return true, nil
	}
	commit, err := r.Commit(ctx, tip)
	if err != nil {
		return false, err
	}
	if slices.Contains(commit.Parents, old) {
		return true, nil
	}
	if base, known, err := r.soleMergeBase(ctx, old, tip); err != nil || known {
		return base == old, err
	}
	var out bytes.Buffer
	c := process.Command{Sub: "rev-list", Flags: []string{"--max-count=1"}, Revs: []SHA{old}, Not: []SHA{tip}}
	err = r.git.run(ctx, r.walkCage(), process.Task{Command: c,
		Dir: r.dir, Limit: walkReads * r.git.options.ReadTimeout, Stdout: &out})
	if err != nil {
		return false, fmt.Errorf("git: is %s before %s: %w", old, tip, err)
	}
	return strings.TrimSpace(out.String()) == "", nil
}

// maxWhole is how many objects one half of a cache of names holds: about 6 MB.
const maxWhole = 50_000

// MarkWhole notes that an object and all that it leads to are here, durably.
// Callers that write a commit of complete parents and a complete tree call it to save
// CheckConnected its walk.
func (r *Repository) MarkWhole(shas ...SHA) {
	s := r.git.state(r.dir)
	for _, sha := range shas {
		r.git.whole.Put(treeKey{s, sha}, struct{}{})
	}
}

// IsWhole reports whether an object was marked. False means nothing.
func (r *Repository) IsWhole(sha SHA) bool {
	_, ok := r.git.whole.Get(treeKey{r.git.state(r.dir), sha})
	return ok
}
