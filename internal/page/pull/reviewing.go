package pull

import (
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/pull/{number}/comments
//
// Comment says something of lines of the pull request, or with reply_to answers a comment: at once, or with
// review=1 as a part of the viewer's review, which is begun if need be.
func (p *Pages) Comment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	body := map[string]any{"body": f.Get("body")}
	if to, err := strconv.ParseInt(f.Get("reply_to"), 10, 64); err == nil {
		body["in_reply_to"] = to
	} else {
		addPlace(body, f)
	}
	q := inside.Request{Method: http.MethodPost, Path: api(r, a, "comments")}
	if f.Checked("review") {
		q.Handler = p.with.CreatePending
	}
	var made struct{ ID int64 }
	err = p.kit.Do(r, q, body, &made)
	return p.led(w, r, a, f, "discussion_r"+strconv.FormatInt(made.ID, 10), err)
}

// addPlace says where a comment stands.
func addPlace(body map[string]any, f page.Form) {
	body["commit_id"], body["path"], body["side"] = f.Get("commit"), f.Get("path"), "RIGHT"
	if f.Get("side") == "LEFT" {
		body["side"] = "LEFT"
	}
	if f.Text("line") == "" {
		body["subject_type"] = "file"
		return
	}
	line, _ := strconv.ParseInt(f.Text("line"), 10, 64) // 0 is in no diff
	body["line"] = line
	if start, err := strconv.ParseInt(f.Text("start"), 10, 64); err == nil && start != line {
		body["start_line"], body["start_side"] = min(start, line), body["side"]
		body["line"] = max(start, line)
	}
}

type editView struct {
	page.Frame
	Comment lineComment
	To      string
	Text    string
	Return  string
}

// commentPath is the address of the request's comment in the API.
func commentPath(r *http.Request, a *repo.Access) string {
	return web.Path("repos", a.Owner.Login, a.Name, "pulls", "comments", web.Param(r, "id"))
}

// GET /{owner}/{repo}/pull/{number}/comments/{id}
//
// EditComment shows the form that edits a review comment. Error: 404.
func (p *Pages) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.editing(r, a, r.URL.Query())
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "edit.html", v)
}

func (p *Pages) editing(r *http.Request, a *repo.Access, values url.Values) (*editView, error) {
	v := &editView{To: at(r, a) + "/comments" + web.Path(web.Param(r, "id")),
		Return: page.ReturnTo(values.Get("return_to"), at(r, a))}
	if _, err := p.kit.Get(r, commentPath(r, a), nil, &v.Comment); err != nil {
		return nil, err
	}
	v.Text = v.Comment.Text
	var err error
	v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "Edit comment")
	return v, err
}

// POST /{owner}/{repo}/pull/{number}/comments/{id}
//
// SaveComment changes the text of a review comment, or with delete=1 deletes it.
func (p *Pages) SaveComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Checked("delete") {
		return p.led(w, r, a, f, "", orEmpty(p.kit.Change(r, http.MethodDelete, commentPath(r, a), nil, nil)))
	}
	err = p.kit.Change(r, http.MethodPatch, commentPath(r, a), map[string]any{"body": f.Get("body")}, nil)
	if err == nil {
		return page.SeeOther(w, r, back(r, a, f, "discussion_r"+web.Param(r, "id")))
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.editing(r, a, f.Values)
	if err != nil {
		return err
	}
	v.Text, v.Problem = f.Get("body"), problem
	return p.t.Again(w, r, "edit.html", problem, v)
}

// POST /{owner}/{repo}/pull/{number}/reviews
//
// Review submits the viewer's review: with the comments that wait, or a new one. event is COMMENT, APPROVE or
// REQUEST_CHANGES; DISCARD deletes what waits.
func (p *Pages) Review(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var now progress
	if _, err := p.kit.Read(r, inside.Request{Path: api(r, a), Handler: p.with.Progress}, &now); err != nil {
		return err
	}
	pending := api(r, a, "reviews", strconv.FormatInt(now.Pending, 10))
	switch {
	case f.Get("event") == "DISCARD" && now.Pending == 0:
		return page.SeeOther(w, r, at(r, a)) // it is gone already
	case f.Get("event") == "DISCARD":
		return p.led(w, r, a, f, "", p.kit.Change(r, http.MethodDelete, pending, nil, nil))
	}
	body := map[string]any{"event": f.Get("event"), "body": f.Get("body")}
	var made struct{ ID int64 }
	if now.Pending != 0 {
		err = p.kit.Change(r, http.MethodPost, pending+"/events", body, &made)
	} else {
		if sha := f.Get("commit"); sha != "" {
			body["commit_id"] = sha
		}
		err = p.kit.Change(r, http.MethodPost, api(r, a, "reviews"), body, &made)
	}
	if err != nil {
		return p.refused(w, r, a, f, err)
	}
	return page.SeeOther(w, r, at(r, a)+"#pullrequestreview-"+strconv.FormatInt(made.ID, 10))
}

// POST /{owner}/{repo}/pull/{number}/reviews/{id}
//
// ChangeReview dismisses a review with a message, or changes the text of the viewer's own.
func (p *Pages) ChangeReview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	path := api(r, a, "reviews", web.Param(r, "id"))
	switch {
	case f.Checked("dismiss"):
		err = p.kit.Change(r, http.MethodPut, path+"/dismissals",
			map[string]any{"message": f.Get("body")}, nil)
	case f.Text("body") == "":
		err = errs.New(errs.Invalid, "A review needs a text here.")
	default:
		err = p.kit.Change(r, http.MethodPut, path, map[string]any{"body": f.Get("body")}, nil)
	}
	return p.led(w, r, a, f, "pullrequestreview-"+web.Param(r, "id"), err)
}
