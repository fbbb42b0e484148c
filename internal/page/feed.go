package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"arbor/internal/web"
)

// Event is what happened, as feeds of the API tell it.
type Event struct {
	Type      string
	Actor     User
	Repo      struct{ Name string } // OWNER/NAME
	Payload   json.RawMessage
	CreatedAt time.Time `json:"created_at"`
	Public    bool
}

// eventDetails is what a line of a feed shows of a payload.
type eventDetails struct {
	Action  string
	Ref     string
	RefType string `json:"ref_type"`
	Size    int64
	Number  int64
	Issue   *Issue
	Pull    *Issue `json:"pull_request"`
	Forkee  *struct {
		FullName string `json:"full_name"`
	}
	Release *struct {
		Tag  string `json:"tag_name"`
		Name string
	}
	Member  *User
	Comment *struct {
		HTMLURL string `json:"html_url"`
		SHA     string `json:"commit_id"`
	}
	Review *struct {
		State   string
		HTMLURL string `json:"html_url"`
	}
}

// Line is an event in words: who is before them; What is done to the thing that Text names and Path leads to,
// in Repo.
type Line struct {
	Actor User
	What  string
	Text  string // empty: the repository itself
	Path  string
	Repo  string // OWNER/NAME
	Fork  string // OWNER/NAME of the fork that was made; empty: none
	At    time.Time
}

// RepoPath is the address of the repository's page.
func (l *Line) RepoPath() string { return web.Path(strings.Split(l.Repo, "/")...) }

// Lines puts events into words. What it knows no words for is left out.
func Lines(events []Event) (list []Line) {
	for _, e := range events {
		var d eventDetails
		if json.Unmarshal(e.Payload, &d) != nil {
			continue
		}
		l := Line{Actor: e.Actor, Repo: e.Repo.Name, At: e.CreatedAt}
		if l.describe(e.Type, &d) {
			list = append(list, l)
		}
	}
	return list
}

// describe finds the words for an event. It reports false for what it does not know.
func (l *Line) describe(kind string, d *eventDetails) bool {
	subject := d.Issue
	if subject == nil {
		subject = d.Pull
	}
	switch kind {
	case "PushEvent":
		branch := strings.TrimPrefix(d.Ref, "refs/heads/")
		l.What, l.Text, l.Path = "pushed to", branch, l.RepoPath()+"/commits"+filePath(branch)
	case "CreateEvent", "DeleteEvent":
		l.What = map[string]string{"CreateEvent": "created", "DeleteEvent": "deleted"}[kind] + " " + d.RefType
		if d.RefType != "repository" {
			l.Text = d.Ref
			if kind == "CreateEvent" {
				l.Path = l.RepoPath() + "/tree" + filePath(d.Ref)
			}
		}
	case "ForkEvent":
		if l.What = "forked"; d.Forkee != nil {
			l.Fork = d.Forkee.FullName
		}
	case "CommitCommentEvent":
		if d.Comment == nil {
			return false
		}
		l.What, l.Text, l.Path = "commented on commit", Short(d.Comment.SHA), Local(d.Comment.HTMLURL)
	case "WatchEvent":
		l.What = "starred"
	case "PublicEvent":
		l.What = "made public"
	case "IssuesEvent", "PullRequestEvent", "IssueCommentEvent", "PullRequestReviewEvent",
		"PullRequestReviewCommentEvent":
		if subject == nil {
			return false
		}
		l.What = spoken(kind, d, subject)
		l.Text, l.Path = l.about(d, subject)
	case "ReleaseEvent":
		if d.Release == nil {
			return false
		}
		l.What, l.Text, l.Path = "released", d.Release.Tag,
			l.RepoPath()+"/releases/tag"+filePath(d.Release.Tag)
	case "MemberEvent":
		if d.Member == nil {
			return false
		}
		l.What, l.Text, l.Path = d.Action+" the collaborator", d.Member.Login, web.Path(d.Member.Login)
	default:
		return false
	}
	return true
}

// about is the name and the address of an issue or a pull request, or of what was said about it.
func (l *Line) about(d *eventDetails, subject *Issue) (text, path string) {
	text, path = fmt.Sprintf("#%d %s", subject.Number, subject.Title), subject.Path()
	switch {
	case d.Comment != nil && d.Comment.HTMLURL != "":
		path = Local(d.Comment.HTMLURL)
	case d.Review != nil && d.Review.HTMLURL != "":
		path = Local(d.Review.HTMLURL)
	}
	return Clip(text, maxSubject).Text, path
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

// spoken is what an event does to an issue or a pull request.
func spoken(kind string, d *eventDetails, subject *Issue) string {
	thing := "issue"
	if kind != "IssuesEvent" && (d.Pull != nil || subject.IsPull()) {
		thing = "pull request"
	}
	switch {
	case strings.HasSuffix(kind, "CommentEvent"):
		return "commented on " + thing
	case kind == "PullRequestReviewEvent" && d.Review != nil && strings.EqualFold(d.Review.State, "approved"):
		return "approved " + thing
	case kind == "PullRequestReviewEvent" && d.Review != nil &&
		strings.EqualFold(d.Review.State, "changes_requested"):
		return "asked for changes to " + thing
	case kind == "PullRequestReviewEvent":
		return "reviewed " + thing
	}
	return d.Action + " " + thing
}
