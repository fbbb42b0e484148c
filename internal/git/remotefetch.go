package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
	"arbor/internal/git/wire"
)

// FetchOptions say what FetchRemote fetches.
type FetchOptions struct {
	Dir    string         // parent of a temporary directory
	Want   []wire.Command // refs and their new values
	Have   []Ref          // those of the repository
	Absent Absent         // the objects that are hidden, as of ReceiveOptions; nil: none
}

// FetchRemote fetches what the repository lacks from a remote into a quarantine, with all checks of a push.
// size is that of the pack, in bytes. Errors: *RemoteError; those of Receive.
//
// git looks for what it has among all objects of the repository, also hidden ones. It could add one of these to what
// the remote sent, as the base of a delta. So if any of what came is hidden here, or something is missing without it,
// all is fetched again into a directory that knows of no other objects.
func (r *Repository) FetchRemote(ctx context.Context, m Remote, o FetchOptions) (q *Quarantine, size int64, err error) {
	if r.Exists() && len(o.Have) > 0 {
		var again bool
		q, size, again, err = r.fetchRemote(ctx, m, o, true)
		if !again {
			return q, size, err
		}
	}
	q, size, _, err = r.fetchRemote(ctx, m, o, false)
	return q, size, err
}

// fetchRemote is FetchRemote, with or without the repository's own objects. again reports that it needs to be done
// without them.
func (r *Repository) fetchRemote(
	ctx context.Context, m Remote, o FetchOptions, own bool,
) (q *Quarantine, size int64, again bool, err error) {
	dir, err := os.MkdirTemp(o.Dir, mirrorPrefix)
	if err != nil {
		return nil, 0, false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	in := r.git.Repository(dir)
	if err := in.prepareFetch(r, o.Have, own); err != nil {
		return nil, 0, false, err
	}
	wanted := newTips(o.Want)
	if err := in.download(ctx, m, wanted); err != nil {
		return nil, 0, false, err
	}
	if own && o.Absent != nil {
		if again, err = in.holdsAbsent(ctx, r, o.Absent); again || err != nil {
			return nil, 0, again, err
		}
	}
	tips := make([]SHA, len(o.Have))
	for n, ref := range o.Have {
		tips[n] = ref.SHA
	}
	var not []SHA
	if own {
		not = tips
	}
	pack, err := in.packLocal(ctx, wanted, not)
	if err != nil {
		return nil, 0, false, err
	}
	defer pack.Close()
	counted := &sizedReader{r: pack}
	q, err = r.Receive(ctx, ReceiveOptions{Pack: counted, Commands: o.Want, Tips: tips, Absent: o.Absent})
	return q, counted.n, own && errs.Is(err, errs.Invalid), err
}

// sizedReader counts what is read.
type sizedReader struct {
	r io.Reader
	n int64
}

func (s *sizedReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	return n, err
}

// prepareFetch makes a bare repository whose refs are those of another one, and with own its objects. Nothing is
// synced: it lasts for one fetch.
func (r *Repository) prepareFetch(of *Repository, refs []Ref, own bool) error {
	for _, dir := range folders() {
		if err := os.MkdirAll(r.path(dir), 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{"config": Config, "HEAD": "ref: refs/heads/main\n"}
	if own {
		var packed strings.Builder
		for _, ref := range refs {
			packed.WriteString(string(ref.SHA) + " " + ref.Name + "\n")
		}
		files["packed-refs"], files["objects/info/alternates"] = packed.String(), alternate(of)+"\n"
	}
	for name, text := range files {
		if err := os.WriteFile(r.path(filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// download fetches objects of a remote into the repository, within the bounds of a push.
func (r *Repository) download(ctx context.Context, m Remote, wanted []SHA) error {
	var in bytes.Buffer
	for _, sha := range wanted {
		in.WriteString(string(sha) + "\n")
	}
	said := &clipped{}
	t, end, err := m.task(ctx, process.Command{Sub: "fetch", Flags: []string{"--quiet", "--no-tags",
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--stdin"}}, r.dir, said)
	if err != nil {
		return err
	}
	defer end()
	t.Limit, t.Stdin = r.git.options.TransferTimeout, &in
	t.Config = append(t.Config, process.Unsynced()...)
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go r.watchSize(bounded, m.Room, cancel)
	err = r.git.run(bounded, process.Cage{Memory: r.git.part(fetchPart, 0)}, t)
	if cause := context.Cause(bounded); cause != nil && ctx.Err() == nil {
		return cause
	}
	if err == nil {
		return r.checkDownload()
	}
	return m.failed(ctx, err, said)
}

// How often watchSize looks.
const (
	sizeEvery = 200 * time.Millisecond
	sizeShare = 4 // a look takes one part in so many of the time: a folder may have very many files
)

// watchSize ends a download that is larger than a push may be, or for which room says that there is none.
func (r *Repository) watchSize(ctx context.Context, room func() error, end context.CancelCauseFunc) {
	wait := sizeEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		err := r.checkDownload()
		if err == nil && room != nil {
			err = room()
		}
		if err != nil {
			end(err)
			return
		}
		wait = max(sizeEvery, sizeShare*time.Since(began))
	}
}

// fileUnit is how much of a disk a file takes at least.
const fileUnit = 4 << 10

// checkDownload adds up what a download brought. By HTTP without a service of git that is a file for each object.
// Error: TooLarge.
func (r *Repository) checkDownload() error {
	left := r.git.options.MaxPackBytes
	return filepath.WalkDir(r.path("objects"), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, ".idx") {
			return nil // what is gone takes no room
		}
		if info, err := e.Info(); err == nil {
			left -= max(info.Size(), fileUnit)
		}
		if left < 0 {
			return r.git.errTooLarge()
		}
		return nil
	})
}

// maxAsked is how many objects Absent is asked for together.
const maxAsked = 10_000

// holdsAbsent reports whether a pack of the repository holds an object that another repository has, but hides.
func (r *Repository) holdsAbsent(ctx context.Context, of *Repository, absent Absent) (found bool, err error) {
	var ask []SHA
	look := func() error {
		known, err := of.Known(ctx, ask)
		if err != nil {
			return err
		}
		var there []SHA
		for n, o := range known {
			if o.Type != "" {
				there = append(there, ask[n])
			}
		}
		gone, err := absent(ctx, there)
		found, ask = found || len(gone) > 0, ask[:0]
		return err
	}
	files, err := filepath.Glob(r.path("objects", "pack", "*.idx"))
	for _, name := range files {
		x, openErr := packfile.OpenIndex(name)
		if openErr != nil {
			return false, openErr
		}
		err = x.Each(func(id ID) error {
			ask = append(ask, SHA(hex.EncodeToString(id[:])))
			if len(ask) < maxAsked || found {
				return nil
			}
			return look()
		})
		if err = errors.Join(err, x.Close()); err != nil {
			return false, err
		}
	}
	if err == nil && len(ask) > 0 {
		err = look()
	}
	return found, err
}

// packLocal packs what leads to the tips, without what the others lead to and what is borrowed from another
// repository.
func (r *Repository) packLocal(ctx context.Context, tips, not []SHA) (io.ReadCloser, error) {
	in, err := revisionList(tips, not)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out, to := io.Pipe()
	go func() {
		defer cancel()
		to.CloseWithError(r.git.run(ctx, r.sendCage(1), process.Task{Command: process.Command{Sub: "pack-objects",
			Flags: []string{"-q", "--revs", "--local", "--stdout", "--delta-base-offset"}},
			Dir: r.dir, Limit: r.git.options.TransferTimeout, Stdin: in, Stdout: to, Nice: true}))
	}()
	return out, nil
}
