package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"arbor/internal/git/process"
)

// WriteBundle writes a bundle, as git bundle create does: refs, and one pack with all that they lead to. Requests go
// before it.
func (r *Repository) WriteBundle(ctx context.Context, w io.Writer, refs []Ref) error {
	var head, in strings.Builder
	head.WriteString("# v2 git bundle\n")
	for _, ref := range refs {
		fmt.Fprintf(&head, "%s %s\n", ref.SHA, ref.Name)
		in.WriteString(string(ref.SHA) + "\n")
	}
	head.WriteString("\n")
	if _, err := io.WriteString(w, head.String()); err != nil {
		return err
	}
	c := process.Command{Sub: "pack-objects",
		Flags: []string{"-q", "--revs", "--stdout", "--delta-base-offset", "--threads=1"}}
	t := process.Task{Command: c, Dir: r.dir, Limit: r.git.options.TransferTimeout, Nice: true,
		Stdin: bytes.NewBufferString(in.String())}
	return r.git.streamTask(ctx, r.sendCage(1), t, func(pack *bufio.Reader) error {
		_, err := io.Copy(w, pack)
		return err
	})
}
