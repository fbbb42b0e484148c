package timeline

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxDeep is the number of events that can be reached by paging, limited as at GitHub: so no page reads
// more entries of an index.
const maxDeep = 5_000

// checkDeep returns 422 for a page beyond maxDeep.
func checkDeep(p web.Page) error {
	if p.Offset() > maxDeep-p.Size {
		return errs.New(errs.Invalid,
			"In order to keep the API fast for everyone, pagination is limited for this resource.")
	}
	return nil
}

// totalOf returns the total of a list after a page of it was read: derived from the page if that reaches
// the end, else from count, which counts up to maxDeep.
func totalOf(p web.Page, got int, count func() (int64, error)) (int64, error) {
	if n := int64(got); n < p.Size && (n > 0 || p.Number == 1) {
		return p.Offset() + n, nil
	}
	return count()
}

// eventsOfIssue reads a page of an issue's events, oldest first.
func eventsOfIssue(tx *db.Tx, issueID issue.ID, p web.Page) ([]*issue.Event, int64, error) {
	list, err := readEvents(tx, `issue_id`, issueID, ` ORDER BY %[1]s.created_at, %[1]s.id`, p)
	if err != nil {
		return nil, 0, err
	}
	total, err := totalOf(p, len(list), func() (int64, error) { return countEvents(tx, `issue_id`, issueID) })
	return list, total, err
}

// eventsOfRepo reads a page of the events of all issues of a repository, newest first.
func eventsOfRepo(tx *db.Tx, repoID repo.ID, p web.Page) ([]*issue.Event, int64, error) {
	list, err := readEvents(tx, `repo_id`, repoID, ` ORDER BY %[1]s.id DESC`, p)
	if err != nil {
		return nil, 0, err
	}
	total, err := totalOf(p, len(list), func() (int64, error) { return countEvents(tx, `repo_id`, repoID) })
	return list, total, err
}

// entry is an event or comment in a timeline.
type entry struct {
	comment bool
	id      int64
}

// entryOf is an entry of one of several timelines.
type entryOf struct {
	entry
	issueID issue.ID
}

// timelineOf reads a page of an issue's timeline, oldest first, as visible to the caller of a. References
// from issues that the caller cannot see are omitted (decision 13).
func timelineOf(tx *db.Tx, a *repo.Access, i *issue.Issue, p web.Page) ([]entry, int64, error) {
	list, err := readTimeline(tx, a, i.ID, p)
	if err != nil {
		return nil, 0, err
	}
	total, err := totalOf(p, len(list), func() (int64, error) {
		n, err := countTimeline(tx, a, i.ID)
		return min(n+i.Comments, maxDeep), err
	})
	return list, total, err
}
