package git

import (
	"bytes"
	"context"

	"arbor/internal/git/process"
)

// FirstMissing walks to all that the tips lead to, and gives git's words for the first
// object that is missing or cannot be read; empty: all is there. It reads commits and
// trees, and of files that they exist. For operators: its only bound is
// Options.MaintenanceTimeout.
func (r *Repository) FirstMissing(ctx context.Context, tips []SHA) (problem string, err error) {
	if len(tips) == 0 {
		return "", nil
	}
	in, err := revisionList(tips, nil)
	if err != nil {
		return "", err
	}
	return r.look(ctx, process.Task{Stdin: in,
		Command: process.Command{Sub: "rev-list", Flags: []string{"--objects", "--stdin", "--quiet"}}})
}

// CheckObjects reads every object of the folder, compares it with its name, and gives
// git's words for what is wrong; empty: nothing is. Bounds as there.
func (r *Repository) CheckObjects(ctx context.Context) (problem string, err error) {
	return r.look(ctx, process.Task{
		Command: process.Command{Sub: "fsck",
			Flags: []string{"--full", "--no-dangling", "--no-reflogs", "--no-progress"}}})
}

// look runs a command that fails when something is wrong.
func (r *Repository) look(ctx context.Context, t process.Task) (problem string, err error) {
	var said bytes.Buffer
	t.Dir, t.Limit, t.Nice = r.dir, r.git.options.MaintenanceTimeout, true
	t.Stdout = &said
	if err := r.git.run(ctx, r.git.upkeepCage(), t); err != nil {
		if ctx.Err() == nil && process.IsExit(err) {
			return problemOf(said.Bytes(), err), nil
		}
		return "", err
	}
	return "", nil
}

// problemOf returns the first line that a command printed, with its exit status.
func problemOf(said []byte, err error) string {
	line, _, _ := bytes.Cut(said, []byte("\n"))
	if len(line) == 0 {
		return err.Error()
	}
	return string(line[:min(len(line), 200)]) + " (" + err.Error() + ")"
}
