package migration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/maphash"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issuekit"
)

// row is a record on its way into the database.
type row struct {
	Record
	key, digest string
	size        int64 // of the record as JSON in bytes: about that of its texts
	id          int64 // of the row that was made of it; 0: there is none
	refusal     error // it cannot be brought
	isUnchanged bool  // it is here as it is
	earlierID   int64 // id in an earlier import; 0: it is new
	earlierSize int64 // its size then; 0: unknown, or it is new
}

// records brings the records of a kind, in batches.
func (im *importer) records(ctx context.Context, k Kind) error {
	seen, seed := map[uint64]bool{}, maphash.MakeSeed()
	var batch []*row
	var bytes int64
	count := im.report.of(k)
	var read int64
	flush := func() error {
		list := batch
		batch, bytes = nil, 0
		if len(list) == 0 {
			return nil
		}
		err := im.bring(ctx, k, list)
		for _, r := range list {
			switch {
			case err != nil:
			case r.refusal != nil:
				count.Failed++
				im.report.problem("%s: %v", describe(r.Record), r.refusal)
			case r.isUnchanged:
				count.Same++
			case r.earlierID != 0:
				count.Changed++
			default:
				count.New++
			}
		}
		im.done += int64(len(list))
		im.o.Progress(string(k), im.done, im.all)
		return err
	}
	err := im.src.Records(ctx, k, func(r Record, err error) error {
		read++
		if err != nil {
			count.Failed++
			im.report.problem("%v", err)
			return nil
		}
		made, err := im.newRow(r)
		if err != nil {
			return err
		}
		if hash := maphash.String(seed, made.key); made.refusal == nil && seen[hash] {
			made.refusal = errors.New("it comes twice")
		} else {
			seen[hash] = true
		}
		if made.refusal != nil {
			count.Failed++
			im.report.problem("%s: %v", describe(r), made.refusal)
			return nil
		}
		batch, bytes = append(batch, made), bytes+made.size
		if len(batch) == batchSize || bytes > batchBytes {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if want, known := im.about.Records[k]; err == nil && known && read != want {
		im.report.problem("%s: the source announced %d records and gave %d", k, want, read)
	}
	return err
}

// newRow checks a record. Its digest is that of what the source said.
func (im *importer) newRow(r Record) (*row, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	made := &row{Record: r, key: r.Key(), digest: hex.EncodeToString(sum[:10]),
		size: int64(len(text))}
	if k, ok := r.(*Label); ok {
		made.key = account.Fold(k.Name)
	}
	made.refusal = im.check.check(r)
	return made, nil
}

// growth returns how many bytes a record adds to the owner's text quota. A record that has become smaller frees
// nothing; it may later grow to its former size without being counted again.
func (r *row) growth() int64 {
	if r.earlierID == 0 {
		return rowBytes + r.size
	}
	return max(0, r.size-r.earlierSize)
}

// bring writes a batch in one transaction, with the notes of what it brought.
func (im *importer) bring(ctx context.Context, k Kind, list []*row) error {
	if err := im.people.ensureAccounts(ctx, loginsIn(list)); err != nil || im.o.DryRun {
		return err
	}
	if err := im.mark(ctx, k, list); err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(r *row) bool { return r.isUnchanged })
	if len(fresh) == 0 {
		return nil
	}
	var bytes int64
	for _, r := range fresh {
		bytes += r.growth()
	}
	if err := im.s.DB.Read(ctx, func(tx *db.Tx) error { return im.allowed(tx, 0) }); err != nil {
		return err
	}
	b := &batch{im: im, kind: k}
	defer b.discard(ctx)
	if err := b.prepare(ctx, fresh); err != nil {
		return err
	}
	err := im.s.DB.Write(ctx, func(tx *db.Tx) error {
		b.tx, b.notes = tx, nil
		if err := issuekit.Lock(tx, im.a.ID); err != nil {
			return err
		}
		if err := im.allowed(tx, bytes); err != nil {
			return err
		}
		for _, r := range fresh {
			r.id, r.refusal = r.earlierID, b.refused[r]
		}
		if err := b.write(slices.DeleteFunc(slices.Clone(fresh), func(r *row) bool { return r.refusal != nil })); err != nil {
			return err
		}
		return noteImported(tx, im.a.ID, k, fresh)
	})
	if err != nil {
		return err
	}
	b.files = nil // they have rows
	for _, note := range b.notes {
		im.report.problem("%s", note)
	}
	return nil
}

// mark finds out which records an earlier import brought, and which of them have not changed.
func (im *importer) mark(ctx context.Context, k Kind, list []*row) error {
	return im.s.DB.Read(ctx, func(tx *db.Tx) error {
		was, err := importedOf(tx, im.a.ID, k, keysOf(list))
		for _, r := range list {
			if before, ok := was[r.key]; ok {
				r.earlierID, r.id, r.earlierSize, r.isUnchanged = before.id, before.id, before.size, before.digest == r.digest
			}
		}
		return err
	})
}

func keysOf(list []*row) []string {
	keys := make([]string, len(list))
	for n, r := range list {
		keys[n] = r.key
	}
	return keys
}
