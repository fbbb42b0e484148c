package activity

import (
	"strconv"

	"arbor/internal/review"
	"arbor/internal/tracker"
)

// briefly is what a page's line shows of the comment, the review or the release that an activity tells of, by
// the names of GitHub's payload; nil: none. All of them exist, as the list saw in the same transaction.
func (f *feed) briefly(a *Activity) any {
	at, id := tracker.NewPlace(f.info, f.repos[a.RepoID].Repo), strconv.FormatInt(a.SubjectID, 10)
	address := ""
	if i := f.issues[a.IssueID]; i != nil {
		address = at.Page + tracker.PageSegment(i.Pull) + strconv.FormatInt(i.Number, 10)
	}
	switch told := f.told[a.ID]; a.Kind {
	case Commented:
		return object{"html_url": address + "#issuecomment-" + id}
	case Reviewed:
		state, _ := strconv.Atoi(told)
		return object{"state": review.State(state).String(), "html_url": address + "#pullrequestreview-" + id}
	case ReviewCommented:
		return object{"html_url": address + "#discussion_r" + id}
	case Released:
		return object{"tag_name": told}
	case CommitCommented:
		return object{"commit_id": told, "html_url": at.Page + "/commit/" + told + "#commitcomment-" + id}
	}
	return nil
}
