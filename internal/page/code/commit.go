package code

import (
	"context"
	"html/template"
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/gitdata"
	"arbor/internal/issue/revision"
	"arbor/internal/markdown"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of the page of a commit or a comparison; the rest is on the next pages.
const (
	filesPerPage = diff.PerPage
	maxMessage   = 64 << 10 // bytes of the message

	commentsPerPage = 100
)

type commitView struct {
	page.Frame
	Commit   fullCommit
	Message  page.Clipped  // without the first line
	Said     template.HTML // the message with links
	Mark     *mark
	Diff     *diff.View
	Comments []comment
	Typed    string // a comment that was not taken
}

// fullCommit is a commit with more than lists show.
type fullCommit struct {
	page.Commit
	Committer *page.User
	Parents   []string
}

// comment is a comment on a commit.
type comment struct {
	page.Comment
	Path   string
	Edited *lastEdit // nil: it was not edited
}

// lastEdit says who edited a comment last, and when.
type lastEdit struct {
	By   *page.User // nil: gone
	When time.Time
}

// ByOther reports that another person committed than wrote it.
func (c *fullCommit) ByOther() bool {
	return c.Commit.Commit.Author.Email != c.Commit.Commit.Committer.Email
}

func newFullCommit(v *gitdata.FullCommit) fullCommit {
	c := fullCommit{Commit: page.NewCommit(v.CommitView), Committer: page.NewUser(v.CommittedBy)}
	for _, sha := range v.Parents {
		c.Parents = append(c.Parents, string(sha))
	}
	return c
}

// GET /{owner}/{repo}/commit/{sha}
//
// Commit answers the page of a commit: its message, its author, what is said of it, fifty changed files and a
// hundred comments. SHA.diff and SHA.patch are the text alone. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "sha")
	for _, kind := range [...]string{"diff", "patch"} {
		if _, ok := strings.CutSuffix(name, "."+kind); ok {
			return page.Absent(p.with.Texts.CommitText(w, r, a))
		}
	}
	v, err := p.commit(r, a, name)
	return p.t.Show(w, r, "commit.html", v, err)
}

func (p *Pages) commit(r *http.Request, a *repo.Access, name string) (*commitView, error) {
	v, number := &commitView{}, web.ReadPage(r).Number
	c, err := p.with.Git.FullCommit(r.Context(), a, name, web.Page{Number: number, Size: filesPerPage}, gitdata.PagePatches)
	if err != nil {
		return nil, page.Absent(err)
	}
	v.Commit = newFullCommit(c)
	comments, err := p.with.Comments.List(r.Context(), a, c.SHA, web.Page{Number: number, Size: commentsPerPage})
	if err != nil {
		return nil, err
	}
	if v.Comments, err = p.comments(r.Context(), comments.Rows); err != nil {
		return nil, err
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", v.Commit.Subject()); err != nil {
		return nil, err
	}
	v.Wide = true
	v.Pages = page.PagesOf(r, comments.More || c.Changes.More(web.Page{Number: number, Size: filesPerPage}))
	v.Message = page.Clip(v.Commit.Rest(), maxMessage)
	var links markdown.Autolinks
	if a.Autolinks {
		if links, err = p.with.Autolinks.Links(r.Context(), a); err != nil {
			return nil, err
		}
	}
	v.Said = template.HTML(links.Text(v.Message.Text)) // it is escaped
	marks, err := p.marks(r.Context(), a, c.SHA)
	if err != nil {
		return nil, err
	}
	v.Mark = marks[c.SHA]
	v.Diff = diff.New(r, page.NewChangedFiles(c.Changes),
		diff.Options{Text: v.Repo.Path + "/commit/" + string(c.SHA) + ".diff", Texts: p.kit.Texts,
			Whole: c.Changes.Changes, Paged: true})
	return v, nil
}

// comments returns comments on a commit with their last edits.
func (p *Pages) comments(ctx context.Context, rows []*commitcomment.View) ([]comment, error) {
	texts := make([]revision.Text, len(rows))
	for n, x := range rows {
		texts[n] = revision.Text{Kind: revision.OfCommit, ID: x.ID}
	}
	edits, err := p.with.Edits.Last(ctx, texts)
	list := make([]comment, len(rows))
	for n, x := range rows {
		list[n] = comment{Comment: page.Comment{ID: x.ID, User: page.NewUser(x.Author), Hidden: x.Hidden.String(),
			Body: template.HTML(x.HTML), CreatedAt: page.Moment(x.CreatedAt)}, Path: text(x.Path)}
		if e := edits[texts[n]]; e != nil {
			list[n].Edited = &lastEdit{page.NewUser(e.Editor), page.Moment(e.At)}
		}
	}
	return list, err
}

// POST /{owner}/{repo}/commit/{sha}/comments
//
// AddComment adds a comment to a commit. Errors: those of the API.
func (p *Pages) AddComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	sha := web.Param(r, "sha")
	made, err := p.addComment(r, a, sha, form.Get("body"))
	if err != nil {
		return page.RefuseWith(p.t, w, r, "commit.html", err,
			func(r *http.Request) (*commitView, error) { return p.commit(r, a, sha) },
			func(v *commitView) { v.Typed = form.Get("body") })
	}
	return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "commit",
		sha)+"#commitcomment-"+decimal(made.ID))
}

func (p *Pages) addComment(r *http.Request, a *repo.Access, name, body string) (*commitcomment.Comment, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	sha, err := p.with.Git.CommitNamed(ctx, a, name)
	if err != nil {
		return nil, err
	}
	c := &commitcomment.Comment{SHA: sha, Body: body}
	return c, p.with.Comments.Create(ctx, a, c)
}
