package review

import (
	"cmp"
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Progress is the review state of a pull request: resolved threads, submitted reviews, and the caller's
// viewed files and pending review.
type Progress struct {
	Resolved map[int64]string  // by the first comment of a thread, who resolved it
	Viewed   map[string]string // by path, the blob that was viewed
	Reviews  []Verdict         // those that everybody sees, the last maxVerdicts of them, the oldest first

	Pending         int64 // the caller's review that is not submitted; 0: there is none
	PendingComments int64
	Reviewed        git.SHA // the commit of the caller's last submitted review; empty: there is none
}

// Verdict is a review without its text.
type Verdict struct {
	ID       int64
	State    State
	AuthorID account.ID
	Login    string // of the author
	Hidden   issuekit.Hidden
}

// maxVerdicts is the number of reviews in a Progress.
const maxVerdicts = 200

// maxViewed is the number of files of one pull request that a user can mark as viewed.
const maxViewed = 3000

// Progress finds out how far the review of a pull request has come.
func (s *Service) Progress(ctx context.Context, a *repo.Access, pull *issue.Issue) (*Progress, error) {
	p := &Progress{Resolved: map[int64]string{}, Viewed: map[string]string{}}
	return p, s.db.Read(ctx, func(tx *db.Tx) error { return p.load(tx, pull.ID, account.IDOf(a.Caller)) })
}

// load reads everything in one statement.
func (p *Progress) load(tx *db.Tx, issueID issue.ID, userID account.ID) error {
	const resolved, pending, viewed, given, mine = 1, 2, 3, 4, 5
	clear(p.Resolved)
	clear(p.Viewed)
	p.Reviews, p.Reviewed = p.Reviews[:0], ""
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var kind, id, by, n, hidden int64
		var path, text string
		if err := row.Scan(&kind, &id, &by, &n, &path, &text, &hidden); err != nil {
			return err
		}
		switch kind {
		case resolved:
			p.Resolved[id] = text
		case pending:
			p.Pending, p.PendingComments = id, n
		case viewed:
			p.Viewed[path] = text
		case mine:
			p.Reviewed = git.SHA(path)
		case given:
			p.Reviews = append(p.Reviews, Verdict{id, State(n), account.ID(by), text, issuekit.Hidden(hidden)})
		}
		return nil
	}, `SELECT 1, t.root_id, 0, 0, '', a.login, 0
		FROM resolved_threads t JOIN accounts a ON a.id = t.resolved_by WHERE t.issue_id = $1
		UNION ALL SELECT 2, v.id, 0, (SELECT COUNT(*) FROM review_comments c WHERE c.review_id = v.id), '', '', 0
		FROM reviews v WHERE v.issue_id = $1 AND v.author_id = $2 AND v.state = 1
		UNION ALL SELECT 3, 0, 0, 0, path, blob, 0 FROM viewed_files WHERE issue_id = $1 AND user_id = $2
		UNION ALL SELECT * FROM (SELECT 4, r.id, r.author_id, CAST(r.state AS BIGINT), '', a.login,
				CAST(COALESCE(r.hidden, 0) AS BIGINT)
			FROM reviews r JOIN accounts a ON a.id = r.author_id
			WHERE r.issue_id = $1 AND r.state <> 1 ORDER BY r.id DESC
			LIMIT $3) given
		UNION ALL SELECT * FROM (SELECT 5, 0, 0, 0, r.commit_sha, '', 0 FROM reviews r
			WHERE r.issue_id = $1 AND r.author_id = $2 AND r.state <> 1 ORDER BY r.id DESC
			LIMIT 1) mine`, issueID, userID, maxVerdicts)
	slices.SortFunc(p.Reviews, func(a, b Verdict) int { return cmp.Compare(a.ID, b.ID) })
	return err
}

// MarkViewed notes that the caller has viewed a file of a pull request, as the blob that it is, or without a
// blob that it is to be viewed again. Nobody else sees that, so it changes nothing else. Errors: 401, 404,
// 422.
func (s *Service) MarkViewed(ctx context.Context, a *repo.Access, number int64, path, blob string) error {
	_, i, err := s.pulls.Find(ctx, a, number)
	if err != nil {
		return err
	}
	f := web.Faults{Resource: Resource}
	f.CheckText("path", path, 0)
	if path == "" {
		f.Wrong("path", errs.MissingField, "")
	}
	if len(path) > maxPath {
		f.Wrong("path", errs.InvalidField, "")
	}
	if blob != "" {
		if _, err := git.ParseSHA(blob); err != nil {
			f.Wrong("blob", errs.InvalidField, "")
		}
	}
	if err := f.Err(); err != nil {
		return err
	}
	if a.Caller == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error { return markViewed(tx, i.ID, a.Caller.ID, path, blob) })
}

// maxPath is the maximum length in bytes of the path of a marked file, which is part of an index key.
const maxPath = 2000

func markViewed(tx *db.Tx, issueID issue.ID, userID account.ID, path, blob string) error {
	if blob == "" {
		return tx.Run(`DELETE FROM viewed_files WHERE issue_id = $1 AND user_id = $2 AND path = $3`, issueID,
			userID, path)
	}
	var n int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM viewed_files WHERE issue_id = $1 AND user_id = $2 AND path <> $3`,
		issueID, userID, path).Scan(&n)
	if err != nil {
		return err
	}
	if n >= maxViewed {
		return refuse("too many files are marked as viewed")
	}
	return tx.Run(`INSERT INTO viewed_files (issue_id, user_id, path, blob) VALUES ($1, $2, $3, $4)
		ON CONFLICT (issue_id, user_id, path) DO UPDATE
		SET blob = excluded.blob`, issueID, userID, path, blob)
}

// Viewed returns the files that the caller has viewed, by pull request and path.
func (api *API) Viewed(
	ctx context.Context, pulls []repo.Of[int64],
) (map[repo.Of[int64]]map[string]string, error) {
	out, in := map[repo.Of[int64]]map[string]string{}, repo.In(pulls)
	if len(pulls) == 0 || pulls[0].In.Caller == nil {
		return out, nil
	}
	with, args := repo.Pairs(pulls, "BIGINT", pulls[0].In.Caller.ID)
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		clear(out)
		return db.QueryEach(tx, func(row db.Scanner) error {
			var id repo.ID
			var number int64
			var path, blob string
			if err := row.Scan(&id, &number, &path, &blob); err != nil {
				return err
			}
			at := repo.Of[int64]{In: in[id], Key: number}
			if out[at] == nil {
				out[at] = map[string]string{}
			}
			out[at][path] = blob
			return nil
		}, with+`SELECT i.repo_id, i.number, x.path, x.blob FROM v
			JOIN issues i ON i.repo_id = v.repo AND i.number = v.key
			JOIN viewed_files x ON x.issue_id = i.id WHERE x.user_id = $1`, args...)
	})
	return out, err
}
