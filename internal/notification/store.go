package notification

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Filter chooses threads of somebody.
type Filter struct {
	Repo          repo.ID // 0: of all
	All           bool    // those that were read, too
	Participating bool    // without those that only watching caused
	Since, Before db.Time // of the latest notification; 0: any time
}

// filter chooses threads of the caller's, of those that the caller may see now.
type filter struct {
	Filter
	caller *account.Caller
	id     int64 // one thread; 0: all
}

// build returns the rest of a SELECT, and its arguments. It omits subjects that no one can see: drafts, and
// issues if they are disabled.
func (f *filter) build() (from string, args []any) {
	args = []any{account.IDOf(f.caller)}
	var where []string
	and := func(condition string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if f.Repo != 0 {
		and(`s.repo_id = $%d`, f.Repo)
	}
	if f.id != 0 {
		and(`t.id = $%d`, f.id)
	}
	if !f.All {
		where = append(where, `t.unread`)
	}
	if f.Participating {
		and(`t.reason > $%d`, int64(Subscribed))
	}
	if f.Since != 0 {
		and(`t.updated_at >= $%d`, f.Since)
	}
	if f.Before != 0 {
		and(`t.updated_at < $%d`, f.Before)
	}
	where = append(where, `EXISTS (SELECT 1`+repo.FromVisible(`s.repo_id`, f.caller)+
		` AND (i.id IS NULL OR r.has_issues OR i.pull))`, `(l.id IS NULL OR NOT l.draft)`)
	return ` FROM notification_threads t JOIN notification_subjects s ON s.id = t.subject_id
		LEFT JOIN issues i ON i.id = s.issue_id LEFT JOIN releases l ON l.id = s.release_id
		WHERE t.user_id = $1 AND ` + strings.Join(where, ` AND `), args
}

// threads reads a page, the latest first, and the number of all.
func threads(tx *db.Tx, f filter, p web.Page) (list []*Thread, total int64, err error) {
	from, args := f.build()
	list, err = db.QueryList(tx, func(row db.Scanner) (*Thread, error) {
		var t Thread
		var state, why int64
		err := row.Scan(&t.ID, &t.RepoID, &t.SubjectID, &t.Reason, &t.Unread, &t.UpdatedAt,
			&t.ReadAt, &t.Issue, &t.Number, &t.Pull, &t.Release, &t.Tag, &t.Commit, &t.Title, &t.Comment,
			&state, &why, &t.Draft, &t.Merged)
		t.State, t.Cause = issue.State(state), issue.Reason(why)
		return &t, err
	}, `SELECT t.id, s.repo_id, t.subject_id, t.reason, t.unread, t.updated_at, COALESCE(t.read_at, 0),
			COALESCE(i.id, 0), COALESCE(i.number, 0), COALESCE(i.pull, FALSE), COALESCE(l.id, 0), COALESCE(l.tag, ''),
			COALESCE(s.commit_sha, ''), COALESCE(i.title, l.name, l.tag, ''),
			CASE WHEN i.id IS NOT NULL THEN COALESCE((SELECT MAX(c.id) FROM issue_comments c
			WHERE c.issue_id = i.id), 0)
				WHEN s.commit_sha IS NOT NULL THEN COALESCE((SELECT MAX(c.id) FROM commit_comments c
					WHERE c.repo_id = s.repo_id AND c.commit_sha = s.commit_sha), 0) ELSE 0 END,
			COALESCE(i.state, 0), COALESCE(i.state_reason, 0), COALESCE(i.draft, FALSE), COALESCE(i.merged_at, 0)`+from+
		fmt.Sprintf(` ORDER BY t.updated_at DESC, t.id DESC LIMIT $%d OFFSET $%d`, len(args)+1, len(args)+2),
		append(args, p.Size, p.Offset())...)
	if n := int64(len(list)); err != nil || n < p.Size && (n > 0 || p.Number == 1) {
		return list, p.Offset() + n, err
	}
	err = tx.QueryRow(`SELECT count(*)`+from, args...).Scan(&total)
	return list, total, err
}

// threadByID finds a thread of the caller's. Error: 404, including one that the caller can no longer see.
func threadByID(tx *db.Tx, caller *account.Caller, id int64) (*Thread, error) {
	list, _, err := threads(tx, filter{Filter{All: true}, caller, id}, web.Page{Number: 1, Size: 1})
	if err == nil && len(list) == 0 {
		return nil, errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// changedAt returns when a user's threads last changed: the newest notification, or a mark. Zero: never.
func changedAt(tx *db.Tx, id account.ID) (at db.Time, now db.Time, err error) {
	var told, marked db.Time
	err = tx.QueryRow(`SELECT COALESCE((SELECT MAX(updated_at) FROM notification_threads WHERE user_id = $1),
		0),
		COALESCE((SELECT changed_at FROM notification_inboxes WHERE user_id = $1), 0),
		`+tx.Engine().Clock(), id).
		Scan(&told, &marked, &now)
	return max(told, marked), now, err
}

// nextChange sets the time of a change for If-Modified-Since: at least a second after the previous one. The
// row is locked until the commit, so of two changes the one with the later time becomes visible later, and
// none with a time that a client has already got.
const nextChange = ` ON CONFLICT (user_id) DO UPDATE SET changed_at = CASE
	WHEN excluded.changed_at >= notification_inboxes.changed_at + 1000000 THEN excluded.changed_at
	ELSE notification_inboxes.changed_at + 1000000 END`

// noteChange records that a user marked threads.
func noteChange(tx *db.Tx, id account.ID) error {
	return tx.Run(`INSERT INTO notification_inboxes (user_id, changed_at) VALUES ($1, `+tx.Engine().Clock()+`)`+
		nextChange, id)
}

// noteTold records the notification of users who have a thread of that time.
func noteTold(tx *db.Tx, subject int64, at db.Time, list []hearer) error {
	args := []any{subject, at}
	for _, h := range list {
		args = append(args, h.id)
	}
	return tx.Run(`INSERT INTO notification_inboxes (user_id, changed_at)
		SELECT user_id, CAST($2 AS BIGINT) FROM notification_threads WHERE subject_id = $1 AND updated_at = $2
			AND user_id IN `+db.ValuesFrom(3, 1, len(list))+` ORDER BY user_id`+nextChange, args...)
}

// unreadOf reads about which of the issues a user has an unread thread.
func unreadOf(tx *db.Tx, user account.ID, issues []issue.ID) (map[issue.ID]bool, error) {
	if len(issues) == 0 {
		return nil, nil
	}
	return db.QueryMap[issue.ID, bool](tx, `SELECT s.issue_id, t.unread FROM notification_subjects s
		JOIN notification_threads t ON t.subject_id = s.id AND t.user_id = $1
		WHERE t.unread AND s.issue_id IN `+db.ValuesFrom(2, 1, len(issues)), db.Args(issues, user)...)
}

// markRead marks the unread threads of a filter up to a time as read; zero: now.
func markRead(tx *db.Tx, f filter, until db.Time) error {
	f.All = false
	from, args := f.build()
	clock := tx.Engine().Clock()
	set, condition := clock, ``
	if until != 0 {
		args = append(args, until)
		condition = fmt.Sprintf(` AND t.updated_at <= $%d`, len(args))
		set = fmt.Sprintf(`CAST($%d AS BIGINT)`, len(args))
	}
	err := tx.Run(`UPDATE notification_threads SET unread = FALSE, read_at = `+set+`
		WHERE id IN (SELECT t.id`+from+condition+`)`, args...)
	if err != nil {
		return err
	}
	return noteChange(tx, f.caller.ID)
}

// remove removes a thread, which is done.
func remove(tx *db.Tx, t *Thread, by account.ID) error {
	if err := tx.Run(`DELETE FROM notification_threads WHERE id = $1 AND user_id = $2`,
		t.ID, by); err != nil {
		return err
	}
	return noteChange(tx, by)
}

// wish returns a user's choice for a commit or a release, and its time, or zero.
func wish(tx *db.Tx, subject int64, id account.ID) (said int64, at db.Time, err error) {
	err = tx.QueryRow(`SELECT wish, created_at FROM notification_wishes WHERE subject_id = $1 AND user_id = $2`,
		subject, id).Scan(&said, &at)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return said, at, err
}

// putWish says it; again keeps the time.
func putWish(tx *db.Tx, subject int64, id account.ID, said int64) error {
	return tx.Run(`INSERT INTO notification_wishes (user_id, subject_id, wish, created_at)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (subject_id, user_id) DO UPDATE SET wish = excluded.wish, created_at = CASE
			WHEN notification_wishes.wish = excluded.wish THEN notification_wishes.created_at
			ELSE excluded.created_at END`,
		id, subject, said, tx.Now)
}
