package site

import (
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/page/listing"
	"arbor/internal/page/pull"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// styleTemplates are those of this room and of pull requests, which have parts of their own.
var styleTemplates = page.ReadTemplates(pull.Files(), files)

// styleView is the style page. What it shows is made up, and does not change with time, so that tests can compare
// pictures of it.
type styleView struct {
	view
	Colors      []string // names of tokens
	Empty, More *listing.List
	Issues      *listing.List
	People      []page.User
	Repos       []page.Repository
	Days        []page.CommitDay
	Events      []*talk.Entry
	Thread      *talk.Thread
	Files       []*diff.File
	Code        []template.HTML // lines
	Markdown    template.HTML
	Merge       string // the state of the merge box
	Merges      []string
	MergeBox    any
	Wrong       *page.Problem
	Both, First page.Pager
	Good, Bad   *page.Verified
	Long        string
}

// GET /site/style
//
// Style shows the parts of which pages are made, in each of their states, with the templates that the pages use. The
// merge box has the state ?merge=.
func (p *Pages) Style(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "style", "Style")
	if err != nil {
		return err
	}
	v := &styleView{view: f, Colors: page.ColorTokens(), People: samplePeople, Merges: pull.SampleStates,
		Merge: web.QueryOf(r).Get("merge"), Long: strings.Repeat("a-branch-with-a-long-name-", 5)}
	if !slices.Contains(v.Merges, v.Merge) {
		v.Merge = v.Merges[0]
	}
	v.MergeBox = pull.Sample(v.Merge, sampleTime)
	shown := listing.Options{Repo: "alice/greenhouse", Path: "/alice/greenhouse/issues", Noun: "issue"}
	v.Issues = &listing.List{Options: shown,
		Query: listing.Parse("is:issue is:open"), Issues: sampleIssues(), Open: 4, Closed: 3, State: "open",
		Default: true,
		MaySort: true, Filters: []string{"author", "label", "sort"}, Pages: page.Pager{Older: "?page=2"}}
	v.Empty = &listing.List{Options: shown, Query: listing.Parse("is:open pears"), State: "open"}
	v.Repos = []page.Repository{
		{FullName: "alice/greenhouse", Description: "Keeps the climate of a greenhouse", Language: "Go",
			Stars: 2, Forks: 1,
			PushedAt: sampleTime},
		{FullName: "alice/diary", Private: true, Archived: true, Fork: true}}
	v.Good = &page.Verified{Label: "Verified", Good: true, About: "The signature is of a key of alice.",
		KeyOf:  "GPG key id",
		Handle: "3AA5C34371567BD2", Signer: &samplePeople[0]}
	v.Bad = &page.Verified{Label: "Unverified", About: "Nobody here has the key."}
	v.Days = []page.CommitDay{{Date: sampleTime, Commits: sampleCommits(v.Good)}}
	v.Thread, v.Events = sampleTimeline()
	coloured := r.Clone(r.Context())
	coloured.URL.RawQuery = "colours=1" // waits for all colours
	v.Files = diff.New(coloured, sampleFiles(), diff.Options{Texts: p.kit.Texts}).Files
	for _, line := range p.kit.Texts.Lines(r.Context(), "night.go", sampleCode) {
		v.Code = append(v.Code, template.HTML(line))
	}
	v.Markdown = template.HTML(markdown.Parse(sampleMarkdown).HTML(markdown.Links{}))
	v.Wrong = &page.Problem{Message: "This form has mistakes:",
		Fields: []page.Fault{{Name: "wrong", Text: "login is taken"}}}
	v.Both, v.First = page.Pager{Newer: "?page=1", Older: "?page=3"}, page.Pager{Older: "?page=2"}
	return styleTemplates.Page(w, r, "style.html", v)
}

var (
	sampleTime   = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	samplePeople = []page.User{{ID: 2, Login: "alice", Type: "User"}, {ID: 3, Login: "bob", Type: "User"},
		{ID: 4, Login: "trellis-ci", Type: "Bot"}}
)

const sampleCode = `package night

// Close closes the windows when it is colder than limit.
func Close(limit float64) (closed int, err error) {
	const name = "window"
	return len(name), nil
}
`

const sampleMarkdown = `# Greenhouse

Text with **bold**, *italic*, ~~struck~~, ` + "`code`" + `, a [link](https://example.com) and :seedling:.

## Lists

- [x] sow
- [ ] water
  1. in the morning

> A quotation.

> [!NOTE]
> Good to know.

> [!TIP]
> Makes it easier.

> [!IMPORTANT]
> Needed.

> [!WARNING]
> Look out.

> [!CAUTION]
> May do harm.

| Plant | Night |
|---|---:|
| Strawberries | -2.5 |

` + "```go\nfunc main() { println(\"grow\") }\n```" + `

A note.[^1]

[^1]: At the end.
`

func sampleIssues() []*page.Issue {
	of := func(number int64, title, state string) *page.Issue {
		return &page.Issue{Number: number, Title: title, State: state, User: &samplePeople[1], CreatedAt: sampleTime,
			ClosedAt: sampleTime, HTMLURL: "/alice/greenhouse/issues/1", RepoURL: "/repos/alice/greenhouse"}
	}
	merged := &struct{ MergedAt time.Time }{sampleTime}
	waiting := &struct{ MergedAt time.Time }{}
	list := []*page.Issue{of(1, "The vents open too late in the morning", "open"), of(2, "Snails", "closed"),
		of(3, "Grow pineapples", "closed"), of(4, "Say where a second sensor goes", "open"),
		of(5, "Close at night", "open"),
		of(6, "Measure the humidity", "closed"), of(7, "Paint it black", "closed")}
	list[0].Labels = []page.Label{{Name: "bug", Color: "d73a4a"}, {Name: "wontfix", Color: "ffffff"}}
	list[0].Comments, list[0].Locked, list[0].Assignees = 12, true, samplePeople[:2]
	list[0].Milestone = &page.Milestone{Number: 1, Title: "Before the summer", State: "open", DueOn: sampleTime}
	list[2].StateReason = "not_planned"
	list[3].Pull, list[4].Pull, list[4].Draft, list[5].Pull, list[6].Pull = waiting, waiting, true, merged, waiting
	return list
}

func sampleCommits(good *page.Verified) []page.ListedCommit {
	list := make([]page.ListedCommit, 2)
	for n, message := range []string{"Say how to contribute\n\nAnd where to ask.", "Close the windows at night"} {
		c := &list[n]
		c.SHA, c.Author, c.Commit.Commit.Message = "5f3220f0c1d2e3f405162738495a6b7c8d9e0f11", &samplePeople[n], message
		c.Page, c.Tree, c.Commit.Commit.Committer.Date = "/site/style#commits", "/site/style#commits", sampleTime
	}
	list[0].Verified = good
	return list
}

// sampleTimeline is a conversation with an entry of each look.
func sampleTimeline() (*talk.Thread, []*talk.Entry) {
	t := &talk.Thread{Issue: sampleIssues()[0], Viewer: &page.Viewer{Login: "alice"}, Act: "/alice/greenhouse/issues/1",
		Here: "/site/style", MayComment: true,
		Repo: &page.Head{Path: "/alice/greenhouse", Access: &repo.Access{Repo: &repo.Repo{Name: "greenhouse",
			Owner: account.Account{Login: "alice"}}}}}
	said := page.Comment{User: &samplePeople[1], Association: "COLLABORATOR", CreatedAt: sampleTime,
		Reactions: page.Reactions{PlusOne: 2, Heart: 1}}
	list := []*talk.Entry{{Event: "commented", Box: &talk.Box{Comment: said, Thread: t,
		Anchor: "issuecomment-1", Number: 1,
		Edit: "/site/style", Own: []string{"heart"}, Shown: "<p>They should open at <b>seven</b>.</p>"}}}
	for _, e := range []talk.Entry{
		{Event: "labeled", Added: []page.Label{{Name: "bug", Color: "d73a4a"}}},
		{Event: "assigned", Assignee: &samplePeople[0]},
		{Event: "milestoned", Milestone: "Before the summer"}, {Event: "locked", LockReason: "resolved"},
		{Event: "pinned"},
		{Event: "renamed", Rename: &issue.Rename{From: "Vents", To: "The vents open too late"}},
		{Event: "cross-referenced", Source: sampleIssues()[3]}, {Event: "closed", StateReason: "completed"},
		{Event: "closed", StateReason: "not_planned"}, {Event: "reopened"}} {
		e.Actor, e.CreatedAt = &samplePeople[1], sampleTime
		list = append(list, &e)
	}
	return t, list
}

func sampleFiles() []page.ChangedFile {
	changed := page.ChangedFile{Filename: "windows/night.go", Status: "modified", Brief: &page.FileBrief{}}
	diff.Between(&changed, sampleCode, strings.Replace(sampleCode, "colder than limit", "colder than the limit", 1))
	added := page.ChangedFile{Filename: "docs/pipes.txt", Status: "added", Brief: &page.FileBrief{}}
	diff.Between(&added, "", "Pipes go below the beds.\n")
	return []page.ChangedFile{changed, added}
}
