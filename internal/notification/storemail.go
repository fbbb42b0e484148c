package notification

import (
	"encoding/json"
	"errors"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// mostMails is how many mails about notifications wait for an account at one time. What is beyond is in the inbox
// alone.
const mostMails = 100

// maxWhats is how many parts of acts a mail names, the newest.
const maxWhats = 50

// aboutOf is what a mail about acts stores; "" if there is nothing to tell.
func aboutOf(acts []act, subject int64, own bool) (string, error) {
	t := toldAbout{Subject: subject, Own: own}
	for _, a := range acts {
		t.What = append(t.What, a.About...)
	}
	if len(t.What) == 0 {
		return "", nil
	}
	if n := len(t.What); n > maxWhats {
		t.More, t.What = n-maxWhats, t.What[n-maxWhats:]
	}
	about, err := json.Marshal(t)
	return string(about), err
}

// Digests are due in the morning of the next day, or of the next Monday: the first of January 1970 was a Thursday.
const (
	hour    = int64(3600_000_000)
	day     = 24 * hour
	morning = 6 * hour
	monday  = 4*day + morning
)

// nextDue is when a digest of a length is due, for a time: an expression.
func nextDue(now string) string {
	return fmt.Sprintf(`CASE s.digest WHEN 1 THEN ((%[1]s - %[2]d) / %[3]d + 1) * %[3]d + %[2]d
		WHEN 2 THEN ((%[1]s - %[4]d) / %[5]d + 1) * %[5]d + %[4]d ELSE %[1]s END`, now, morning, day, monday, 7*day)
}

// mailTold writes the mails to users who have a thread of that time, who want them and have a verified address. Of
// those who want a digest it writes one for all that is to come. While the server sends no mail it writes none.
func mailTold(tx *db.Tx, acts []act, subject int64, at db.Time, list []hearer) error {
	about, err := aboutOf(acts, subject, false)
	if err != nil || about == "" {
		return err
	}
	args := []any{subject, at, about, string(ToldMail), string(DigestMail), int64(Subscribed), mostMails}
	first := len(args) + 1
	for _, h := range list {
		args = append(args, h.id)
	}
	return tx.SendRing(mail.Topic, `INSERT INTO mails (kind, account_id, address, about, created_at, due_at)
		SELECT CASE WHEN COALESCE(s.digest, 0) = 0 THEN CAST($4 AS TEXT) ELSE CAST($5 AS TEXT) END, t.user_id, '',
			CASE WHEN COALESCE(s.digest, 0) = 0 THEN CAST($3 AS TEXT) ELSE '{}' END, t.updated_at,
			`+nextDue(`t.updated_at`)+`
		FROM mail_sites CROSS JOIN notification_threads t LEFT JOIN notification_settings s ON s.user_id = t.user_id
		WHERE t.subject_id = $1 AND t.updated_at = $2 AND t.user_id IN `+db.ValuesFrom(first, 1, len(list))+`
			AND t.told_act > t.told_before
			AND CASE WHEN t.reason > $6 THEN COALESCE(s.participating, TRUE) ELSE COALESCE(s.watching, TRUE) END
			AND EXISTS (SELECT 1 FROM emails e WHERE e.account_id = t.user_id AND e.verified = TRUE)
			AND CASE WHEN COALESCE(s.digest, 0) = 0 THEN
				(SELECT COUNT(*) FROM mails w WHERE w.account_id = t.user_id AND w.kind = $4) < $7
			ELSE NOT EXISTS (SELECT 1 FROM mails w WHERE w.account_id = t.user_id AND w.kind = $5 AND w.tries = 0) END
		ORDER BY t.user_id`, args...)
}

// mailOwn writes the mails to those who acted and want them of their own acts, too.
func mailOwn(tx *db.Tx, acts []act, subject int64) error {
	about, err := aboutOf(acts, subject, true)
	if err != nil || about == "" {
		return err
	}
	args := []any{about, string(ToldMail), mostMails}
	for _, a := range acts {
		args = append(args, a.Actor)
	}
	return tx.SendRing(mail.Topic, `INSERT INTO mails (kind, account_id, address, about, created_at, due_at)
		SELECT CAST($2 AS TEXT), s.user_id, '', CAST($1 AS TEXT), `+tx.Engine().Clock()+`, `+tx.Engine().Clock()+`
		FROM mail_sites CROSS JOIN notification_settings s
		WHERE s.own AND s.participating AND s.digest = 0 AND s.user_id IN `+db.ValuesFrom(4, 1, len(acts))+`
			AND EXISTS (SELECT 1 FROM emails e WHERE e.account_id = s.user_id AND e.verified = TRUE)
			AND (SELECT COUNT(*) FROM mails w WHERE w.account_id = s.user_id AND w.kind = $2) < $3
		ORDER BY s.user_id`, args...)
}

// settingsOf reads which mails somebody wants.
func settingsOf(tx *db.Tx, id account.ID) (s Settings, err error) {
	err = tx.QueryRow(`SELECT participating, watching, own, digest FROM notification_settings WHERE user_id = $1`, id).
		Scan(&s.Participating, &s.Watching, &s.Own, &s.Digest)
	if errors.Is(err, db.ErrNoRows) {
		return Settings{Participating: true, Watching: true}, nil
	}
	return s, err
}

// putSettings stores which mails somebody wants. A digest that waits is dropped: another choice begins another one.
func putSettings(tx *db.Tx, id account.ID, s Settings) error {
	err := tx.Run(`INSERT INTO notification_settings (user_id, participating, watching, own, digest)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id) DO UPDATE SET participating = excluded.participating,
			watching = excluded.watching, own = excluded.own, digest = excluded.digest`,
		id, s.Participating, s.Watching, s.Own, int64(s.Digest))
	if err != nil {
		return err
	}
	return tx.Run(`DELETE FROM mails WHERE account_id = $1 AND kind = $2`, id, string(DigestMail))
}

// toldNow reads the subject of a mail, if its reader may see it and is still to be told of it. Error: db.ErrNoRows.
func toldNow(tx *db.Tx, caller *account.Caller, subject int64, own bool) (t *Thread, err error) {
	t = &Thread{SubjectID: subject}
	return t, tx.QueryRow(`SELECT s.repo_id, COALESCE(i.id, 0), COALESCE(i.number, 0), COALESCE(i.pull, FALSE),
			COALESCE(l.id, 0), COALESCE(l.tag, ''), COALESCE(s.commit_sha, ''), COALESCE(i.title, l.name, l.tag, ''),
			COALESCE(i.merged_at, 0), COALESCE(t.reason, 0)
		FROM notification_subjects s LEFT JOIN issues i ON i.id = s.issue_id LEFT JOIN releases l ON l.id = s.release_id
		LEFT JOIN notification_threads t ON t.subject_id = s.id AND t.user_id = $1
		LEFT JOIN issue_subscriptions w ON w.issue_id = s.issue_id AND w.user_id = $1
		LEFT JOIN notification_wishes n ON n.subject_id = s.id AND n.user_id = $1
		WHERE s.id = $2 AND ($3 OR t.id IS NOT NULL)
			AND EXISTS (SELECT 1`+repo.FromVisible(`s.repo_id`, caller)+` AND (i.id IS NULL OR r.has_issues OR i.pull))
			AND (l.id IS NULL OR NOT l.draft)
			AND NOT EXISTS (SELECT 1 FROM silences x WHERE x.repo_id = s.repo_id AND x.user_id = $1)
			AND COALESCE(w.wish, n.wish, $4) <> $5
			AND (COALESCE(w.wish, n.wish, $4) <> $6 OR COALESCE(t.reason, 0) NOT BETWEEN $7 AND $8)
			AND (COALESCE(t.reason, 0) <> $9
				OR EXISTS (SELECT 1 FROM watches y WHERE y.repo_id = s.repo_id AND y.user_id = $1))`,
		caller.ID, subject, own, int64(subscription.NoWish), int64(subscription.Ignore), int64(subscription.Unsubscribe),
		int64(Manual), int64(Author), int64(Subscribed)).
		Scan(&t.RepoID, &t.Issue, &t.Number, &t.Pull, &t.Release, &t.Tag, &t.Commit, &t.Title, &t.Merged, &t.Reason)
}

// written is a text that somebody wrote.
type written struct {
	by    account.ID
	body  string
	state int64  // of a review
	path  string // of a review's comment
}

func textsOf(tx *db.Tx, query string, args ...any) (map[int64]written, error) {
	return db.QueryMapOf[int64](tx, func(w *written) []any { return []any{&w.by, &w.body, &w.state} }, query, args...)
}

// commentsNow reads those of some comments on an issue that are still there, and not hidden.
func commentsNow(tx *db.Tx, of issue.ID, ids []int64) (map[int64]written, error) {
	return textsOf(tx, `SELECT id, author_id, body, 0 FROM issue_comments
		WHERE issue_id = $1 AND hidden IS NULL AND id IN `+db.ValuesFrom(2, 1, len(ids)), argsOf(of, ids)...)
}

// reviewsNow is commentsNow for submitted reviews.
func reviewsNow(tx *db.Tx, of issue.ID, ids []int64) (map[int64]written, error) {
	return textsOf(tx, `SELECT id, author_id, body, state FROM reviews WHERE issue_id = $1 AND hidden IS NULL
		AND submitted_at IS NOT NULL AND id IN `+db.ValuesFrom(2, 1, len(ids)), argsOf(of, ids)...)
}

// reviewTexts reads the comments on lines of reviews, by the review: the first ones of all.
func reviewTexts(tx *db.Tx, of issue.ID, reviews []int64) (map[int64][]written, error) {
	found := map[int64][]written{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var review int64
		var w written
		err := row.Scan(&review, &w.path, &w.body)
		found[review] = append(found[review], w)
		return err
	}, `SELECT review_id, path, body FROM review_comments WHERE issue_id = $1 AND hidden IS NULL AND NOT pending
		AND review_id IN `+db.ValuesFrom(2, 1, len(reviews))+` ORDER BY id LIMIT 100`, argsOf(of, reviews)...)
	return found, err
}

// commitCommentsNow is commentsNow for a commit of a repository.
func commitCommentsNow(tx *db.Tx, of repo.ID, ids []int64) (map[int64]written, error) {
	return textsOf(tx, `SELECT id, author_id, body, 0 FROM commit_comments
		WHERE repo_id = $1 AND hidden IS NULL AND id IN `+db.ValuesFrom(2, 1, len(ids)), argsOf(of, ids)...)
}

// bodyOf reads the text of an issue or a release.
func bodyOf(tx *db.Tx, t *Thread) (body string, err error) {
	if t.Issue != 0 {
		err = tx.QueryRow(`SELECT COALESCE(body, '') FROM issues WHERE id = $1`, t.Issue).Scan(&body)
	} else {
		err = tx.QueryRow(`SELECT COALESCE(body, '') FROM releases WHERE id = $1`, t.Release).Scan(&body)
	}
	return body, err
}

func argsOf[T ~int64](first T, ids []int64) []any {
	args := []any{int64(first)}
	for _, id := range ids {
		args = append(args, id)
	}
	return args
}

// placeOf reads where an issue is. Error: db.ErrNoRows.
func placeOf(tx *db.Tx, id issue.ID) (in repo.ID, number int64, err error) {
	err = tx.QueryRow(`SELECT repo_id, number FROM issues WHERE id = $1`, id).Scan(&in, &number)
	return in, number, err
}

// subjectThere reports whether a subject is there and visible to a caller.
func subjectThere(tx *db.Tx, caller *account.Caller, subject int64) (there bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM notification_subjects s WHERE s.id = $2
		AND EXISTS (SELECT 1`+repo.FromVisible(`s.repo_id`, caller)+`))`, caller.ID, subject).Scan(&there)
	return there, err
}
