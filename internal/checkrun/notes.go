package checkrun

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxShown is how many characters of a message or of its details are shown in a list of annotations.
const maxShown = 2000

// Note is the beginning of an annotation, with the run that says it.
type Note struct {
	Annotation
	ID    int64
	Run   Run  // id, name, SHA, and how many annotations it has
	IsCut bool // there is more of the message, or of the details
}

// NotesOfCommit reads the beginnings of what the latest runs of a commit say of lines, without details, the first so
// many: run by run, each in the order in which it came. The commit was found for the caller before.
func (s *Service) NotesOfCommit(
	ctx context.Context, a *repo.Access, sha git.SHA, size int64,
) (list []Note, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]Note, error) {
		return notesWhere(tx, maxShown,
			0, `r.repo_id = $3 AND r.head_sha = $4 AND r.latest = TRUE AND r.annotations > 0
			ORDER BY r.id, a.id LIMIT $5`, a.ID, sha, size)
	})
}

// Notes reads a page of the beginnings of a run's annotations, in the order in which they came.
func (s *Service) Notes(ctx context.Context, a *repo.Access, run int64, at web.Page) (list []Note, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]Note, error) {
		return notesWhere(tx, maxShown, maxShown, `r.repo_id = $3 AND a.id IN
			(SELECT id FROM check_annotations WHERE run_id = $4 ORDER BY id LIMIT $5 OFFSET $6) ORDER BY a.id`,
			a.ID, run, at.Size, at.Offset())
	})
}

// Note reads all of one annotation of a run. Error: 404.
func (s *Service) Note(ctx context.Context, a *repo.Access, run, id int64) (*Note, error) {
	list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]Note, error) {
		return notesWhere(tx, maxText, maxText, `r.repo_id = $3 AND r.id = $4 AND a.id = $5`, a.ID, run, id)
	})
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, errs.Absent()
	}
	return &list[0], nil
}

// notesWhere reads annotations a of runs r: of messages and of details so many characters. where begins with
// the condition, whose first value is $3.
func notesWhere(tx *db.Tx, message, details int, where string, args ...any) ([]Note, error) {
	return db.QueryList(tx, func(row db.Scanner) (n Note, err error) {
		err = row.Scan(&n.Run.ID, &n.Run.Name, &n.Run.SHA, &n.Run.Annotations, &n.ID, &n.Path,
			&n.StartLine, &n.EndLine, &n.StartColumn, &n.EndColumn, &n.Level, &n.Title, &n.Message,
			&n.RawDetails, &n.IsCut)
		return n, err
	}, `SELECT r.id, r.name, r.head_sha, r.annotations, a.id, a.path, a.start_line, a.end_line,
		a.start_column, a.end_column, a.level, a.title, SUBSTR(a.message, 1, $1), SUBSTR(a.raw_details, 1,
		$2), LENGTH(a.message) > $1 OR COALESCE(LENGTH(a.raw_details), 0) > $2
		FROM check_runs r JOIN check_annotations a ON a.run_id = r.id
		WHERE `+where, append([]any{message, details}, args...)...)
}
