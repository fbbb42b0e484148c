package maintenance

import (
	"errors"
	"time"

	"arbor/internal/db"
	"arbor/internal/packs"
	"arbor/internal/repo"
)

// sweepBegun reports whether the sweep has its row.
func sweepBegun(tx *db.Tx) (begun bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM folder_sweep)`).Scan(&begun)
	return begun, err
}

// beginSweep adds the row: the first turn is due after some time.
func beginSweep(tx *db.Tx, after time.Duration) error {
	err := tx.Run(`INSERT INTO folder_sweep (id, shard, due_at)
		VALUES (1, 0, `+tx.Engine().Clock()+` + $1)
		ON CONFLICT (id) DO NOTHING`, after.Microseconds())
	return err
}

// sweptNext reads which shard's turn it is, and ends reservations that are too old.
func sweptNext(tx *db.Tx) (shard int64, err error) {
	if err := expireReservations(tx, reservedFor); err != nil {
		return 0, err
	}
	err = tx.QueryRow(`SELECT shard FROM folder_sweep`).Scan(&shard)
	return shard, err
}

// sweepNext says which shard comes next.
func sweepNext(tx *db.Tx, shard int64) error {
	err := tx.Run(`UPDATE folder_sweep SET shard = $1`, shard)
	return err
}

// endDiscard ends the discard of a repository's folder, which is removed, and reports whether none of its packs is left in
// a depot. Until then it counts as much as they take.
func endDiscard(tx *db.Tx, l *db.Lease, id repo.ID) (bool, error) {
	n, kb, err := packs.Waiting(tx, id)
	if err != nil {
		return false, err
	}
	if n == 0 {
		return true, discards.Remove(tx, l)
	}
	if err := tx.Run(`UPDATE discarded SET size_kb = $2 WHERE repo_id = $1 AND size_kb > $2`, id, kb); err != nil {
		return false, err
	}
	return false, discards.PutOff(tx, l, depotLook)
}

// packings are the repositories whose packs are being consolidated, or where that failed.
var packings = db.Jobs{Table: "packings", Key: "repo_id"}

// takePacking leases a repository's packing. Without a lease, wait is how long another
// node still has it, or how long it is put off; 0 if the repository is gone.
func takePacking(
	tx *db.Tx, repoID repo.ID, length time.Duration,
) (p packingLease, wait time.Duration, err error) {
	err = tx.Run(`INSERT INTO packings (repo_id, due_at) SELECT id, 0 FROM repos WHERE id = $1
		ON CONFLICT (repo_id) DO NOTHING`, repoID)
	if err != nil {
		return p, 0, err
	}
	p.lease, err = packings.Take(tx, length, 1, `repo_id = $3`, repoID)
	if err == nil && p.lease != nil {
		err = packs.EndUpload(tx, repoID)
	}
	if err != nil {
		return p, 0, err
	}
	var due db.Time
	err = tx.QueryRow(`SELECT due_at, tries, `+tx.Engine().Clock()+` FROM packings WHERE repo_id = $1`,
		repoID).Scan(&due, &p.tries, &p.now)
	if errors.Is(err, db.ErrNoRows) {
		return p, 0, nil
	}
	return p, max(time.Millisecond, due.Time().Sub(p.now.Time())), err
}

// duePackings are packings whose holders died, or that failed some time ago.
func duePackings(tx *db.Tx, most int) ([]repo.ID, error) {
	return db.QueryIDs[repo.ID](tx, `SELECT repo_id FROM packings WHERE due_at <= `+tx.Engine().Clock()+`
		ORDER BY due_at, repo_id LIMIT $1`, most)
}

// succeeded forgets the tries of a packing that is to go on later.
func succeeded(tx *db.Tx, repoID repo.ID) error {
	err := tx.Run(`UPDATE packings SET tries = 0 WHERE repo_id = $1`, repoID)
	return err
}

// forgetPacking removes a packing that nobody has.
func forgetPacking(tx *db.Tx, repoID repo.ID) error {
	err := tx.Run(`DELETE FROM packings WHERE repo_id = $1 AND due_at <= `+tx.Engine().Clock(), repoID)
	return err
}

// Backlog is what is left of repositories whose packs are to be consolidated.
func (s *Service) Backlog(tx *db.Tx) (db.Backlog, error) { return packings.Backlog(tx, `TRUE`) }

// expireReservations ends reservations that are so old that their holders must be dead.
func expireReservations(tx *db.Tx, age time.Duration) error {
	_, err := tx.Exec(`DELETE FROM reserved_repos WHERE at < `+tx.Engine().Clock()+` - $1`,
		age.Microseconds())
	return err
}

// reservedOf reads which of the ids are reserved.
func reservedOf(tx *db.Tx, ids []repo.ID) (map[repo.ID]bool, error) {
	found := map[repo.ID]bool{}
	if len(ids) == 0 {
		return found, nil
	}
	there, err := db.QueryIDs[repo.ID](tx,
		`SELECT id FROM reserved_repos WHERE id IN `+db.ValuesFrom(1, 1, len(ids)), db.Args(ids)...)
	for _, id := range there {
		found[id] = true
	}
	return found, err
}

// purgesIn reads Repo.Purges of those of the repositories that exist.
func purgesIn(tx *db.Tx, ids []repo.ID) (map[repo.ID]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryMap[repo.ID, int64](tx,
		`SELECT id, purges FROM repos WHERE id IN `+db.ValuesFrom(1, 1, len(ids)), db.Args(ids)...)
}
