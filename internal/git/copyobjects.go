package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"

	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// CopyObjects copies the history of a commit from one repository into another,
// durably and with all checks of a push: the head of a fork, before the
// transaction that needs it. have are what refs of to name, whose histories are
// whole. It does nothing where to is known to have all of it. The public may
// read in to what it could read in from: whether it may is the caller's. admit, which
// may refuse, is called with the size of the pack before it is kept.
//
// Errors: NotFound where from lacks the tip; Invalid and TooLarge as of Receive; admit's.
func CopyObjects(
	ctx context.Context, from, to *Repository, tip SHA, have []SHA, admit func(size int64) error,
) error {
	if err := tip.Check(); err != nil {
		return err
	}
	if err := to.Init(); err != nil {
		return err
	}
	there, err := to.Known(ctx, []SHA{tip})
	if err != nil {
		return err
	}
	if there[0].Type != "" && to.CheckConnected(ctx, tip, have) == nil {
		return nil
	}
	if _, err := from.Commit(ctx, tip); err != nil {
		return err
	}
	in, err := from.packRequest(ctx, tip, have)
	if err != nil {
		return err
	}
	g := from.git
	c := process.Command{Sub: "pack-objects",
		Flags: []string{"-q", "--revs", "--thin", "--stdout", "--delta-base-offset", "--threads=1"}}
	t := process.Task{Command: c, Dir: from.dir, Limit: g.options.TransferTimeout, Stdin: in}
	err = g.streamTask(ctx, from.sendCage(1), t, func(pack *bufio.Reader) error {
		q, err := to.Receive(ctx, ReceiveOptions{Pack: pack, Tips: have,
			Commands: []wire.Command{{Name: "refs/heads/copied", Old: ZeroSHA, New: tip}}})
		if err != nil {
			return err
		}
		size, err := q.size()
		if err == nil && size > 0 {
			err = admit(size)
		}
		if err == nil {
			err = q.Keep(ctx)
		}
		return errors.Join(err, q.Discard())
	})
	if err != nil {
		return fmt.Errorf("git: copying %s: %w", tip, err)
	}
	to.MarkWhole(tip)
	return nil
}

// packRequest is what pack-objects reads: the tip, without the histories of
// those commits of have that are here.
func (r *Repository) packRequest(ctx context.Context, tip SHA, have []SHA) (*bytes.Buffer, error) {
	known, err := r.Known(ctx, have)
	if err != nil {
		return nil, err
	}
	in := bytes.NewBufferString(string(tip) + "\n")
	for _, o := range known {
		if o.Type == TypeCommit || o.Type == TypeTag {
			in.WriteString("^" + string(o.SHA) + "\n")
		}
	}
	return in, nil
}
