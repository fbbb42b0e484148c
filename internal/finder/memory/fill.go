package memory

import (
	"context"
	"time"

	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// fillChunk is how many issues a transaction reads that fills an index: an open
// snapshot lets SQLite's log grow.
const fillChunk = 10_000

// Fill reads the index of a repository, some issues at a time: what changes
// meanwhile is read again by the first query that uses it. Error: 404.
func (n *Indexes) Fill(ctx context.Context, repoID repo.ID) error {
	started := time.Now()
	kept := &indexed{repo: repoID}
	var sizes map[posting.Property]int64
	err := n.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		if kept.generation, err = generationOf(tx, repoID); err == nil {
			sizes, err = sizesOf(tx, repoID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if estimate(sizes) > int64(n.limit) {
		n.keep(kept, 0) // nobody asks again
		return nil
	}
	x := newIndex(int(sizes[posting.ByAll.Of(0)]))
	for last := int64(0); ; {
		var chunk []entry
		after := last
		err := n.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
			// from the beginning, where a connection was lost
			chunk, last, err = issuesAfter(tx, repoID, after)
			return err
		})
		if err != nil {
			return err
		}
		if !x.put(chunk) {
			n.keep(kept, 0) // its issues are not in the order of their ids
			return nil
		}
		if len(chunk) < fillChunk {
			break
		}
	}
	kept.index = x
	bytes := x.bytes()
	n.keep(kept, bytes)
	if took := time.Since(started); took > time.Second/4 {
		n.log.InfoContext(ctx, "the issues of a repository are found in memory", "repo", repoID,
			"issues", len(x.ids), "bytes", bytes, "took", took.Round(time.Millisecond))
	}
	return nil
}

// issueBytes is what an issue takes besides its properties.
const issueBytes = 45

// estimate is about what an index takes, by how many issues have each property: the
// numbers in these issues, and the set, as a list or as bits.
func estimate(sizes map[posting.Property]int64) int64 {
	all := sizes[posting.ByAll.Of(0)]
	n := all * issueBytes
	for p, size := range sizes {
		if p.Kind != posting.ByAll {
			n += 4*size + min(4*size, all/8) + int64(setBytes) + propertyBytes
		}
	}
	return n
}
