package fulltext

import "arbor/internal/db"

// Notes say which texts changed since they were indexed, in the tables texts_changed and names_changed. They are
// written behind the row, in its transaction: so the notes of one text have ids in the order of its changes.

// NoteTexts notes comments on an issue that changed; 0 is the issue itself.
func NoteTexts(tx *db.Tx, issueID int64, comments ...int64) error {
	if len(comments) == 0 {
		return nil
	}
	args := make([]any, 0, 2*len(comments))
	for _, id := range comments {
		args = append(args, issueID, id)
	}
	return tx.Run(`INSERT INTO texts_changed (issue_id, comment_id) VALUES `+db.Values(len(comments), 2), args...)
}

// Changed names the text of an issue, or of one of its comments.
type Changed struct{ Issue, Comment int64 } // Comment 0: of the issue itself

// NoteAll is NoteTexts for texts of many issues.
func NoteAll(tx *db.Tx, list []Changed) error {
	return db.InParts(list, func(part []Changed) error {
		args := make([]any, 0, 2*len(part))
		for _, t := range part {
			args = append(args, t.Issue, t.Comment)
		}
		return tx.Run(`INSERT INTO texts_changed (issue_id, comment_id) VALUES `+db.Values(len(part), 2), args...)
	})
}

// NoteIssue notes an issue with all its comments.
func NoteIssue(tx *db.Tx, issueID int64) error {
	return tx.Run(`INSERT INTO texts_changed (issue_id, comment_id)
		SELECT id, 0 FROM issues WHERE id = $1
		UNION ALL SELECT issue_id, id FROM issue_comments WHERE issue_id = $1`, issueID)
}

// NoteRepo notes a repository whose name, description or topics changed.
func NoteRepo(tx *db.Tx, id int64) error {
	return tx.Run(`INSERT INTO names_changed (repo_id, account_id) VALUES ($1, 0)`, id)
}

// NoteAccount notes an account whose login, name or e-mail address changed.
func NoteAccount(tx *db.Tx, id int64) error {
	return tx.Run(`INSERT INTO names_changed (repo_id, account_id) VALUES (0, $1)`, id)
}
