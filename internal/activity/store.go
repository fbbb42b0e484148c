package activity

import (
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// insert inserts activities of a repository in one statement.
func insert(tx *db.Tx, repoID repo.ID, list ...Activity) error {
	if len(list) == 0 {
		return nil
	}
	args := []any{repoID, tx.Now}
	for _, a := range list {
		args = append(args, a.ActorID, int64(a.Kind), a.IssueID, a.SubjectID, a.Ref, string(a.Before),
			string(a.After))
	}
	values := `(CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($6 AS BIGINT), CAST($7 AS TEXT),
		CAST($8 AS TEXT), CAST($9 AS TEXT))`
	if len(list) > 1 {
		values += `, ` + db.ValuesFrom(10, len(list)-1, 7)
	}
	return tx.Send(`WITH v (actor, kind, issue, subject, ref, before, after) AS (VALUES `+values+`)
		INSERT INTO activities (repo_id, org_id, actor_id, public, was_public, kind, issue_id, subject_id, ref,
			before_sha, after_sha, created_at)
		SELECT r.id, CASE WHEN o.kind = 2 THEN o.id END, v.actor, NOT r.private, NOT r.private, v.kind,
			NULLIF(v.issue, 0), NULLIF(v.subject, 0), NULLIF(v.ref, ''), NULLIF(v.before, ''),
			NULLIF(v.after, ''), CAST($2 AS BIGINT)
		FROM v, repos r JOIN accounts o ON o.id = r.owner_id WHERE r.id = $1`, args...)
}

// FollowTransfer moves the activities of a repository to the feed of its new owner, if that is an
// organization.
func FollowTransfer(tx *db.Tx, r *repo.Repo) error {
	var org any
	if r.Owner.Kind == account.Organization {
		org = r.OwnerID
	}
	_, err := tx.Exec(`UPDATE activities SET org_id = $2 WHERE repo_id = $1`, r.ID, org)
	return err
}

// FollowVisibility hides the activities of a repository that became private, or shows those from its former
// public time.
func FollowVisibility(tx *db.Tx, r *repo.Repo) error {
	return tx.Run(`UPDATE activities SET public = $2 WHERE repo_id = $1 AND was_public = TRUE`, r.ID, !r.Private)
}

// deletions reads the deletions of branches of a repository since a time, the last first: as many as are kept.
func deletions(tx *db.Tx, repoID repo.ID, since db.Time) ([]Activity, error) {
	return db.QueryList(tx, func(row db.Scanner) (a Activity, err error) {
		return a, row.Scan(&a.ID, &a.ActorID, &a.Ref, &a.Before, &a.CreatedAt)
	}, `SELECT x.id, x.actor_id, x.ref, x.before_sha, x.created_at FROM activities x
		WHERE x.repo_id = $1 AND x.kind = $2 AND x.created_at >= $3 AND x.ref LIKE 'refs/heads/%'
		ORDER BY x.id DESC LIMIT $4`, repoID, int64(Deleted), since, 2*kept)
}

// DropIssue deletes the activities of a deleted issue.
func DropIssue(tx *db.Tx, repoID repo.ID, issueID int64) error {
	return tx.Run(`DELETE FROM activities WHERE repo_id = $1 AND issue_id = $2`, repoID, issueID)
}

// MoveIssue moves the activities of a transferred issue to its new repository and id. They stay public only
// if that repository is public.
func MoveIssue(tx *db.Tx, from repo.ID, issueID int64, to *repo.Repo, newID int64) error {
	return tx.Run(`UPDATE activities SET repo_id = $3, issue_id = $4, public = (was_public AND $5)
		WHERE repo_id = $1 AND issue_id = $2`, from, issueID, to.ID, newID, !to.Private)
}

// list reads the activities of a selection that are visible to the caller, newest first, at most Newest,
// whose issues, comments, reviews, releases and forks exist. Activities that are not public, because the
// repository is or was private (decision 63), are visible to users with a role of their own in it, and to
// Apps as far as their permissions allow.
func list(tx *db.Tx, caller *account.Caller, s selection) ([]*Activity, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Activity, error) {
		var a Activity
		err := row.Scan(&a.ID, &a.RepoID, &a.OrgID, &a.ActorID, &a.Public, &a.Kind, &a.IssueID,
			&a.SubjectID, &a.Ref, &a.Before, &a.After, &a.CreatedAt)
		return &a, err
	}, `SELECT a.id, a.repo_id, COALESCE(a.org_id, 0), a.actor_id, a.public, a.kind, COALESCE(a.issue_id, 0),
			COALESCE(a.subject_id, 0), COALESCE(a.ref, ''), COALESCE(a.before_sha, ''), COALESCE(a.after_sha,
			''), a.created_at`+visible(caller, s)+` LIMIT `+strconv.Itoa(Newest),
		append([]any{account.IDOf(caller)}, s.args...)...)
}

// visible is the rest of a query, after its columns, of the activities a of a selection that list reads.
func visible(caller *account.Caller, s selection) string {
	return ` FROM (` + s.sql + `) a
		WHERE (a.public = TRUE OR EXISTS (SELECT 1` + repo.FromGranted(`a.repo_id`, caller) + `)` + open(caller) + `)
			AND (a.issue_id IS NULL OR EXISTS (SELECT 1 FROM issues i JOIN repos h ON h.id = i.repo_id
				WHERE i.id = a.issue_id AND (i.pull = TRUE OR h.has_issues = TRUE)))
			AND CASE a.kind WHEN 4 THEN EXISTS (SELECT 1` + repo.FromVisible(`a.subject_id`, caller) + `)
				WHEN 10 THEN EXISTS (SELECT 1 FROM issue_comments s WHERE s.id = a.subject_id)
				WHEN 11 THEN EXISTS (SELECT 1 FROM reviews s WHERE s.id = a.subject_id)
				WHEN 12 THEN EXISTS (SELECT 1 FROM review_comments s WHERE s.id = a.subject_id)
				WHEN 13 THEN EXISTS (SELECT 1 FROM releases s WHERE s.id = a.subject_id AND s.draft = FALSE)
				WHEN 14 THEN EXISTS (SELECT 1 FROM commit_comments s WHERE s.id = a.subject_id)
				ELSE TRUE END
		ORDER BY a.id DESC`
}

// open returns the SQL condition that an App's permissions allow the data that an activity shows, such as
// its issue.
func open(caller *account.Caller) string {
	const pull = `EXISTS (SELECT 1 FROM issues p WHERE p.id = a.issue_id AND p.pull = TRUE)`
	if caller == nil || caller.Reach != account.Installed && caller.Reach != account.Reached {
		return ``
	}
	kinds := `FALSE`
	for _, x := range []struct{ category, kinds string }{
		{"metadata", `a.kind IN (4, 5, 6)`},
		{"contents", `a.kind IN (1, 2, 3, 13, 14)`},
		{"issues", `a.kind = 10`},
		{"issues", `a.kind IN (7, 8, 9) AND NOT ` + pull},
		{"pull_requests", `a.kind BETWEEN 7 AND 12 AND ` + pull},
	} {
		switch {
		case caller.Reach == account.Reached:
			by, _ := caller.ForRoute(x.category, "read", account.None)
			kinds += ` OR (` + x.kinds + `) AND ` +
				by.ReachesSQL(`(SELECT v.owner_id FROM repos v WHERE v.id = a.repo_id)`, `a.repo_id`)
		case caller.Opens(x.category):
			kinds += ` OR ` + x.kinds
		}
	}
	return ` AND (` + kinds + `)`
}

// loadTexts reads what views show of reviews, releases and comments on commits, by the activity's id. Nothing is read where
// there are none.
func loadTexts(tx *db.Tx, list []*Activity) (map[int64]Text, error) {
	var ids []int64
	for _, a := range list {
		if a.Kind == Reviewed || a.Kind == Released || a.Kind == CommitCommented {
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryMapOf[int64](tx, func(s *Text) []any { return []any{&s.State, &s.Tag, &s.Commit} },
		`SELECT a.id,
			COALESCE(CASE a.kind WHEN 11 THEN (SELECT s.state FROM reviews s WHERE s.id = a.subject_id) END, 0),
			COALESCE(CASE a.kind WHEN 13 THEN (SELECT s.tag FROM releases s WHERE s.id = a.subject_id) END, ''),
			COALESCE(CASE a.kind WHEN 14 THEN (SELECT s.commit_sha FROM commit_comments s
				WHERE s.id = a.subject_id) END, '')
		FROM activities a WHERE a.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// recentPushes reads branches that still exist, from the caller's newest activities.
func recentPushes(tx *db.Tx, a *repo.Access) ([]Push, error) {
	const newest = `SELECT id, repo_id, kind, ref, created_at FROM (SELECT * FROM activities
		WHERE actor_id = $2 AND public = `
	return db.QueryList(tx, func(row db.Scanner) (p Push, err error) {
		err = row.Scan(&p.Branch, &p.At)
		p.Branch = strings.TrimPrefix(p.Branch, "refs/heads/")
		return p, err
	}, `SELECT f.name, MAX(x.created_at) FROM (
			`+newest+`TRUE ORDER BY id DESC LIMIT 100) p UNION ALL `+newest+`FALSE ORDER BY id DESC LIMIT 100) q
		) x JOIN refs f ON f.repo_id = x.repo_id AND f.name = x.ref
		WHERE x.repo_id = $1 AND x.kind IN ($3, $4) AND x.created_at > $5 AND substr(f.name, 1, 11) = 'refs/heads/'
		GROUP BY f.name ORDER BY MAX(x.created_at) DESC, f.name`,
		a.ID, a.Caller.ID, int64(Pushed), int64(Created), tx.Now-db.Time(time.Hour/time.Microsecond))
}
