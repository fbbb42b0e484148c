package migration

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// codes are the kinds as they are stored in imported.
var codes = map[Kind]int64{Labels: 1, Milestones: 2, Issues: 3, Comments: 4, Reviews: 5, ReviewComments: 6,
	CommitComments: 7, Threads: 8, Reactions: 9, Events: 10, Releases: 11, Assets: 12, LFSObjects: 13, Attachments: 14,
	Rulesets: 15, Hooks: 16}

// insertImport begins the import into an empty repository, and deletes its default labels.
func insertImport(tx *db.Tx, id repo.ID, source string) error {
	if err := repo.Lock(tx, id); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM labels WHERE repo_id = $1`, id); err != nil {
		return err
	}
	return tx.Run(`INSERT INTO imports (repo_id, source, began_at) VALUES ($1, $2, $3)`, id, source, tx.Now)
}

// earlier is what is known of an earlier import into a repository.
type earlier struct {
	source string // empty: there was none
	ended  bool
	empty  bool // nothing is in the repository
	others bool // issues, comments or releases are, which no import brought
}

// brought selects the ids of what imports brought of the kind that follows.
const brought = `(SELECT local_id FROM imported WHERE repo_id = $1 AND kind = `

func earlierImport(tx *db.Tx, id repo.ID) (*earlier, error) {
	var e earlier
	err := tx.QueryRow(`SELECT source, ended_at IS NOT NULL FROM imports WHERE repo_id = $1`, id).Scan(&e.source, &e.ended)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return nil, err
	}
	err = tx.QueryRow(`SELECT next_number = 1 AND next_milestone = 1
			AND NOT EXISTS (SELECT 1 FROM refs WHERE repo_id = $1) AND NOT EXISTS (SELECT 1 FROM releases WHERE repo_id = $1),
		EXISTS (SELECT 1 FROM issues WHERE repo_id = $1 AND id NOT IN `+brought+`$2))
		OR EXISTS (SELECT 1 FROM issue_comments WHERE repo_id = $1 AND id NOT IN `+brought+`$3))
		OR EXISTS (SELECT 1 FROM releases WHERE repo_id = $1 AND id NOT IN `+brought+`$4))
		FROM repos WHERE id = $1`, id, codes[Issues], codes[Comments], codes[Releases]).Scan(&e.empty, &e.others)
	return &e, err
}

// before is a record that was brought.
type before struct {
	id     int64
	digest string
	size   int64 // in bytes, for which the owner was charged; 0: unknown
}

// importedOf returns which of the records were brought, by key.
func importedOf(tx *db.Tx, id repo.ID, k Kind, keys []string) (map[string]before, error) {
	found := make(map[string]before, len(keys))
	err := db.InParts(keys, func(part []string) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var key string
			var b before
			err := row.Scan(&key, &b.id, &b.digest)
			b.digest, b.size = splitDigest(b.digest)
			found[key] = b
			return err
		}, `SELECT source_id, local_id, digest FROM imported WHERE repo_id = $1 AND kind = $2 AND source_id IN `+
			db.ValuesFrom(3, 1, len(part)), db.Args(part, id, codes[k])...)
	})
	return found, err
}

// joinDigest is a digest as it is stored: with the size of the record.
func joinDigest(digest string, size int64) string { return digest + " " + strconv.FormatInt(size, 10) }

// splitDigest is the inverse of joinDigest. Digests stored by older versions have no size.
func splitDigest(stored string) (digest string, size int64) {
	digest, text, _ := strings.Cut(stored, " ")
	size, _ = strconv.ParseInt(text, 10, 64) // 0: unknown
	return digest, size
}

// idsOf is importedOf without digests.
func idsOf(tx *db.Tx, id repo.ID, k Kind, keys []string) (map[string]int64, error) {
	slices.Sort(keys)
	found, err := importedOf(tx, id, k, slices.Compact(keys))
	ids := make(map[string]int64, len(found))
	for key, b := range found {
		ids[key] = b.id
	}
	return ids, err
}

// noteImported notes the records of a batch that have a row.
func noteImported(tx *db.Tx, id repo.ID, k Kind, list []*row) error {
	var args []any
	for _, r := range list {
		if r.id != 0 && r.refusal == nil {
			args = append(args, id, codes[k], r.key, r.id, joinDigest(r.digest, max(r.size, r.earlierSize)))
		}
	}
	if len(args) == 0 {
		return nil
	}
	return tx.Run(`INSERT INTO imported (repo_id, kind, source_id, local_id, digest) VALUES `+
		db.Values(len(args)/5, 5)+` ON CONFLICT (repo_id, kind, source_id)
		DO UPDATE SET local_id = excluded.local_id, digest = excluded.digest`, args...)
}

// endImport gives the repository the times of the source, and notes that all is here.
func endImport(tx *db.Tx, id repo.ID, r *Repository) error {
	if err := repo.Lock(tx, id); err != nil {
		return err
	}
	pushed := r.PushedAt
	if pushed.IsZero() {
		pushed = r.CreatedAt
	}
	err := tx.Run(`UPDATE repos SET created_at = $2, pushed_at = $3, issues_generation = issues_generation + 1,
		next_number = CASE WHEN next_number < $4 THEN $4 ELSE next_number END WHERE id = $1`,
		id, past(r.CreatedAt, tx.Now), past(pushed, tx.Now), min(r.NextNumber, 1<<40))
	if err != nil {
		return err
	}
	return tx.Run(`UPDATE imports SET ended_at = $2 WHERE repo_id = $1`, id, tx.Now)
}

// past is a time of the source as it is stored: never later than now.
func past(t time.Time, now db.Time) db.Time {
	if t.IsZero() || t.Before(oldest) {
		return db.FromTime(oldest)
	}
	return min(db.FromTime(t), now)
}

// optionalTime is a time that may be missing.
func (b *batch) optionalTime(t time.Time) db.Time {
	if t.IsZero() {
		return 0
	}
	return past(t, b.tx.Now)
}

// MayFill returns why no import may fill a repository. Error: 422 for one in which people have worked.
func MayFill(tx *db.Tx, id repo.ID) error {
	was, err := earlierImport(tx, id)
	switch {
	case err != nil:
		return err
	case was.source == "" && !was.empty:
		return errs.New(errs.Invalid, "The repository is not empty, and was not imported.")
	case was.others:
		return errs.New(errs.Invalid, "People have worked in the repository since it was imported: import into a new "+
			"repository.")
	}
	return nil
}
