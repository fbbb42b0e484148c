package timeline

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxDeep is how far into lists of events pages lead, as GitHub bounds them: no
// page costs more than reading so many entries of an index.
const maxDeep = 5_000

// checkDeep returns the 422 for a page beyond that.
func checkDeep(p web.Page) error {
	if p.Offset() > maxDeep-p.Size {
		return errs.New(errs.Invalid,
			"In order to keep the API fast for everyone, pagination is limited for this resource.")
	}
	return nil
}

// totalOf gives the total of a list of which a page was read: from the page if
// it shows the end, else from count, which counts to maxDeep at most.
func totalOf(p web.Page, got int, count func() (int64, error)) (int64, error) {
	if n := int64(got); n < p.Size && (n > 0 || p.Number == 1) {
		return p.Offset() + n, nil
	}
	return count()
}

// eventsOfIssue reads a page of what happened to an issue, the oldest first.
func eventsOfIssue(tx *db.Tx, issueID issue.ID, p web.Page) ([]*issue.Event, int64, error) {
	list, err := readEvents(tx, `issue_id`, issueID, ` ORDER BY %[1]s.created_at, %[1]s.id`, p)
	if err != nil {
		return nil, 0, err
	}
	total, err := totalOf(p, len(list), func() (int64, error) { return countEvents(tx, `issue_id`, issueID) })
	return list, total, err
}

// eventsOfRepo reads a page of what happened to all issues of a repository, the
// newest first.
func eventsOfRepo(tx *db.Tx, repoID repo.ID, p web.Page) ([]*issue.Event, int64, error) {
	list, err := readEvents(tx, `repo_id`, repoID, ` ORDER BY %[1]s.id DESC`, p)
	if err != nil {
		return nil, 0, err
	}
	total, err := totalOf(p, len(list), func() (int64, error) { return countEvents(tx, `repo_id`, repoID) })
	return list, total, err
}

// entry is a place in a timeline: an event or a comment.
type entry struct {
	comment bool
	id      int64
}

// entryOf is an entry of one of several timelines.
type entryOf struct {
	entry
	issueID issue.ID
}

// timelineOf reads a page of an issue's timeline as the access's caller may see
// it, the oldest first: where issues that the caller may not see refer to this
// one, there is nothing at all (decision 13).
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
