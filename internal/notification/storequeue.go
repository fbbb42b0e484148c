package notification

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// jobs are the acts whose notifications are pending.
var jobs = db.Jobs{Table: "notification_acts", Key: "id"}

// act is a row of the queue.
type act struct {
	Act
	id    int64
	at    db.Time
	tries int64
}

// Bounds of one transaction.
const (
	perTake  = db.MaxValues // acts
	perBatch = db.MaxValues // people
)

// takeRound leases acts of one subject: for those with a part in it, or for watchers. All that wait for
// watchers are taken together, also those that were to wait longer. nil: nothing is due.
func takeRound(tx *db.Tx, watchers bool, length time.Duration) (*db.Lease, []act, error) {
	var first act
	err := tx.QueryRow(`SELECT `+actColumns+` FROM notification_acts q WHERE q.watchers = $1
		AND q.due_at <= `+tx.Engine().Clock()+` ORDER BY q.due_at, q.id LIMIT 1`, watchers).Scan(first.columns()...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	const same = `repo_id = $3 AND (issue_id = $4 OR release_id = $5 OR commit_sha = $6)`
	args := []any{first.RepoID, db.OrNull(int64(first.Issue)), db.OrNull(first.Release),
		db.OrNull(string(first.Commit))}
	if watchers {
		err = tx.Run(`UPDATE notification_acts SET due_at = 0 WHERE watchers AND tries = 0
			AND repo_id = $1 AND (issue_id = $2 OR release_id = $3 OR commit_sha = $4)`, args...)
		if err != nil {
			return nil, nil, err
		}
	}
	lease, err := jobs.Take(tx, length, perTake, same+` AND watchers = $7`, append(args, watchers)...)
	if err != nil || lease == nil {
		return nil, nil, err
	}
	list, err := actsOf(tx, lease.IDs)
	return lease, list, err
}

const actColumns = `q.id, q.repo_id, COALESCE(q.issue_id, 0), COALESCE(q.release_id, 0), COALESCE(q.commit_sha, ''),
	q.actor_id, q.everyone, q.created_at, q.tries`

func (a *act) columns() []any {
	return []any{&a.id, &a.RepoID, &a.Issue, &a.Release, &a.Commit, &a.Actor, &a.Everyone, &a.at, &a.tries}
}

func actsOf(tx *db.Tx, ids []int64) ([]act, error) {
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	return db.QueryList(tx, func(row db.Scanner) (a act, err error) {
		var named, about string
		if err := row.Scan(append(a.columns(), &named, &about)...); err != nil {
			return a, err
		}
		if about != "" { // else by a server of the version before
			if err := json.Unmarshal([]byte(about), &a.About); err != nil {
				return a, fmt.Errorf("notification: act %d: %w", a.id, err)
			}
		}
		if err := json.Unmarshal([]byte(named), &a.Named); err != nil {
			return a, fmt.Errorf("notification: act %d: %w", a.id, err)
		}
		return a, nil
	}, `SELECT `+actColumns+`, q.named, q.about FROM notification_acts q WHERE q.id IN `+
		db.ValuesFrom(1, 1, len(ids))+` ORDER BY q.id`, args...)
}

// leaveToWatchers ends the lease of acts whose participants were notified. Watchers are notified later; the
// more there are, the more acts are combined for them. Error: db.ErrLeaseLost.
func leaveToWatchers(tx *db.Tx, l *db.Lease, repoID repo.ID) error {
	var watchers int64
	err := tx.QueryRow(`SELECT watchers FROM repos WHERE id = $1`, repoID).Scan(&watchers)
	if err != nil {
		return err
	}
	if watchers == 0 {
		return jobs.Remove(tx, l)
	}
	wait := min(time.Duration(watchers)*perWatcher, maxWait)
	if watchers < perBatch {
		wait = 0
	}
	if err := jobs.PutOff(tx, l, wait); err != nil {
		return err
	}
	args := make([]any, len(l.IDs))
	for n, id := range l.IDs {
		args[n] = id
	}
	in := db.ValuesFrom(1, 1, len(l.IDs))
	if err := tx.Run(`DELETE FROM notification_acts WHERE NOT everyone AND id IN `+in, args...); err != nil {
		return err
	}
	return tx.Run(`UPDATE notification_acts SET watchers = TRUE, tries = 0 WHERE id IN `+in, args...)
}

// subjectOf returns the row of an act's subject, and creates it if needed.
func subjectOf(tx *db.Tx, a Act) (id int64, err error) {
	args := []any{a.RepoID, db.OrNull(int64(a.Issue)), db.OrNull(a.Release), db.OrNull(string(a.Commit))}
	find := func() error {
		return tx.QueryRow(`SELECT id FROM notification_subjects WHERE issue_id = $2 OR release_id = $3
			OR (repo_id = $1 AND commit_sha = $4)`, args...).Scan(&id)
	}
	if err = find(); !errors.Is(err, db.ErrNoRows) {
		return id, err
	}
	err = tx.Run(`INSERT INTO notification_subjects (repo_id, issue_id, release_id, commit_sha)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT DO NOTHING`, args...)
	if err != nil {
		return 0, err
	}
	return id, find()
}

// hearer is an account to notify, with the latest act that was not its own.
type hearer struct {
	id     account.ID
	reason Reason
	at     db.Time
}

// participants reads who is subscribed to an issue, those behind an id, and why; before all others also who
// most recently closed or reopened it. last is 0 after the last ones.
func participants(tx *db.Tx, id issue.ID, after account.ID) (list []hearer, last account.ID, err error) {
	list, err = readHearers(tx, `SELECT p.value, CASE WHEN i.author_id = p.value THEN 5
			WHEN EXISTS (SELECT 1 FROM postings x WHERE x.issue_id = i.id AND x.kind = $4
			AND x.value = p.value) THEN 6
			WHEN EXISTS (SELECT 1 FROM requested_reviewers q WHERE q.issue_id = i.id
			AND q.user_id = p.value) THEN 7
			WHEN EXISTS (SELECT 1 FROM postings x WHERE x.issue_id = i.id AND x.kind = $5
			AND x.value = p.value) THEN 8
			WHEN EXISTS (SELECT 1 FROM issue_subscriptions w
				WHERE w.issue_id = i.id AND w.user_id = p.value AND w.wish = $6) THEN 2
			ELSE 4 END
		FROM postings p JOIN issues i ON i.id = p.issue_id
		WHERE p.issue_id = $1 AND p.kind = $3 AND p.value > $2 ORDER BY p.value LIMIT `+strconv.Itoa(perBatch),
		id, after, int64(posting.BySubscriber), int64(posting.ByAssignee), int64(posting.ByMention),
		int64(subscription.Subscribe))
	if err != nil {
		return nil, 0, err
	}
	if len(list) == perBatch {
		last = list[perBatch-1].id
	}
	if after > 0 {
		return list, last, nil
	}
	changers, err := readHearers(tx, `SELECT DISTINCT e.actor_id, 3 FROM
			(SELECT actor_id, kind FROM issue_events WHERE issue_id = $1 ORDER BY created_at DESC, id DESC
			LIMIT 100) e
		WHERE e.kind IN ($2, $3) AND NOT EXISTS (SELECT 1 FROM issue_subscriptions w
			WHERE w.issue_id = $1 AND w.user_id = e.actor_id) ORDER BY 1`,
		id, int64(issue.EventClosed), int64(issue.EventReopened))
	return append(list, changers...), last, err
}

// teamMembers reads some people of a team behind an id, without who acted. Mentions of a quiet team notify nobody.
func teamMembers(tx *db.Tx, a act, reason Reason, id, after account.ID) ([]hearer, error) {
	quiet, as := ``, reason
	if reason == TeamMention {
		quiet = ` AND t.quiet = FALSE`
	} else {
		as = ReviewRequested
	}
	list, err := db.QueryIDs[account.ID](tx,
		`SELECT m.user_id FROM team_members m JOIN teams t ON t.id = m.team_id
		WHERE m.team_id = $1 AND m.user_id > $2 AND m.user_id <> $3`+quiet+`
		ORDER BY m.user_id LIMIT `+strconv.Itoa(perBatch), id, after, a.Actor)
	found := make([]hearer, len(list))
	for n, id := range list {
		found[n] = hearer{id, as, a.at}
	}
	return found, err
}

// commenters reads who commented on a commit, the last ones.
func commenters(tx *db.Tx, a Act, subject int64) ([]hearer, error) {
	return readHearers(tx, `SELECT DISTINCT c.author_id, 4 FROM (SELECT author_id FROM commit_comments
			WHERE repo_id = $1 AND commit_sha = $2 ORDER BY id DESC LIMIT `+strconv.Itoa(perBatch)+`) c
		WHERE NOT EXISTS (SELECT 1 FROM notification_wishes w WHERE w.subject_id = $3 AND w.user_id = c.author_id
			AND w.wish = $4) ORDER BY 1`, a.RepoID, string(a.Commit), subject, int64(subscription.Unsubscribe))
}

// wishers reads the users who subscribed to a commit or a release themselves.
func wishers(tx *db.Tx, subject int64) ([]hearer, error) {
	return readHearers(tx, `SELECT w.user_id, 2 FROM notification_wishes w WHERE w.subject_id = $1
		AND w.wish = $2
		ORDER BY w.user_id LIMIT `+strconv.Itoa(perBatch), subject, int64(subscription.Subscribe))
}

func readHearers(tx *db.Tx, query string, args ...any) ([]hearer, error) {
	return db.QueryList(tx, func(row db.Scanner) (h hearer, err error) {
		err = row.Scan(&h.id, &h.reason)
		return h, err
	}, query, args...)
}

// watcherCursor is a position in a list of watchers, which is in the order in which they began.
type watcherCursor struct {
	since db.Time
	id    account.ID
}

// watchers reads users after a cursor who watch a repository and were not notified as participants. next is
// where to continue, and more reports whether there may be others.
func watchers(tx *db.Tx, a Act, from watcherCursor) (list []hearer, next watcherCursor, more bool, err error) {
	n := 0
	next = from
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var told bool
		err := row.Scan(&next.id, &next.since, &told)
		if n++; !told {
			list = append(list, hearer{id: next.id, reason: Subscribed})
		}
		return err
	}, `SELECT w.user_id, w.created_at, EXISTS (SELECT 1 FROM postings p
			WHERE p.issue_id = $4 AND p.kind = $5 AND p.value = w.user_id)
		FROM watches w WHERE w.repo_id = $1 AND (w.created_at > $2 OR w.created_at = $2 AND w.user_id > $3)
		ORDER BY w.created_at, w.user_id LIMIT `+strconv.Itoa(perBatch),
		a.RepoID, int64(from.since), from.id, int64(a.Issue), int64(posting.BySubscriber))
	return list, next, n == perBatch, err
}

// tell marks threads as unread, and creates new ones, for accounts that can see the repository, are not
// suspended, and ignore neither it nor the subject. An account notified after the latest act is skipped,
// unless the reason is greater, because two workers may process two acts in either order.
func tell(tx *db.Tx, acts []act, subject int64, list []hearer) error {
	if len(list) == 0 {
		return nil
	}
	a := acts[0].Act
	values, args := make([]string, len(list)),
		[]any{subject, a.RepoID, int64(a.Issue), int64(subscription.Ignore)}
	for n, h := range list {
		k := len(args)
		values[n] = fmt.Sprintf(`(CAST($%d AS BIGINT), CAST($%d AS SMALLINT), CAST($%d AS BIGINT))`,
			k+1, k+2, k+3)
		args = append(args, h.id, int64(h.reason), h.at)
	}
	at, err := tx.Clock()
	if err != nil {
		return err
	}
	args = append(args, at)
	now := fmt.Sprintf(`CAST($%d AS BIGINT)`, len(args))
	args = append(args, acts[len(acts)-1].id) // they are in their order
	newest := fmt.Sprintf(`CAST($%d AS BIGINT)`, len(args))
	err = tx.Run(`WITH v (user_id, reason, at) AS (VALUES `+strings.Join(values, `, `)+`)
		INSERT INTO notification_threads (user_id, subject_id, reason, unread, updated_at, told_act)
		SELECT a.id, CAST($1 AS BIGINT), v.reason, TRUE, `+now+`, `+newest+`
		FROM v JOIN accounts a ON a.id = v.user_id `+repo.JoinSeers(`$2`, `a`)+`
			AND a.kind = 1 AND a.suspended_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM silences s WHERE s.repo_id = $2 AND s.user_id = a.id)
			AND NOT EXISTS (SELECT 1 FROM issue_subscriptions w
				WHERE w.issue_id = $3 AND w.user_id = a.id AND w.wish = $4)
			AND NOT EXISTS (SELECT 1 FROM notification_wishes w
				WHERE w.subject_id = $1 AND w.user_id = a.id AND w.wish = $4)
			AND NOT EXISTS (SELECT 1 FROM notification_threads t
				WHERE t.subject_id = $1 AND t.user_id = a.id AND t.updated_at > v.at AND t.reason >= v.reason)
		ORDER BY a.id
		ON CONFLICT (subject_id, user_id) DO UPDATE SET unread = TRUE, updated_at = excluded.updated_at,
			told_before = notification_threads.told_act, told_act = excluded.told_act,
			reason = CASE WHEN excluded.reason >= 6 OR excluded.reason > notification_threads.reason
				THEN excluded.reason ELSE notification_threads.reason END`, args...)
	if err != nil {
		return err
	}
	if err := noteTold(tx, subject, at, list); err != nil {
		return err
	}
	return mailTold(tx, acts, subject, at, list)
}

// backlog counts what waits.
func backlog(tx *db.Tx) (db.Backlog, error) { return jobs.Backlog(tx, `TRUE`) }
