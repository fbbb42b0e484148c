package issue

import "arbor/internal/db"

// insertEvents adds events in one statement. One that refers from where an
// event refers already is left out.
func insertEvents(tx *db.Tx, list []Event) error {
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, 10*len(list))
	for i := range list {
		e := &list[i]
		detail, err := e.Detail.encode()
		if err != nil {
			return err
		}
		args = append(args, e.RepoID, e.IssueID, e.ActorID, int64(e.Kind), orNull(e.UserID), orNull(e.SourceID),
			orNull(e.CommentID), textOrNull(e.Commit), detail, tx.Now)
	}
	_, err := tx.Exec(`INSERT INTO issue_events (repo_id, issue_id, actor_id, kind, user_id, source_id, comment_id,
		commit_sha, detail, created_at) VALUES `+db.Values(len(list), 10)+` ON CONFLICT DO NOTHING`, args...)
	return err
}

// orNull stores no id as NULL.
func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
