package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/durable"
)

// A file of a backup is written once, so without this only a restore would notice that a disk loses bits. Each
// backup into a folder first looks at the backup that is there: at the sizes of all files, and at the content
// of a part, so that everything is read once in lap. A bad file moves to rottenDir, where people can look at
// it. The new backup then copies it from the store again.

const (
	verifiedFile = "verified.json" // in the backup's folder: how far the reading has come
	rottenDir    = "rotten"        // in the backup's folder: files that were bad
	lap          = 30 * 24 * time.Hour
	usualPause   = 24 * time.Hour // between two backups, as long as none is known
)

// progress is how far the reading of a backup has come.
type progress struct {
	Next string    `json:"next"` // the digest from which the next backup reads on
	At   time.Time `json:"at"`   // when that was
}

// verifyPart looks at the backup that is there, and sets aside what is bad. problem is called for each such
// file.
func (t *folder) verifyPart(ctx context.Context, v Verification, now time.Time) error {
	if t.manifest == nil {
		return nil
	}
	o := &opened{t.dir, t.manifest}
	groups := t.manifest.groups()
	bad, whole := t.sizes(groups, v)
	list, next := due(whole, t.lastRead(), now)
	rotten, err := o.check(ctx, list, v)
	if err != nil {
		return err
	}
	for _, g := range append(bad, rotten...) {
		if err := t.setAside(g.SHA256, now); err != nil {
			return err
		}
	}
	text, err := json.Marshal(progress{next, now})
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(t.dir, verifiedFile), func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// sizes looks whether all files are there and as long as they were.
func (t *folder) sizes(groups []*group, v Verification) (bad, whole []*group) {
	for _, g := range groups {
		info, err := os.Lstat(filePath(t.dir, g.SHA256))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = isMissing
		case err == nil && (!info.Mode().IsRegular() || info.Size() != g.Size):
			err = isAltered
		}
		if err != nil {
			v.Problem(g.name() + ": " + problemOf(err))
			bad = append(bad, g)
			continue
		}
		t.held[g.SHA256] = true
		whole = append(whole, g)
	}
	return bad, whole
}

// lastRead is how far the reading has come. Where that is not known, it begins.
func (t *folder) lastRead() (last progress) {
	text, err := os.ReadFile(filepath.Join(t.dir, verifiedFile))
	if err != nil || json.Unmarshal(text, &last) != nil {
		return progress{}
	}
	return last
}

// due chooses what is read now, and where the next backup reads on.
func due(groups []*group, last progress, now time.Time) (list []*group, next string) {
	pause := usualPause
	if !last.At.IsZero() && !last.At.After(now) {
		pause = min(now.Sub(last.At), lap)
	}
	var all int64
	first := 0
	for n, g := range groups {
		if all += g.Size; g.SHA256 < last.Next {
			first = n + 1
		}
	}
	left := int64(float64(all) * (float64(pause) / float64(lap)))
	for n := range groups {
		g := groups[(first+n)%len(groups)]
		if next = g.SHA256; left <= 0 && pause < lap {
			return list, next
		}
		list = append(list, g)
		left -= g.Size
	}
	return list, "" // all of it
}

// setAside moves a bad file out of the backup. It may be missing.
func (t *folder) setAside(sum string, now time.Time) error {
	delete(t.held, sum)
	to := filepath.Join(t.dir, rottenDir)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err := os.Rename(filePath(t.dir, sum), filepath.Join(to, sum+"-"+now.UTC().Format("20060102T150405Z")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
