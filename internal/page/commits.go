package page

import (
	"net/http"
	"time"
)

// CommitDay is the commits of a list that were committed on one day, in the reader's time zone.
type CommitDay struct {
	Date    time.Time
	Commits []ListedCommit
}

// ListedCommit is a commit of a list.
type ListedCommit struct {
	Commit
	Mark       any    // what checks say of it, for the template commit-mark of the room; nil: nothing
	Page, Tree string // the addresses of the commit and of its files
}

// Listed returns the entry of a list for a commit. path is that of the repository in which the list is.
func Listed(path string, c Commit, mark any) ListedCommit {
	return ListedCommit{c, mark, path + "/commit/" + c.SHA, path + "/tree/" + c.SHA}
}

// Recent reports a commit whose time says more than the day below which it stands.
func (c *ListedCommit) Recent() bool {
	since := time.Since(c.Commit.Commit.Committer.Date)
	return since > -time.Minute && since < 24*time.Hour
}

// CommitDays groups commits of one day that follow each other.
func CommitDays(r *http.Request, list []ListedCommit) (days []CommitDay) {
	zone := zoneOf(r)
	for _, c := range list {
		year, month, day := c.Commit.Commit.Committer.Date.In(zone).Date()
		date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if len(days) == 0 || !days[len(days)-1].Date.Equal(date) {
			days = append(days, CommitDay{Date: date})
		}
		last := &days[len(days)-1]
		last.Commits = append(last.Commits, c)
	}
	return days
}

// CommitDaysOf is CommitDays for commits without marks, in the repository with the path.
func CommitDaysOf(r *http.Request, path string, commits []Commit) []CommitDay {
	list := make([]ListedCommit, len(commits))
	for n, c := range commits {
		list[n] = Listed(path, c, nil)
	}
	return CommitDays(r, list)
}
