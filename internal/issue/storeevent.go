package issue

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
)

// InsertEvents inserts events in one statement. The repositories of their issues must be locked. A
// reference that exists already is skipped.
func InsertEvents(tx *db.Tx, list []Event) error {
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, 10*len(list))
	for i := range list {
		e := &list[i]
		detail, err := e.Detail.Encode()
		if err != nil {
			return err
		}
		args = append(args, e.RepoID, e.IssueID, e.ActorID, int64(e.Kind), db.OrNull(e.UserID),
			db.OrNull(e.SourceID), db.OrNull(e.CommentID), db.OrNull(e.Commit), detail, tx.Now)
	}
	err := tx.Run(`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, user_id, source_id,
		comment_id,
		commit_sha, detail, created_at) VALUES `+db.Values(len(list), 10)+` ON CONFLICT DO NOTHING`, args...)
	return err
}

// insertCrossReferences adds a cross-reference to each mentioned issue in one statement, except to the
// source itself and if there is one already.
func insertCrossReferences(tx *db.Tx, source ID, actor account.ID, comment int64, named []namedIssue) error {
	where := make([]string, len(named))
	args := []any{actor, int64(EventCrossReferenced), source, db.OrNull(comment), tx.Now}
	for n, t := range named {
		args = append(args, t.repoID, t.number)
		where[n] = fmt.Sprintf("(i.repo_id = $%d AND i.number = $%d)", len(args)-1, len(args))
		if t.pull {
			where[n] += " AND i.pull"
		}
	}
	err := tx.Run(`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, source_id, comment_id,
		created_at)
		SELECT i.repo_id, i.id, CAST($1 AS BIGINT), CAST($2 AS SMALLINT), CAST($3 AS BIGINT),
		CAST($4 AS BIGINT), CAST($5 AS BIGINT)
		FROM issues i WHERE i.id <> $3 AND (`+strings.Join(where, " OR ")+`) ON CONFLICT DO NOTHING`, args...)
	return err
}
