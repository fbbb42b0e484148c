package migration

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/release"
)

// fileOf returns the file of a record.
func fileOf(r Record) *File {
	switch r := r.(type) {
	case *Asset:
		return &r.File
	case *LFSObject:
		return &r.File
	case *Attachment:
		return &r.File
	}
	return nil
}

// receive copies the files of new records into the store of files, before the transaction. It refuses a file whose
// size or digest is not that of its record.
func (b *batch) receive(ctx context.Context, list []*row) error {
	b.files = map[*row]*file.File{}
	b.im.countAssets(list)
	for _, r := range newRows(list) {
		f, err := b.receiveOne(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.refused[r] = err
			continue
		}
		b.files[r] = f
	}
	return nil
}

// countAssets refuses assets beyond the first release.MaxAssets of a release, in imports that users ask for.
func (im *importer) countAssets(list []*row) {
	for _, r := range list {
		a, ok := r.Record.(*Asset)
		if !ok || im.o.Into == nil {
			continue
		}
		if im.assets[a.Release]++; im.assets[a.Release] > release.MaxAssets && r.refusal == nil {
			r.refusal = fmt.Errorf("the release has more than %d files", release.MaxAssets)
		}
	}
}

// mayHave returns an error for a file that is too large, in imports that users ask for. Imports by the
// command have no such limits.
func (im *importer) mayHave(r Record) error {
	if im.o.Into == nil {
		return nil
	}
	most, size := int64(-1), fileOf(r).Size
	switch r.(type) {
	case *LFSObject:
		if most = im.s.LFS.MaxObject; im.s.LFS.Off() {
			return errors.New("this server has no Git LFS")
		}
	case *Asset:
		most = im.s.Releases.MaxAsset
	}
	if most >= 0 && size > most {
		return fmt.Errorf("it has %d bytes, and this server takes at most %d", size, most)
	}
	return nil
}

func (b *batch) receiveOne(ctx context.Context, r *row) (*file.File, error) {
	of := fileOf(r.Record)
	if err := b.im.mayHave(r.Record); err != nil {
		return nil, err
	}
	if err := b.im.s.Repos.MayGrowBy(ctx, b.im.a.ID, file.KB(of.Size)); err != nil {
		return nil, err
	}
	in, err := b.im.src.Open(ctx, of.Path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := b.im.s.Files.Receive(ctx, in, of.Size, b.im.s.Repos.Room.Check)
	switch {
	case errors.Is(err, file.ErrSize):
		return nil, fmt.Errorf("its file is larger than %d bytes", of.Size)
	case err != nil:
		return nil, err
	}
	want := of.SHA256
	if o, ok := r.Record.(*LFSObject); ok {
		want = o.OID
	}
	if f.Size != of.Size || want != "" && want != f.SHA256 {
		b.im.s.Files.Discard(ctx, f)
		return nil, fmt.Errorf("its file has %d bytes with the SHA-256 %s, not %d with %s", f.Size, f.SHA256, of.Size, want)
	}
	return f, nil
}

// discard removes files that were received and have no row.
func (b *batch) discard(ctx context.Context) {
	for _, f := range b.files {
		b.im.s.Files.Discard(ctx, f)
	}
}

// addFiles writes the rows of files.
func (b *batch) addFiles(list []*row) error {
	var releases []string
	for _, r := range list {
		if a, ok := r.Record.(*Asset); ok {
			releases = append(releases, a.Release)
		}
	}
	of, err := idsOf(b.tx, b.im.a.ID, Releases, releases)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.earlierID != 0 {
			continue // a file does not change
		}
		if a, ok := r.Record.(*Asset); ok && of[a.Release] == 0 {
			r.refusal = fmt.Errorf("its release %q is not there", a.Release)
			continue
		}
		f := *b.files[r]
		err := b.im.s.Files.Add(b.tx, b.im.a.ID, &f)
		if errs.Is(err, errs.Forbidden) {
			r.refusal = err
			continue
		}
		if err == nil {
			r.id, err = b.insertFile(r, &f, of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var attachmentKey = regexp.MustCompile(`^[0-9a-z]{26}$`)

// newAttachment returns the key of an attachment here: that of the source, unless another one has it.
func (b *batch) newAttachment(x *Attachment) (string, error) {
	taken, err := keyTaken(b.tx, x.ID)
	if err != nil {
		return "", err
	}
	if taken || !attachmentKey.MatchString(x.ID) {
		return strings.ToLower(rand.Text()), nil
	}
	return x.ID, nil
}

// releases writes releases. One whose tag is not there becomes a draft, since a published release has a tag.
func (b *batch) releases(list []*row) error {
	tags := map[string]bool{}
	var names []string
	for _, r := range list {
		names = append(names, git.Tags+r.Record.(*Release).Tag)
	}
	there, err := refsNamed(b.tx, b.im.a.ID, names)
	if err != nil {
		return err
	}
	for name := range there {
		tags[strings.TrimPrefix(name, git.Tags)] = true
	}
	published, err := publishedTags(b.tx, b.im.a.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		rec := r.Record.(*Release)
		if !rec.Draft && published[rec.Tag] != 0 && published[rec.Tag] != r.earlierID {
			r.refusal = errors.New("another release has its tag")
		} else if !rec.Draft {
			published[rec.Tag] = -1
		}
	}
	if err := b.assignIDs("releases", newRows(list)); err != nil {
		return err
	}
	if err := b.writeReleases(append(newRows(list), changedRows(list)...), tags); err != nil {
		return err
	}
	return b.resetTextCounts(list)
}

// uploader is who uploaded a file.
func (b *batch) uploader(login string) account.ID { return b.im.people.id(login) }
