package purge

import (
	"errors"
	"fmt"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// pauseTime is how long no ref of a repository moves at most, while a purge takes over what
// was written last. It ends when the purge has.
const pauseTime = 30 * time.Second

// pause begins or ends a pause. Transactions that move refs have ended when it has begun.
func pause(tx *db.Tx, repoID repo.ID, length time.Duration) error {
	if err := repo.Lock(tx, repoID); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE purges SET pause = `+tx.Engine().Clock()+` + $2 WHERE repo_id = $1`, repoID,
		length.Microseconds())
	return err
}

// takePurges leases the purges of repositories, all of them or none. again says that one of
// them was begun before and was interrupted. The numbers of the folders to be are
// the lease's time: no two purges of a repository have the same, and later ones are larger.
func takePurges(tx *db.Tx, ids []repo.ID) (l *db.Lease, again bool, err error) {
	err = db.InParts(ids, func(part []repo.ID) error {
		_, err := tx.Exec(`INSERT INTO purges (repo_id, due_at) SELECT id, 0 FROM repos WHERE id IN `+
			db.ValuesFrom(1, 1, len(part))+` ON CONFLICT (repo_id) DO NOTHING`, db.Args(part)...)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	where, args := `repo_id IN `+db.ValuesFrom(3, 1, len(ids)), db.Args(ids)
	if l, err = jobs.Take(tx, leaseTime, len(ids), where, args...); err != nil || l == nil {
		return nil, false, err
	}
	if len(l.IDs) < len(ids) {
		return nil, false, jobs.PutOff(tx, l, 0)
	}
	where = ` WHERE repo_id IN ` + db.ValuesFrom(2, 1, len(ids))
	args = append([]any{l.Until}, args...)
	var tries int64
	if err := tx.QueryRow(`SELECT MAX(tries) FROM purges`+where+` AND due_at = $1`,
		args...).Scan(&tries); err != nil {
		return nil, false, err
	}
	again = tries > 1
	_, err = tx.Exec(`UPDATE purges SET folder = $1`+where, args...)
	return l, again, err
}

// readWorld reads a purgeWorld. Error: 404.
func readWorld(tx *db.Tx, id repo.ID) (*world, error) {
	w := &world{}
	err := tx.QueryRow(`SELECT purges, refs_generation FROM repos WHERE id = $1`,
		id).Scan(&w.purges, &w.generation)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	if w.noted, err = NotesOf(tx, id); err != nil {
		return nil, err
	}
	if w.refs, err = repo.ReadRefs(tx, id, ""); err != nil {
		return nil, err
	}
	w.pulls, err = db.QueryList(tx, func(row db.Scanner) (p pullTips, err error) {
		err = row.Scan(&p.number, &p.head, &p.base, &p.merge, &p.testedBase, &p.testedHead, &p.baseTip)
		return p, err
	}, `SELECT p.number, p.head_sha, p.base_sha, COALESCE(p.merge_sha, ''), COALESCE(p.tested_base, ''),
			COALESCE(p.tested_head, ''), COALESCE(b.sha, '')
		FROM pulls p LEFT JOIN refs b ON b.repo_id = p.repo_id AND b.name = 'refs/heads/'||p.base_ref
		WHERE p.repo_id = $1 ORDER BY p.number`, id)
	return w, err
}

// NotesOf names the notes of unreached objects: another text, when there are others.
func NotesOf(tx *db.Tx, id repo.ID) (string, error) {
	var n, last int64
	err := tx.QueryRow(`SELECT COUNT(*), COALESCE(MAX(at), 0) FROM unreached_objects WHERE repo_id = $1`, id).
		Scan(&n, &last)
	return fmt.Sprint(n, " ", last), err
}

// swapFolder sets a repository's new folder, if all is as it was planned: its refs, with
// notes also the objects without one that somebody may rely on. Error: db.ErrLeaseLost when
// another purge has taken over.
func swapFolder(tx *db.Tx, plan *repoPlan, lease int64, notes bool) (bool, error) {
	// A writer that notes an object, which takes a lock on this row for its foreign key, has
	// committed already, or reads Repo.Purges after this commit.
	lock := `SELECT id FROM repos WHERE id = $1`
	if tx.Engine() == db.PostgreSQL {
		lock += ` FOR UPDATE`
	}
	if _, err := db.QueryIDs[repo.ID](tx, lock, plan.repo.ID); err != nil {
		return false, err
	}
	if notes {
		if now, err := NotesOf(tx, plan.repo.ID); err != nil || now != plan.world.noted {
			return false, err
		}
	}
	n, err := tx.Exec(`UPDATE repos SET purges = $4, packs = CASE WHEN packs > 0 THEN packs + 1 ELSE 0 END,
			refs_generation = refs_generation + 1,
			issues_generation = issues_generation + 1
		WHERE id = $1 AND purges = $2 AND refs_generation = $3`,
		plan.repo.ID, plan.world.purges, plan.world.generation, plan.folder)
	if err != nil || n == 0 {
		return false, err
	}
	n, err = tx.Exec(`UPDATE purges SET folder = folder WHERE repo_id = $1 AND folder = $2`,
		plan.repo.ID, lease)
	if err == nil && n == 0 {
		err = db.ErrLeaseLost
	}
	return err == nil, err
}

// dropTestMerges forgets test merges. They are recreated on demand.
func dropTestMerges(tx *db.Tx, id repo.ID, list []testMerge) error {
	return db.InParts(list, func(part []testMerge) error {
		args, names := []any{id}, []any{id}
		for _, p := range part {
			args = append(args, p.number)
			names = append(names, fmt.Sprintf("%s%d/%s", repo.PullRefs, p.number, repo.PullMerge))
		}
		_, err := tx.Exec(`UPDATE pulls SET tested_base = NULL, tested_head = NULL, test_sha = NULL
			WHERE repo_id = $1 AND number IN `+db.ValuesFrom(2, 1, len(part)), args...)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM refs WHERE repo_id = $1 AND name IN `+db.ValuesFrom(2, 1, len(part)),
			names...)
		return err
	})
}

// named are the columns, besides refs and pulls, that name objects of a repository, with what
// becomes of their rows when the object is purged:
//
//	reviews.commit_sha            stays: a name tells no contents
//	review_comments.original_sha  the comment stays, its hunk goes
//	review_comments.current_sha   the comment becomes outdated
//	statuses, status_contexts, status_commits  go: the objects that they describe are gone
//	check_suites                  go with their runs, as statuses
//	pull_commits                  go: they only find the pull request of a commit
//	unreached_objects             go: the object can no longer be found
//	pushed_commits                go: there is nothing to read
//	hook_deliveries               what was sent of the repository goes, it may quote it; of what waits a
//	                              comment that was deleted, and the rest shows what is there now
//
// Names in activities and issue_events stay as well; neither holds a message.
const named = `SELECT commit_sha AS sha FROM reviews WHERE repo_id = $1
	UNION SELECT original_sha FROM review_comments WHERE repo_id = $1
	UNION SELECT current_sha FROM review_comments WHERE repo_id = $1
	UNION SELECT sha FROM statuses WHERE repo_id = $1
	UNION SELECT sha FROM status_commits WHERE repo_id = $1
	UNION SELECT head_sha FROM check_suites WHERE repo_id = $1
	UNION SELECT sha FROM pull_commits WHERE repo_id = $1
	UNION SELECT sha FROM unreached_objects WHERE repo_id = $1
	UNION SELECT new_sha FROM pushed_commits WHERE repo_id = $1`

// namedObjects reads them.
func namedObjects(tx *db.Tx, id repo.ID) ([]git.SHA, error) {
	return db.QueryColumn[git.SHA](tx, named, id)
}

// forgetNamed does what the table above says for objects that are gone, and tells how many
// hunks and statuses went.
func forgetNamed(tx *db.Tx, id repo.ID, gone []git.SHA) (hunks, statuses int64, err error) {
	args := []any{id}
	for _, sha := range gone {
		args = append(args, string(sha))
	}
	in := ` IN ` + db.ValuesFrom(2, 1, len(gone))
	hunks, err = tx.Exec(`UPDATE review_comments SET diff_hunk = '' WHERE repo_id = $1 AND diff_hunk <> ''
		AND original_sha`+in, args...)
	if err != nil {
		return 0, 0, err
	}
	_, err = tx.Exec(`UPDATE review_comments SET current_position = NULL, current_line = NULL,
		current_start = NULL
		WHERE repo_id = $1 AND current_sha`+in, args...)
	if err != nil {
		return 0, 0, err
	}
	if statuses, err = tx.Exec(`DELETE FROM statuses WHERE repo_id = $1 AND sha`+in, args...); err != nil {
		return 0, 0, err
	}
	_, err = tx.Exec(`UPDATE check_totals SET bytes = bytes - (SELECT COALESCE(SUM(bytes), 0)
		FROM check_suites
		WHERE repo_id = $1 AND head_sha`+in+`) WHERE repo_id = $1`, args...)
	if err != nil {
		return 0, 0, err
	}
	for _, from := range []string{"check_suites WHERE repo_id = $1 AND head_sha",
		"status_contexts WHERE repo_id = $1 AND sha",
		"status_commits WHERE repo_id = $1 AND sha",
		"pull_commits WHERE repo_id = $1 AND sha", "unreached_objects WHERE repo_id = $1 AND sha",
		"pushed_commits WHERE repo_id = $1 AND new_sha"} {
		if _, err := tx.Exec(`DELETE FROM `+from+in, args...); err != nil {
			return 0, 0, err
		}
	}
	// What hooks were told may quote it.
	for _, of := range []string{`DELETE FROM hook_told WHERE mark IN (SELECT mark FROM hook_deliveries
			WHERE repo_id = $1 AND mark IS NOT NULL)`, `DELETE FROM hook_deliveries WHERE repo_id = $1 AND (state <> 0
			OR event = 'pull_request_review_comment' AND action = 'deleted')`,
		`UPDATE hook_deliveries SET payload = NULL WHERE repo_id = $1
			AND payload IS NOT NULL`} {
		if _, err := tx.Exec(of, id); err != nil {
			return 0, 0, err
		}
	}
	_, err = tx.Exec(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id = $1`, id)
	return hunks, statuses, err
}

// pastBackups reads the backups that are remembered, the newest first.
func pastBackups(tx *db.Tx) (list []Backup, err error) {
	return db.QueryList(tx, func(row db.Scanner) (b Backup, err error) {
		err = row.Scan(&b.At, &b.Place)
		return b, err
	}, `SELECT at, place FROM past_backups ORDER BY at DESC, id DESC`)
}
