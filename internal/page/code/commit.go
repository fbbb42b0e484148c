package code

import (
	"net/http"
	"strings"

	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Bounds of the page of a commit or a comparison; the rest is on the next pages.
const (
	filesPerPage = diff.PerPage
	maxMessage   = 64 << 10 // bytes of the message
)

type commitView struct {
	page.Frame
	Commit   fullCommit
	Message  page.Clipped // without the first line
	Mark     *mark
	Diff     *diff.View
	Comments []comment
	Typed    string // a comment that was not taken
}

// fullCommit is a commit as the API returns it.
type fullCommit struct {
	page.Commit
	Committer *page.User
}

// comment is a comment on a commit.
type comment struct {
	page.Comment
	Path string
	Line int64
}

// Signed reports that the commit has a signature; nobody has checked it.
func (c *fullCommit) Signed() bool { return c.Commit.Commit.Verification.Reason != "unsigned" }

// ByOther reports that another person committed than wrote it.
func (c *fullCommit) ByOther() bool {
	return c.Commit.Commit.Author.Email != c.Commit.Commit.Committer.Email
}

// GET /{owner}/{repo}/commit/{sha}
//
// Commit answers the page of a commit: its message, its author, what is said of it, fifty changed files and a
// hundred comments. SHA.diff and SHA.patch are the text alone. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "sha")
	for _, kind := range [...]string{"diff", "patch"} {
		if sha, ok := strings.CutSuffix(name, "."+kind); ok {
			// whether its right is there
			if err := p.ask(r, p.do.Locate, of(a, "/contents", segments(sha)), nil, nil); err != nil {
				return page.Absent(err)
			}
			return page.Absent(p.do.CommitText(w, r, a))
		}
	}
	v, err := p.commit(r, a, name)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "commit.html", v)
}

func (p *Pages) commit(r *http.Request, a *repo.Access, name string) (*commitView, error) {
	v := &commitView{}
	more, err := p.kit.Get(r, of(a, "/commits", web.Path(name)), page.Part(r, filesPerPage), &v.Commit)
	if err != nil {
		return nil, page.Absent(err)
	}
	sha := v.Commit.SHA
	moreComments, err := p.kit.Get(r, of(a, "/commits/", sha, "/comments"), page.Part(r, 100), &v.Comments)
	if err != nil {
		return nil, err
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", v.Commit.Subject()); err != nil {
		return nil, err
	}
	v.Wide = true
	v.Pages = page.PagesOf(r, more || moreComments)
	v.Message = page.Clip(v.Commit.Rest(), maxMessage)
	marks, err := p.marks(r, a, []string{sha})
	if err != nil {
		return nil, err
	}
	v.Mark = marks[sha]
	v.Diff = diff.New(r, v.Commit.Files, diff.Options{Text: v.Repo.Path + "/commit/" + sha + ".diff"})
	return v, nil
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
	var made struct{ ID int64 }
	body := map[string]any{"body": form.Get("body")}
	if err := p.kit.Change(r, http.MethodPost, of(a, "/commits", web.Path(sha), "/comments"), body,
		&made); err != nil {
		problem, err := page.ProblemOf(err)
		if err != nil {
			return err
		}
		v, err := p.commit(r, a, sha)
		if err != nil {
			return err
		}
		v.Problem, v.Typed = problem, form.Get("body")
		return p.t.Again(w, r, "commit.html", problem, v)
	}
	return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "commit",
		sha)+"#commitcomment-"+decimal(made.ID))
}
