package page

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Event is what happened in a repository, as feeds tell it; the part "event" shows it.
type Event struct {
	Type      string
	Actor     *User // nil: gone
	Repo      struct{ Name string }
	CreatedAt time.Time `json:"created_at"`
	Payload   struct {
		Action  string
		Ref     string
		RefType string `json:"ref_type"`
		Before  string
		Head    string
		Number  int64
		Issue   *Issue
		Pull    *struct{ Number int64 } `json:"pull_request"`
		Comment *struct {
			HTMLURL string `json:"html_url"`
			SHA     string `json:"commit_id"`
		}
		Review *struct {
			HTMLURL string `json:"html_url"`
			State   string
		}
		Release *struct {
			HTMLURL string `json:"html_url"`
			Tag     string `json:"tag_name"`
			Name    string
		}
		Forkee *struct {
			FullName string `json:"full_name"`
		}
		Member *User
	}
}

// RepoPath is the address of the repository where it happened.
func (e *Event) RepoPath() string {
	owner, name, _ := strings.Cut(e.Repo.Name, "/")
	return "/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
}

// Verb is what the actor did, in words before the subject.
func (e *Event) Verb() string {
	switch p := &e.Payload; e.Type {
	case "PushEvent":
		return "pushed to"
	case "CreateEvent":
		if p.RefType == "repository" {
			return "created the repository"
		}
		return "created " + p.RefType
	case "DeleteEvent":
		return "deleted " + p.RefType
	case "ForkEvent":
		return "forked"
	case "PublicEvent":
		return "made public"
	case "MemberEvent":
		return "added the collaborator"
	case "ReleaseEvent":
		return "released"
	case "CommitCommentEvent":
		return "commented on commit"
	case "IssuesEvent":
		return p.Action + " issue"
	case "IssueCommentEvent":
		return "commented on"
	case "PullRequestEvent":
		return p.Action + " pull request"
	case "PullRequestReviewEvent":
		if p.Review != nil {
			switch strings.ToLower(p.Review.State) {
			case "approved":
				return "approved pull request"
			case "changes_requested":
				return "asked for changes to pull request"
			}
		}
		return "reviewed pull request"
	case "PullRequestReviewCommentEvent":
		return "commented on lines of pull request"
	}
	return "did something in"
}

// Subject is what it was done to: its name, and its address on this site. Both are empty where that is the
// repository; the address alone where the subject is gone.
func (e *Event) Subject() (s struct{ Text, Path string }) {
	p := &e.Payload
	switch {
	case e.Type == "PushEvent":
		s.Text = strings.TrimPrefix(strings.TrimPrefix(p.Ref, "refs/heads/"), "refs/")
		s.Path = e.RepoPath() + filePath("commits", s.Text)
		if tag, ok := strings.CutPrefix(s.Text, "tags/"); ok {
			s.Text, s.Path = tag, e.RepoPath()+filePath("tree", tag)
		} else if strings.Trim(p.Before, "0") != "" && p.Head != "" {
			s.Path = e.RepoPath() + "/compare/" + p.Before + "..." + p.Head
		}
	case e.Type == "CreateEvent" && p.RefType != "repository":
		s.Text, s.Path = p.Ref, e.RepoPath()+filePath("tree", p.Ref)
	case e.Type == "DeleteEvent":
		s.Text = p.Ref
	case p.Member != nil:
		s.Text, s.Path = p.Member.Login, "/"+url.PathEscape(p.Member.Login)
	case p.Release != nil:
		s.Text, s.Path = p.Release.Tag, Local(p.Release.HTMLURL)
	case p.Issue != nil:
		s.Text, s.Path = "#"+strconv.FormatInt(p.Issue.Number, 10)+" "+p.Issue.Title, p.Issue.Path()
		if p.Comment != nil {
			s.Path = Local(p.Comment.HTMLURL)
		}
	case p.Pull != nil:
		number := strconv.FormatInt(p.Pull.Number, 10)
		s.Text, s.Path = "#"+number, e.RepoPath()+"/pull/"+number
		if p.Review != nil {
			s.Path = Local(p.Review.HTMLURL)
		} else if p.Comment != nil {
			s.Path = Local(p.Comment.HTMLURL)
		}
	case p.Comment != nil:
		s.Text, s.Path = Short(p.Comment.SHA), Local(p.Comment.HTMLURL)
	}
	s.Text = Clip(s.Text, maxSubject).Text
	return s
}

// Fork is OWNER/NAME of the fork that was made; empty: none.
func (e *Event) Fork() string {
	if e.Payload.Forkee == nil {
		return ""
	}
	return e.Payload.Forkee.FullName
}

// Local is the path, the query and the fragment of an address of this site that the API gave.
func Local(address string) string {
	if _, path, ok := strings.Cut(address, "://"); ok {
		if at := strings.IndexByte(path, '/'); at >= 0 {
			return path[at:]
		}
	}
	return ""
}
