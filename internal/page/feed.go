package page

import (
	"fmt"
	"strings"
	"time"

	"arbor/internal/activity"
	"arbor/internal/review"
	"arbor/internal/web"
)

// Line is an event in words: who is before them; What is done to the thing that Text names and Path leads to,
// in Repo.
type Line struct {
	Actor *User // nil: gone
	What  string
	Text  string // empty: the repository itself
	Path  string
	Repo  string // OWNER/NAME
	Fork  string // OWNER/NAME of the fork that was made; empty: none
	At    time.Time
}

// RepoPath is the address of the repository's page.
func (l *Line) RepoPath() string { return web.Path(strings.Split(l.Repo, "/")...) }

// Group is what somebody did in one repository, one thing after the other.
type Group struct {
	*Line              // the latest
	Lines, More []Line // More are those that are folded
}

// maxLines is how many lines of a group are not folded.
const maxLines = 4

// Feed puts what happened into words, and groups it. What it knows no words for is left out.
func Feed(events []*activity.View) (groups []*Group) {
	for _, e := range events {
		l := Line{Actor: NewUser(e.Actor), Repo: e.Repo.FullName(), At: Moment(e.CreatedAt)}
		if !l.describe(e) {
			continue
		}
		if len(groups) == 0 || !groups[len(groups)-1].takes(&l) {
			groups = append(groups, &Group{Line: &l})
		}
		g := groups[len(groups)-1]
		if len(g.Lines) < maxLines {
			g.Lines = append(g.Lines, l)
		} else {
			g.More = append(g.More, l)
		}
	}
	return groups
}

// takes reports that the line belongs to the group: the same person did it there, within a day.
func (g *Group) takes(l *Line) bool {
	return g.Repo == l.Repo && g.At.Sub(l.At) < 24*time.Hour && (g.Actor == nil) == (l.Actor == nil) &&
		(g.Actor == nil || g.Actor.ID == l.Actor.ID)
}

// describe finds the words for what happened. It reports false for what it does not know.
func (l *Line) describe(e *activity.View) bool {
	switch e.Kind {
	case activity.Pushed:
		branch := strings.TrimPrefix(e.Ref, "refs/heads/")
		l.What, l.Text, l.Path = "pushed to", branch, l.RepoPath()+"/commits"+filePath(branch)
	case activity.Created:
		l.What, l.Text = named("created", e.Ref)
		if l.Text != "" {
			l.Path = l.RepoPath() + "/tree" + filePath(l.Text)
		}
	case activity.Deleted:
		l.What, l.Text = named("deleted", e.Ref)
	case activity.Forked:
		if l.What = "forked"; e.Fork != nil {
			l.Fork = e.Fork.FullName()
		}
	case activity.CommitCommented:
		l.What, l.Text = "commented on commit", Short(string(e.Commit))
		l.Path = fmt.Sprintf("%s/commit/%s#commitcomment-%d", l.RepoPath(), e.Commit, e.SubjectID)
	case activity.Published:
		l.What = "made public"
	case activity.Released:
		l.What, l.Text, l.Path = "released", e.Tag, l.RepoPath()+"/releases/tag"+filePath(e.Tag)
	case activity.Joined:
		if e.Member == nil {
			return false
		}
		l.What, l.Text, l.Path = "added the collaborator", e.Member.Login, web.Path(e.Member.Login)
	default:
		return e.Issue != nil && l.describeIssue(e)
	}
	return true
}

// named is what was done to a branch, a tag or, without a ref, the repository, and the name of the first two.
func named(done, ref string) (what, name string) {
	if ref == "" {
		return done + " repository", ""
	}
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return done + " branch", name
	}
	return done + " tag", strings.TrimPrefix(ref, "refs/tags/")
}

// describeIssue is describe for what happened to an issue or a pull request.
func (l *Line) describeIssue(e *activity.View) bool {
	thing := "issue"
	if e.Issue.Pull {
		thing = "pull request"
	}
	l.Text = Clip(fmt.Sprintf("#%d %s", e.Issue.Number, e.Issue.Title), maxSubject).Text
	l.Path = IssuePath(e.Issue, e.Repo.Owner.Login, e.Repo.Name)
	at := ""
	switch e.Kind {
	case activity.Commented:
		l.What, at = "commented on ", "#issuecomment-%d"
	case activity.ReviewCommented:
		l.What, at = "commented on ", "#discussion_r%d"
	case activity.Reviewed:
		l.What, at = "reviewed ", "#pullrequestreview-%d"
		switch e.State {
		case review.Approved:
			l.What = "approved "
		case review.ChangesRequested:
			l.What = "asked for changes to "
		}
	default:
		l.What = e.Action() + " "
	}
	l.What += thing
	if at != "" {
		l.Path += fmt.Sprintf(at, e.SubjectID)
	}
	return true
}

// Local is the path, the query and the fragment of an address of this site, with or without the site; empty: it is
// none.
func Local(address string) string {
	if strings.HasPrefix(address, "/") {
		return address
	}
	if _, path, ok := strings.Cut(address, "://"); ok {
		if at := strings.IndexByte(path, '/'); at >= 0 {
			return path[at:]
		}
	}
	return ""
}
