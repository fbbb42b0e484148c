package timeline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// columns are the columns that scan reads, of events e.
const columns = `e.id, e.repo_id, e.issue_id, e.actor_id, e.kind, COALESCE(e.user_id, 0), COALESCE(e.source_id, 0),
	COALESCE(e.comment_id, 0), COALESCE(e.commit_sha, ''), e.detail, e.created_at`

// scan reads columns. Error: 404 if the row does not exist.
func scan(row db.Scanner) (*issue.Event, error) {
	var e issue.Event
	var detail *string
	err := row.Scan(&e.ID, &e.RepoID, &e.IssueID, &e.ActorID, &e.Kind, &e.UserID, &e.SourceID,
		&e.CommentID, &e.Commit, &detail, &e.CreatedAt)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return &e, e.Detail.Decode(detail)
}

func query(tx *db.Tx, rest string, args ...any) ([]*issue.Event, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM `+rest, args...)
}

// listed is the condition for events that lists include: all but issue.EventCrossReferenced and
// issue.EventReviewed, which exist only in timelines.
const listed = `kind NOT IN (16, 21)`

// byID reads a listed event of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*issue.Event, error) {
	return scan(tx.QueryRow(`SELECT `+columns+
		` FROM issue_events e WHERE e.id = $1 AND e.repo_id = $2 AND e.`+listed,
		id, repoID))
}

// byIDs reads events in one query, by id.
func byIDs(tx *db.Tx, ids []int64) (map[int64]*issue.Event, error) {
	found := make(map[int64]*issue.Event, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	list, err := query(tx, `issue_events e WHERE e.id IN `+db.Values(1, len(ids)), args...)
	for _, e := range list {
		found[e.ID] = e
	}
	return found, err
}

// readEvents reads a page of the events with a value in a column. The query needs only an index to find
// them. order is a format for the table's name.
func readEvents(tx *db.Tx, column string, value any, order string, p web.Page) ([]*issue.Event, error) {
	return query(tx, `(SELECT x.id FROM issue_events x WHERE x.`+column+` = $1 AND x.`+listed+fmt.Sprintf(order, "x")+`
		LIMIT $2 OFFSET $3) p JOIN issue_events e ON e.id = p.id`+fmt.Sprintf(order, "e"),
		value, p.Size, p.Offset())
}

func countEvents(tx *db.Tx, column string, value any) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM issue_events WHERE `+column+` = $1 AND `+
		listed+` LIMIT $2) e`,
		value, maxDeep).Scan(&n)
	return n, err
}

// seen returns the condition that an event e of the issue $2 is visible in a timeline to the caller $1. $3
// is issue.EventCrossReferenced. $4 is the issue's repository, whose own issues are visible unless they are
// disabled. The subqueries make PostgreSQL look up each source and not read all issues first.
func seen(a *repo.Access) string { return seenOf(a, "$2", "$4") }

// seenOf is like seen, for the issue and its repository in other placeholders.
func seenOf(a *repo.Access, issue, in string) string {
	return `e.issue_id = ` + issue + ` AND (e.kind <> $3 OR COALESCE((SELECT CASE
			WHEN i.repo_id = ` + in + ` THEN i.pull OR ` + strconv.FormatBool(a.HasIssues) + `
			ELSE (SELECT count(*)` + repo.FromVisible("i.repo_id", a.Caller) + ` AND (i.pull OR r.has_issues)) > 0 END
		FROM issues i WHERE i.id = e.source_id), FALSE))`
}

// readTimeline reads a page of the timeline of one issue.
func readTimeline(tx *db.Tx, a *repo.Access, issueID issue.ID, p web.Page) ([]entry, error) {
	found, err := readTimelines(tx, []repo.Of[issue.ID]{{In: a, Key: issueID}}, p)
	list := make([]entry, min(len(found), int(p.Size)))
	for n := range list {
		list[n] = found[n].entry
	}
	return list, err
}

// readTimelines merges the events and comments of each issue. It reads two indexes by time up to the end of
// the page. The entries are ordered by issue id; each issue has one more than the page size if more follow.
func readTimelines(tx *db.Tx, issues []repo.Of[issue.ID], p web.Page) (list []entryOf, err error) {
	if len(issues) == 0 {
		return nil, nil
	}
	parts, args := make([]string, len(issues)), []any{account.IDOf(issues[0].In.Caller), p.Size + 1,
		int64(issue.EventCrossReferenced), p.Offset() + p.Size + 1, p.Offset()}
	for n, i := range issues {
		in, at := "$"+strconv.Itoa(len(args)+1), "$"+strconv.Itoa(len(args)+2)
		args = append(args, i.In.ID, i.Key)
		parts[n] = `SELECT * FROM (SELECT * FROM (SELECT e.issue_id AS issue_id, e.created_at AS at, 1 AS kind,
				e.id AS id FROM issue_events e WHERE ` + seenOf(i.In, at, in) + `
				ORDER BY e.created_at, e.id LIMIT $4) x
			UNION ALL SELECT * FROM (SELECT c.issue_id, c.created_at, 0, c.id FROM issue_comments c
				WHERE c.issue_id = ` + at + ` ORDER BY c.created_at, c.id LIMIT $4) y
			ORDER BY 2, 3, 4 LIMIT $2 OFFSET $5) z` + strconv.Itoa(n)
	}
	return db.QueryList(tx, func(row db.Scanner) (e entryOf, err error) {
		var at, kind int64
		err = row.Scan(&e.issueID, &at, &kind, &e.id)
		e.comment = kind == 0
		return e, err
	}, strings.Join(parts, ` UNION ALL `)+` ORDER BY 1, 2, 3, 4`, args...)
}

// countTimeline counts the events of a timeline without its comments.
func countTimeline(tx *db.Tx, a *repo.Access, issueID issue.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM issue_events e WHERE `+seen(a)+` LIMIT $5) t`,
		account.IDOf(a.Caller), issueID, int64(issue.EventCrossReferenced), a.ID, maxDeep).Scan(&n)
	return n, err
}

// participant is an account that took part in an issue.
type participant struct {
	issueID issue.ID
	userID  account.ID
}

// maxParticipants limits the participants of issues that are read together.
const maxParticipants = 10_000

// participantsOf reads who took part in issues, ordered by issue and account.
func participantsOf(tx *db.Tx, ids []issue.ID) ([]participant, error) {
	args := []any{int64(posting.ByAssignee), maxParticipants}
	for _, id := range ids {
		args = append(args, id)
	}
	in := ` IN ` + db.ValuesFrom(3, 1, len(ids))
	return db.QueryList(tx, func(row db.Scanner) (p participant, err error) {
		err = row.Scan(&p.issueID, &p.userID)
		return p, err
	}, `SELECT id, author_id FROM issues WHERE id`+in+`
		UNION SELECT issue_id, value FROM postings WHERE kind = $1 AND issue_id`+in+`
		UNION SELECT issue_id, author_id FROM issue_comments WHERE issue_id`+in+`
		UNION SELECT issue_id, author_id FROM reviews WHERE state <> 1 AND issue_id`+in+`
		ORDER BY 1, 2 LIMIT $2`, args...)
}
