package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// ReceiveOptions is one push, as far as its objects go.
type ReceiveOptions struct {
	Pack     io.Reader      // behind the commands; nil when none was sent
	Commands []wire.Command // those that are still wanted
	Tips     []SHA          // what the repository's refs name now: known to be whole
	Shallow  bool           // the client's history is cut off; for a better message
	Progress io.Writer      // progress messages for the user (band 2); may be nil
	Absent   Absent         // the objects that are hidden from the sender
}

// Absent finds out which objects a client must not see, stored or not. When it is
// nil, the client may see all that is stored.
type Absent func(context.Context, []SHA) (map[SHA]bool, error)

// Receive takes a push's pack into a quarantine, with all checks: the limits,
// git's own fsck, and that every new tip has its whole history here. The
// caller keeps the quarantine or discards it; after an error there is none.
//
// Errors: TooLarge over a limit; Invalid for a pack that is damaged, fails a
// check or leaves objects missing. Pack is read in this goroutine: the caller bounds
// how long a read of it may block.
func (r *Repository) Receive(ctx context.Context, o ReceiveOptions) (*Quarantine, error) {
	q := &Quarantine{repository: r}
	tips := newTips(o.Commands)
	if len(tips) == 0 {
		return q, nil
	}
	for _, sha := range tips {
		if err := sha.Check(); err != nil {
			return nil, err
		}
	}
	if err := r.Init(); err != nil {
		return nil, err
	}
	count := uint32(0)
	var header packfile.Header
	if o.Pack != nil {
		var err error
		if header, count, err = packfile.ReadHeader(o.Pack); err != nil {
			return nil, err
		}
	}
	if count == 0 {
		return r.receiveNothing(ctx, header, o, tips)
	}
	if int64(count) > int64(r.git.options.MaxPackObjects) {
		return nil, errs.Newf(errs.TooLarge, "the pack has %d objects (maximum is %d)",
			count, r.git.options.MaxPackObjects)
	}
	q, err := r.newQuarantine(incomingPrefix)
	if err != nil {
		return nil, err
	}
	if err := q.receive(ctx, header, count, o, tips); err != nil {
		return nil, errors.Join(err, q.Discard())
	}
	return q, nil
}

// newTips are the distinct objects that the commands make refs name.
func newTips(commands []wire.Command) []SHA {
	var tips []SHA
	seen := make(map[SHA]bool)
	for _, c := range commands {
		if !c.IsDelete() && !seen[c.New] {
			seen[c.New] = true
			tips = append(tips, c.New)
		}
	}
	return tips
}

// receiveNothing handles a push of objects that are all here already.
func (r *Repository) receiveNothing(
	ctx context.Context, header packfile.Header, o ReceiveOptions, tips []SHA,
) (*Quarantine, error) {
	if o.Pack != nil {
		var sum [sha1.Size]byte
		if _, err := io.ReadFull(o.Pack, sum[:]); err != nil || sum != sha1.Sum(header[:]) {
			return nil, errs.New(errs.Invalid, "the pack is damaged")
		}
	}
	q := &Quarantine{repository: r}
	known := make(map[SHA]bool, len(o.Tips))
	for _, sha := range o.Tips {
		known[sha] = true
	}
	for _, sha := range tips {
		if !known[sha] {
			if err := q.checkAll(ctx, tips, o); err != nil {
				return nil, err
			}
			break
		}
	}
	return q, q.identify(ctx, tips, nil)
}

// receive indexes the pack and checks the tips.
func (q *Quarantine) receive(
	ctx context.Context, header packfile.Header, count uint32, o ReceiveOptions, tips []SHA,
) error {
	whole, err := q.indexPack(ctx, header, count, o)
	if err == nil && o.Absent != nil {
		err = q.checkBases(ctx, o)
	}
	if err != nil {
		return err
	}
	trees, err := q.checkSizes()
	if err != nil {
		return err
	}
	if whole {
		if whole, err = q.holds(tips, int(count)); err != nil {
			return err
		}
	}
	if !whole {
		if err := q.checkAll(ctx, tips, o); err != nil {
			return err
		}
	}
	return q.identify(ctx, tips, trees)
}

// checkSizes refuses objects that are too large, and gives the trees.
func (q *Quarantine) checkSizes() ([]packfile.Tree, error) {
	s, err := packfile.OpenSizes(filepath.Join(q.dir, "pack", q.pack))
	if err != nil {
		return nil, err
	}
	trees, err := s.Check(q.sent)
	return trees, errors.Join(err, s.Close())
}

// checkAll checks that all objects that the tips reach are here, and that none is
// hidden from the sender.
func (q *Quarantine) checkAll(ctx context.Context, tips []SHA, o ReceiveOptions) error {
	if o.Absent != nil {
		return q.checkForeign(ctx, tips, o)
	}
	return q.checkConnected(ctx, tips, o)
}

// revIndexFrom is the number of objects from which a pack gets a .rev file;
// smaller ones do without its sync, until maintenance takes them up.
const revIndexFrom = 5000

// indexPack runs index-pack over the pack. whole says that no object of the
// pack names one outside it.
func (q *Quarantine) indexPack(
	ctx context.Context, header packfile.Header, count uint32, o ReceiveOptions,
) (whole bool, err error) {
	g := q.repository.git
	q.sent = int(count)
	p, err := q.holdPack(header, o.Pack, count)
	if err != nil {
		return false, err
	}
	defer p.close()
	hide, err := o.mustHideMessages(ctx, p.bases)
	if err != nil {
		return false, err
	}
	progress := o.Progress
	if hide {
		progress = nil
	}
	most := g.part(mostPart, 0)
	var out *bytes.Buffer
	var filter *progressFilter
	for {
		out, filter = &bytes.Buffer{}, &progressFilter{out: progress, mayTell: o.mayTell}
		cage := process.Cage{Memory: p.need, CPU: g.cpu(load{int64(count), p.size})}
		err = g.run(ctx, cage, process.Task{
			Command: process.Command{Sub: "index-pack", Flags: g.indexFlags(count, progress != nil)},
			Dir:     q.repository.dir, Env: q.env(),
			Limit: g.options.TransferTimeout, Stdin: p.reader(), Stdout: out, Stderr: &messageLines{each: filter.pass}})
		if p.file == nil || p.need == most || !process.OutgrewMemory(err) {
			break
		}
		p.need = most
	}
	if hide && process.IsExit(err) && process.ExitCode(err) != 1 {
		return false, refusedPack(err, "", o.Shallow)
	}
	if errs.Is(err, errs.Invalid) && process.IsExit(err) {
		return false, err
	}
	if code := process.ExitCode(err); code > 1 || code < 0 && process.IsExit(err) {
		return false, refusedPack(err, filter.problem, o.Shallow)
	} else if err != nil && code != 1 {
		return false, err
	}
	// Bytes that a client sent behind its pack follow the name: git's own
	// server ignores them too.
	line, _, _ := strings.Cut(out.String(), "\n")
	name := strings.TrimPrefix(line, "pack\t")
	if !object.IsSHA(name) {
		return false, fmt.Errorf("git index-pack: unexpected output %q", errs.Clip(out.String()))
	}
	q.pack = "pack-" + name
	return err == nil, nil
}

// indexFlags are the options of index-pack for a pack of count objects.
func (g *Git) indexFlags(count uint32, progress bool) []string {
	flags := []string{"--stdin", "--fix-thin", strictOption(), "--check-self-contained-and-connected",
		"--max-input-size=" + strconv.FormatInt(g.options.MaxPackBytes, 10)}
	if count >= revIndexFrom {
		flags = append(flags, "--rev-index")
	} else {
		flags = append(flags, "--no-rev-index")
	}
	if progress {
		flags = append(flags, "--show-resolving-progress")
	}
	return flags
}

// refusedPack is the error for a pack that index-pack did not take. Its own
// words about an object, if there are any, are for the person who pushed.
func refusedPack(err error, problem string, shallow bool) error {
	message := "the pack is damaged, fails a check, or is missing necessary objects"
	if problem != "" {
		message = "the pack fails a check: " + problem
	} else if shallow {
		message += " (a push from a shallow clone needs its history here)"
	}
	return errs.Wrap(errs.Invalid, message, err)
}

// errReading wraps an error of reading the pack from the client.
func errReading(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errs.Wrap(errs.Invalid, "the pack is truncated", err)
	}
	return fmt.Errorf("git: reading the pack: %w", err)
}

// holds reports whether the new pack has all the tips, and only what
// was sent: a base that --fix-thin added was not checked with the rest.
func (q *Quarantine) holds(tips []SHA, sent int) (bool, error) {
	x, err := packfile.OpenIndex(filepath.Join(q.dir, "pack", q.pack+".idx"))
	if err != nil {
		return false, err
	}
	defer x.Close()
	if x.Count() != sent {
		return false, nil
	}
	for _, sha := range tips {
		if ok, err := x.Has(sha); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// checkConnected walks from the new tips to what is known to be whole, and
// fails when an object is missing on the way.
func (q *Quarantine) checkConnected(ctx context.Context, tips []SHA, o ReceiveOptions) error {
	in, err := revisionList(tips, o.Tips)
	if err != nil {
		return err
	}
	g := q.repository.git
	err = g.run(ctx, g.walkCage(q.load()), process.Task{
		Command: process.Command{Sub: "rev-list", Flags: []string{"--objects", "--stdin", "--quiet"}},
		Dir:     q.repository.dir, Env: q.env(),
		Limit: g.options.TransferTimeout, Stdin: in})
	if process.IsExit(err) && !errs.Is(err, errs.Invalid) {
		return errDisconnected(err)
	}
	return err
}

// errDisconnected is the refusal of a push that lacks objects, in git's words.
func errDisconnected(cause error) error {
	return errs.Wrap(errs.Invalid, "missing necessary objects", cause)
}
