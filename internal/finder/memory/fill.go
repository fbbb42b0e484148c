package memory

import (
	"context"
	"time"

	"arbor/internal/db"
	"arbor/internal/posting"
)

// fillChunk is how many rows a transaction reads that fills an index: an open
// snapshot lets SQLite's log grow.
const fillChunk = 50_000

// filler reads an index, some rows at a time: what changes meanwhile is read again
// by the first query that uses it.
type filler struct {
	ctx        context.Context
	db         *db.DB
	repo       int64
	generation int64
	properties []posting.Property
	sizes      map[posting.Property]int64 // how many issues have each
	b          *builder
}

// Fill reads the index of a repository. Error: 404.
func (n *Indexes) Fill(ctx context.Context, repo int64) error {
	started := time.Now()
	f := &filler{ctx: ctx, db: n.db, repo: repo}
	if err := f.begin(); err != nil {
		return err
	}
	kept := &indexed{repo: repo}
	if f.estimate() > int64(n.limit) {
		n.keep(kept, 0) // nobody asks again
		return nil
	}
	inOrder, err := f.readIssues()
	if err != nil {
		return err
	}
	if !inOrder {
		n.keep(kept, 0)
		return nil
	}
	if err := f.readAllProperties(); err != nil {
		return err
	}
	kept.generation, kept.index = f.generation, f.b.index()
	bytes := kept.index.bytes()
	n.keep(kept, bytes)
	if took := time.Since(started); took > time.Second/4 {
		n.log.Info("the issues of a repository are found in memory", "repo", repo, "issues", len(f.b.x.ids),
			"bytes", bytes, "took", took.Round(time.Millisecond))
	}
	return nil
}

// issueBytes is what an issue takes besides its properties.
const issueBytes = 45

// estimate is about what the index takes: of each property the numbers in its
// issues, and its set, as a list or as bits.
func (f *filler) estimate() int64 {
	all := f.sizes[posting.ByAll.Of(0)]
	n := all * issueBytes
	for _, p := range f.properties {
		n += 4*f.sizes[p] + min(4*f.sizes[p], all/8) + int64(setBytes) + propertyBytes
	}
	return n
}

// begin reads the generation, which properties there are, and how many issues
// have them. Error: 404.
func (f *filler) begin() error {
	return f.db.ReadLong(f.ctx, func(tx *db.Tx) (err error) {
		if f.generation, err = generationOf(tx, f.repo); err != nil {
			return err
		}
		f.properties, f.sizes, err = sizesOf(tx, f.repo)
		return err
	})
}

// readIssues reads all issues, in the order of their numbers. It reports false
// where that is not the order of their ids.
func (f *filler) readIssues() (inOrder bool, err error) {
	f.b = newBuilder(int(f.sizes[posting.ByAll.Of(0)]))
	for last := int64(0); ; {
		var chunk []entry
		after := last
		err := f.db.ReadLong(f.ctx, func(tx *db.Tx) (err error) {
			chunk, last, err = issuesAfter(tx, f.repo, after) // from the beginning, where a connection was lost
			return err
		})
		if err != nil {
			return false, err
		}
		for _, e := range chunk {
			if !f.b.issue(e) {
				return false, nil
			}
		}
		if len(chunk) < fillChunk {
			return true, nil
		}
	}
}

// readAllProperties reads which issues have which, as many properties of a kind at
// a time as are about a chunk of rows.
func (f *filler) readAllProperties() error {
	for left := f.properties; len(left) > 0; {
		n, rows := 1, f.sizes[left[0]]
		for n < min(len(left), db.MaxValues) && left[n].Kind == left[0].Kind && rows+f.sizes[left[n]] <= fillChunk {
			rows += f.sizes[left[n]]
			n++
		}
		var found map[int64][]int64
		err := f.db.ReadLong(f.ctx, func(tx *db.Tx) (err error) {
			found, err = issuesWith(tx, f.repo, left[:n])
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range left[:n] {
			f.b.property(p, found[p.Value])
		}
		left = left[n:]
	}
	return nil
}
