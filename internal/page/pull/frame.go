package pull

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// scene is what all pages of one pull request show, and the forms in them need.
type scene struct {
	page.Frame
	Pull     *request
	of       *pull.View
	Act      string // the address of the pull request, below which the forms are
	At       string // the part that is shown: conversation, commits, checks, files
	Progress *review.Progress

	ShownCommit string // that comments on lines are about

	MayComment bool
	MayEdit    bool // title, base, draft; threads to resolve
	MaySort    bool // reviewers
	MayMerge   bool
	MayCommit  bool // to the head branch, as far as the page knows
	Own        bool // the viewer opened it
}

// at is the address of the request's pull request.
func at(r *http.Request, a *repo.Access) string {
	return web.Path(a.Owner.Login, a.Name, "pull", web.Param(r, "number"))
}

// scene reads the request's pull request and makes the frame of a page. Error: 404.
func (p *Pages) scene(r *http.Request, a *repo.Access, part string) (*scene, error) {
	number, err := web.Number(r, "number")
	if err != nil {
		return nil, err
	}
	v, err := p.of.Pulls.Get(r.Context(), a, number)
	if err != nil {
		return nil, err
	}
	s := &scene{Pull: newRequest(v), of: v, Act: at(r, a), At: part,
		ShownCommit: string(v.Head.SHA)}
	title := s.Pull.Title + " · Pull request #" + strconv.FormatInt(s.Pull.Number, 10)
	if s.Frame, err = p.kit.RepoFrame(r, a, "pulls", title); err != nil {
		return nil, err
	}
	if s.Progress, err = p.talk.Reviews.Progress(r.Context(), a, v.Issue.Issue); err != nil {
		return nil, err
	}
	s.rights()
	return s, nil
}

// rights finds out which forms the viewer is offered. What each of them may do its operation decides.
func (s *scene) rights() {
	v, of := s.Viewer, s.Pull
	if v == nil || s.Repo.Archived {
		return
	}
	s.Own = of.User != nil && of.User.ID == v.ID
	s.MayMerge = s.Repo.CanPush()
	s.MayEdit = s.MayMerge || s.Own
	s.MaySort = s.Repo.CanTriage() || s.Own
	s.MayComment = s.MayMerge || !of.Locked
	owner := of.Head.User != nil && of.Head.User.ID == v.ID
	s.MayCommit = of.State == "open" && of.Head.Repo != "" &&
		(!of.Fork() && s.MayMerge || of.Fork() && (owner || s.Own))
}

// Tabs are the parts of a pull request.
func (s *scene) Tabs() []tab {
	return []tab{
		{"conversation", "Conversation", "", s.Pull.Comments + s.Pull.ReviewComments},
		{"commits", "Commits", "/commits", s.Pull.Commits},
		{"checks", "Checks", "/checks", 0},
		{"files", "Files changed", "/files", s.Pull.ChangedFiles},
	}
}

type tab struct {
	Name, Text, Path string
	Count            int64
}

// Issue is the address of the forms that pull requests share with issues.
func (s *scene) Issue() string {
	return s.Repo.Path + "/issues/" + strconv.FormatInt(s.Pull.Number, 10)
}

// refused shows what was wrong with a form on a page of its own, where its own page could not be shown again
// with it: with the way back, and what was typed.
func (p *Pages) refused(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, err error,
) error {
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	frame, err := p.kit.RepoFrame(r, a, "pulls", "This did not work")
	if err != nil {
		return err
	}
	frame.Problem = problem
	v := struct {
		page.Frame
		Text, Back string
	}{frame, f.Get("body"), back(r, a, f, "")}
	return p.t.Again(w, r, "refused.html", problem, v)
}

// back is the page that a form names, or the pull request.
func back(r *http.Request, a *repo.Access, f page.Form, anchor string) string {
	to := page.ReturnTo(f.Get("return_to"), at(r, a))
	if anchor != "" {
		to, _, _ = strings.Cut(to, "#")
		to += "#" + anchor
	}
	return to
}

// led shows the page that a form names, or what was wrong with what it sent.
func (p *Pages) led(
	w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, anchor string, err error,
) error {
	if err != nil {
		return p.refused(w, r, a, f, err)
	}
	return page.SeeOther(w, r, back(r, a, f, anchor))
}

// orEmpty turns 404 and 410 into nil.
func orEmpty(err error) error {
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) {
		return nil
	}
	return err
}
