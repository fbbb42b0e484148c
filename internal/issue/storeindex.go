package issue

import (
	"context"
	"errors"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/index"
	"arbor/internal/posting"
)

// maxNames is how many values stand in one statement.
const maxNames = 400

// changedSince reads the issues of a repository that changed after a generation,
// maxCatchUp and one at most.
func changedSince(tx *db.Tx, repo, generation int64) ([]index.Entry, error) {
	rows, err := tx.Query(`SELECT id, updated_at, comments, state FROM issues WHERE repo_id = $1 AND changed > $2 LIMIT $3`,
		repo, generation, maxCatchUp+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []index.Entry
	at := map[int64]int{}
	for rows.Next() {
		var e index.Entry
		var state int64
		if err := rows.Scan(&e.ID, &e.Updated, &e.Comments, &state); err != nil {
			return nil, err
		}
		e.Closed = State(state) == Closed
		at[e.ID] = len(list)
		list = append(list, e)
	}
	if err := rows.Err(); err != nil || len(list) > maxCatchUp {
		return list, err
	}
	for chunk := range slices.Chunk(list, maxNames) {
		if err := readProperties(tx, chunk, func(id int64, p index.Property) {
			e := &list[at[id]]
			e.Has = append(e.Has, p)
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readProperties reads the postings of some issues.
func readProperties(tx *db.Tx, list []index.Entry, each func(id int64, p index.Property)) error {
	args := make([]any, len(list))
	for n, e := range list {
		args[n] = e.ID
	}
	rows, err := tx.Query(`SELECT issue_id, kind, value FROM postings WHERE issue_id IN `+db.Values(1, len(list)), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, kind, value int64
		if err := rows.Scan(&id, &kind, &value); err != nil {
			return err
		}
		each(id, index.Property{Kind: index.Kind(kind), Value: value})
	}
	return rows.Err()
}

// fillChunk is how many rows a transaction reads that fills an index: an open
// snapshot lets SQLite's log grow.
const fillChunk = 50_000

// indexFiller reads an index.
type indexFiller struct {
	ctx        context.Context
	db         *db.DB
	repo       int64
	generation generation
	issues     []index.Entry
	properties []posting.Property
	sizes      map[posting.Property]int64
}

// begin reads the generation, which properties there are, and how many issues
// have them. Error: 404.
func (f *indexFiller) begin() error {
	return f.db.ReadLong(f.ctx, func(tx *db.Tx) (err error) {
		if f.generation, err = generationOf(tx, f.repo); err != nil {
			return err
		}
		return f.readSizes(tx)
	})
}

func (f *indexFiller) readSizes(tx *db.Tx) error {
	rows, err := tx.Query(`SELECT kind, value, n FROM posting_counts WHERE repo_id = $1 AND kind <> $2 AND n > 0 ORDER BY 1, 2`,
		f.repo, int64(posting.OfComments))
	if err != nil {
		return err
	}
	defer rows.Close()
	f.properties, f.sizes = nil, map[posting.Property]int64{}
	for rows.Next() {
		var p posting.Property
		var kind, n int64
		if err := rows.Scan(&kind, &p.Value, &n); err != nil {
			return err
		}
		p.Kind = posting.Kind(kind)
		if f.sizes[p] == 0 && p.Kind != posting.ByAll {
			f.properties = append(f.properties, p)
		}
		f.sizes[p] += n
	}
	return rows.Err()
}

// readIssues reads all issues, in the order of their numbers.
func (f *indexFiller) readIssues() error {
	for last := int64(0); ; {
		done, after := len(f.issues), last
		err := f.db.ReadLong(f.ctx, func(tx *db.Tx) (err error) {
			f.issues = f.issues[:done] // a read that lost its connection begins again
			last, err = f.readChunk(tx, after)
			return err
		})
		if err != nil || len(f.issues)-done < fillChunk {
			return err
		}
	}
}

// readChunk reads the next issues after a number, and returns the number of the last one.
func (f *indexFiller) readChunk(tx *db.Tx, after int64) (last int64, err error) {
	rows, err := tx.Query(`SELECT id, number, updated_at, comments, state FROM issues
		WHERE repo_id = $1 AND number > $2 ORDER BY number LIMIT $3`, f.repo, after, fillChunk)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var e index.Entry
		var state int64
		if err := rows.Scan(&e.ID, &last, &e.Updated, &e.Comments, &state); err != nil {
			return 0, err
		}
		e.Closed = State(state) == Closed
		f.issues = append(f.issues, e)
	}
	return last, rows.Err()
}

// fill makes the index of what begin found.
func (f *indexFiller) fill() (*index.Index, error) {
	b := index.Build(len(f.issues))
	for _, e := range f.issues {
		b.Issue(e.ID, e.Updated, e.Comments, e.Closed)
	}
	b.Property(inIndex(posting.ByAll.Of(0)), f.ids())
	for len(f.properties) > 0 {
		n, rows := 1, f.sizes[f.properties[0]]
		for n < min(len(f.properties), maxNames) && f.properties[n].Kind == f.properties[0].Kind && rows+f.sizes[f.properties[n]] <= fillChunk {
			rows += f.sizes[f.properties[n]]
			n++
		}
		if err := f.readProperties(b, f.properties[:n]); err != nil {
			return nil, err
		}
		f.properties = f.properties[n:]
	}
	return b.Index(), nil
}

func (f *indexFiller) ids() []int64 {
	ids := make([]int64, len(f.issues))
	for n, e := range f.issues {
		ids[n] = e.ID
	}
	return ids
}

// readProperties reads which issues have some properties of one kind.
func (f *indexFiller) readProperties(b *index.Builder, list []posting.Property) error {
	args := []any{int64(list[0].Kind), f.repo}
	for _, p := range list {
		args = append(args, p.Value)
	}
	found := make(map[int64][]int64, len(list))
	err := f.db.ReadLong(f.ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(`SELECT value, issue_id FROM postings WHERE kind = $1 AND repo_id = $2 AND value IN `+
			db.ValuesFrom(3, 1, len(list)), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		clear(found) // the read may run again
		for rows.Next() {
			var value, id int64
			if err := rows.Scan(&value, &id); err != nil {
				return err
			}
			found[value] = append(found[value], id)
		}
		return rows.Err()
	})
	for _, p := range list {
		b.Property(inIndex(p), found[p.Value])
	}
	return err
}

// generationOf reads the generation of a repository's issues. Error: 404.
func generationOf(tx *db.Tx, repo int64) (g generation, err error) {
	err = tx.QueryRow(`SELECT issues_generation, legend_generation FROM repos WHERE id = $1`, repo).Scan(&g.issues, &g.legend)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return g, err
}
