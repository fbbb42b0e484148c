package gitdata

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CommitText serves SHA.diff and SHA.patch, the value of {sha}. Package page has the route.
func (api *API) CommitText(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	text := web.Param(r, "sha")
	for _, kind := range [...]string{"diff", "patch"} {
		if sha, ok := strings.CutSuffix(text, "."+kind); ok {
			return api.commitAs(w, r, a, sha, kind)
		}
	}
	return errs.Absent()
}

// GET /repos/{owner}/{repo}/git/commits/{sha}
//
// GetGitCommit returns a commit as a Git object, by its full SHA.
func (api *API) GetGitCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := git.ParseSHA(web.Param(r, "sha"))
	if err != nil {
		return api.s.orEmpty(r.Context(), a, errs.Absent())
	}
	return api.cached(w, r, a, signed(sha), func(ctx context.Context) (any, error) {
		c, err := api.s.GitCommit(ctx, a, sha)
		if err != nil {
			return nil, err
		}
		verified, err := api.s.verifyCommit(ctx, c)
		if err != nil {
			return nil, err
		}
		dated(w, c.Committer)
		return large{newPlace(ctx, a).gitCommit(c, verified), sizeOf(c)}, nil
	})
}

// GET /repos/{owner}/{repo}/commits/{ref...}
//
// GetCommit returns a commit and its changed files: 300 per page, at most 3,000, each with its patch unless
// that is binary or longer than 3,000 lines. The ref is a branch, a tag or a SHA, which may be abbreviated
// (decision 50); an unknown one is a 422, as at GitHub, and an address below a commit a 404. The media
// types diff, patch and sha return just these.
func (api *API) GetCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.beyondCommit(r, a, api.getCommit(w, r, a))
}

func (api *API) getCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "ref")
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch", "sha":
		return api.commitAs(w, r, a, name, kind)
	}
	return api.cached(w, r, a, named(name, true), func(ctx context.Context) (any, error) {
		return api.answerCommit(ctx, w, r, a, name)
	})
}

// answerCommit renders a commit with a page of its files.
func (api *API) answerCommit(
	ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, name string,
) (any, error) {
	page := web.ReadPage(r)
	if web.QueryOf(r).Get("per_page") == "" {
		page.Size = filesPerPage
	}
	c, err := api.s.fullCommit(ctx, a, name, page, 0)
	if err != nil {
		return nil, err
	}
	dated(w, c.Committer)
	web.Link(w, r, page, int64(min(c.Changes.Total, diff.MaxFiles)))
	out := newPlace(ctx, a).commit(c.CommitView)
	added, removed := c.Changes.Additions, c.Changes.Deletions
	out.Stats = &statsJSON{added + removed, added, removed}
	return commitAnswer{c.Commit, out, fileList{c.Changes}}, nil
}

// commitAs returns a commit as a diff, as a patch, or just its SHA.
func (api *API) commitAs(w http.ResponseWriter, r *http.Request, a *repo.Access, name, kind string) error {
	ctx := r.Context()
	sha, err := api.s.CommitNamed(ctx, a, name)
	if err != nil {
		return err
	}
	if kind == "sha" {
		return text(w, r, []byte(sha), `W/"`+string(sha)+`"`)
	}
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	c, err := objects.Commit(ctx, sha)
	if err != nil {
		return err
	}
	if web.NotModified(w, r, `W/"`+string(sha)+"-"+kind+`"`) {
		return nil
	}
	return stream(w, r, func(to io.Writer) error {
		if kind == "diff" {
			return diff.Write(ctx, to, objects, parentOf(c), sha)
		}
		return diff.WritePatches(ctx, to, objects, sha, c.Parents[:min(1, len(c.Parents))]...)
	})
}

// GET /repos/{owner}/{repo}/commits
//
// ListCommits lists a history, newest first: starting at sha (a branch, tag or SHA), filtered by path,
// author or committer (a login or an address), and by the times since and until.
func (api *API) ListCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	h, err := readHistory(web.QueryOf(r).Get)
	if err != nil {
		return err
	}
	from := named(h.From, true)
	return api.cached(w, r, a, basis{refs: from.refs, people: true, named: from.named},
		func(ctx context.Context) (any, error) {
			page := web.ReadPage(r)
			found, err := api.s.walk(ctx, a, h, page)
			if err != nil {
				return nil, err
			}
			switch {
			case found.none:
			case found.open:
				openLink(w, r, page)
			default:
				web.Link(w, r, page, int64(found.total))
			}
			return commitList{api, a, found.shas}, nil
		})
}

// readHistory reads the parameters, which get returns. Errors: 422 that names the parameter.
func readHistory(get func(name string) string) (*History, error) {
	h := &History{From: get("sha"), Path: strings.TrimSuffix(get("path"), "/"), Author: get("author"),
		Committer: get("committer")}
	if err := h.check(); err != nil {
		return nil, err
	}
	for name, to := range map[string]*time.Time{"since": &h.Since, "until": &h.Until} {
		if value := get(name); value != "" {
			var err error
			if *to, err = ParseTime(name, value); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// openLink sets the Link header of a list of unknown length.
func openLink(w http.ResponseWriter, r *http.Request, page web.Page) {
	web.Link(w, r, page, (page.Number+1)*page.Size)
	parts := strings.Split(w.Header().Get("Link"), ", ")
	kept := parts[:0]
	for _, p := range parts {
		if !strings.HasSuffix(p, `rel="last"`) {
			kept = append(kept, p)
		}
	}
	w.Header().Set("Link", strings.Join(kept, ", "))
}

// POST /repos/{owner}/{repo}/git/commits
//
// CreateCommit creates a commit of an existing tree with existing parents. The author defaults to the
// caller, the committer to the author. Dates keep their offset. A signature is stored as it is; the server signs what an
// App commits without one.
// No ref is updated.
func (api *API) CreateCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	if err := api.s.refuseEmpty(ctx, a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Commit")
	if err != nil {
		return err
	}
	self, err := api.identity(r)
	if err != nil {
		return err
	}
	c := readCommit(body, self)
	if signsFor(r, body) {
		c.Sign = api.s.signatures.Sign
	}
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.CreateCommit(ctx, a, c); err != nil {
		return err
	}
	verified, err := api.s.verifyCommit(ctx, c)
	if err != nil {
		return err
	}
	payload := newPlace(ctx, a).gitCommit(c, verified)
	return web.Created(w, r, payload.URL, payload)
}

// readCommit reads the body and records errors in it.
func readCommit(body *web.Object, self git.Signature) *git.Commit {
	body.Require("message", "tree")
	c := &git.Commit{Message: body.String("message", 0).Value, Tree: readSHA(body, "tree", false)}
	for i, parent := range body.Strings("parents", maxParents, 0).Value {
		field := "parents[" + strconv.Itoa(i) + "]"
		if sha := parseSHA(&body.Faults, field, parent); sha != "" {
			c.Parents = append(c.Parents, sha)
		}
	}
	c.Author = readPerson(body, "author", "Commit", self)
	c.Committer = readPerson(body, "committer", "Commit", c.Author)
	c.Signed = strings.TrimRight(strings.ReplaceAll(body.String("signature", 0).Value, "\r\n", "\n"), "\n")
	return c
}

// AnswerCommit writes a commit that was just created, as in lists.
func (api *API) AnswerCommit(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, sha git.SHA,
) error {
	c, err := api.s.commitView(r.Context(), a, sha)
	if err != nil {
		return err
	}
	return web.JSON(w, r, status, newPlace(r.Context(), a).commit(c))
}
