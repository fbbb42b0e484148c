package pull

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const maxApplied = 50 // suggestions of one commit

// replacement is a suggestion's new text for lines of a file.
type replacement struct {
	path        string
	first, last int64
	lines       []string
	old         []string // the last of the lines that it replaces, as the comment's hunk has them
}

// POST /{owner}/{repo}/pull/{number}/suggestions
//
// Apply commits the suggestions of the comments to the head branch, in one commit, if the head is the one
// that the form showed. The viewer may push there.
func (p *Pages) Apply(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	return p.led(w, r, a, f, "", p.apply(r, a, f))
}

func (p *Pages) apply(r *http.Request, a *repo.Access, f page.Form) error {
	var of pull
	if _, err := p.kit.Get(r, api(r, a), nil, &of); err != nil {
		return err
	}
	ids := f.List("comment")
	switch {
	case len(ids) == 0 || len(ids) > maxApplied:
		return errs.Newf(errs.Invalid, "Choose the suggestions: at most %d go into one commit.", maxApplied)
	case of.State != "open" || of.Head.Repo == nil:
		return errs.New(errs.Invalid, "The branch of this pull request can no longer be changed.")
	case f.Get("sha") != of.Head.SHA:
		return errs.New(errs.Conflict, "The branch was modified. Look at the suggestions again.")
	}
	list, authors, err := p.replacements(r, a, &of, ids)
	if err != nil {
		return err
	}
	added := []map[string]string{}
	for _, path := range pathsOf(list) {
		text, err := p.changed(r, &of, path, list)
		if err != nil {
			return err
		}
		added = append(added, map[string]string{"path": path,
			"contents": base64.StdEncoding.EncodeToString(text)})
	}
	body := map[string]any{"branch": of.Head.Ref, "expectedHeadOid": of.Head.SHA, "additions": added,
		"message": message(f, len(ids), authors)}
	q := inside.Request{Method: http.MethodPost,
		Path:    "/repos" + escaped(of.Head.Repo.FullName) + "/git/commits",
		Handler: p.with.CommitFiles}
	if err := p.kit.Do(r, q, body, nil); err != nil {
		return err
	}
	return p.settle(r, a, ids)
}

// settle resolves the threads whose suggestions were taken, as far as the viewer may.
func (p *Pages) settle(r *http.Request, a *repo.Access, ids []string) error {
	for _, id := range ids {
		q := inside.Request{Method: http.MethodPatch, Handler: p.with.ResolveThread,
			Path: web.Path("repos", a.Owner.Login, a.Name, "pulls", "comments", id)}
		if err := p.kit.Do(r, q, map[string]any{"resolved": true}, nil); err != nil {
			if errs.Is(err, errs.Forbidden) || errs.Is(err, errs.NotFound) {
				return nil
			}
			return err
		}
	}
	return nil
}

// replacements reads the suggestions of comments.
func (p *Pages) replacements(
	r *http.Request, a *repo.Access, of *pull, ids []string,
) (list []replacement, authors []page.User, err error) {
	for _, id := range ids {
		c := &lineComment{}
		if _, err := p.kit.Get(r, web.Path("repos", a.Owner.Login, a.Name, "pulls", "comments", id),
			nil, c); err != nil {
			return nil, nil, err
		}
		_, texts := suggestions(c.Body)
		if len(texts) != 1 || c.Outdated() || c.Side != "RIGHT" || c.Line < 1 || c.Commit != of.Head.SHA {
			return nil, nil, errs.New(errs.Invalid,
				"This suggestion is outdated, or is none: nothing was committed.")
		}
		first := c.Line
		if c.Start > 0 {
			first = c.Start
		}
		list = append(list, replacement{c.Path, first, c.Line, linesOf(texts[0]), c.lines(hunk(c))})
		if c.User != nil && !slices.ContainsFunc(authors, func(u page.User) bool {
			return u.ID == c.User.ID
		}) {
			authors = append(authors, *c.User)
		}
	}
	return list, authors, nil
}

func pathsOf(list []replacement) (paths []string) {
	for _, r := range list {
		if !slices.Contains(paths, r.path) {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// changed is a file of the head with its replacements, from the last line to the first. Each keeps the kind
// of line end that the file has there.
func (p *Pages) changed(r *http.Request, of *pull, path string, all []replacement) ([]byte, error) {
	q := inside.Request{Path: "/repos" + escaped(of.Head.Repo.FullName) + "/contents" +
		web.Path(strings.Split(path, "/")...),
		Query: page.Query("ref", of.Head.SHA), Media: "raw"}
	answer, err := p.kit.Send(r, q)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(answer.Body.Bytes(), []byte("\n"))
	var list []replacement
	for _, one := range all {
		if one.path == path {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b replacement) int { return cmp.Compare(b.last, a.last) })
	for n, one := range list {
		if n > 0 && one.last >= list[n-1].first {
			return nil, errs.New(errs.Invalid, "Two of the suggestions change the same lines of "+path+".")
		}
		if one.first < 1 || one.last > int64(len(lines)) || !one.fits(lines[:one.last]) {
			return nil, errs.New(errs.Invalid, "This suggestion is outdated: nothing was committed.")
		}
		end := lines[one.last-1][len(bytes.TrimRight(lines[one.last-1], "\r\n")):]
		made := make([][]byte, len(one.lines))
		for i, text := range one.lines {
			made[i] = append([]byte(text), end...)
			if i < len(one.lines)-1 && len(end) == 0 {
				made[i] = append(made[i], '\n')
			}
		}
		lines = slices.Concat(lines[:one.first-1], made, lines[one.last:])
	}
	return bytes.Join(lines, nil), nil
}

// fits reports that the file has the lines that the suggestion is for: its comment may have been carried
// wrong, and what the API shows of a symbolic link is another file.
func (r *replacement) fits(lines [][]byte) bool {
	for n := range r.old {
		at := len(lines) - 1 - n
		if at < 0 {
			return false
		}
		old, now := r.old[len(r.old)-1-n],
			strings.ToValidUTF8(string(bytes.TrimRight(lines[at], "\r\n")), "\uFFFD")
		if old != now && !(strings.HasSuffix(old, " …") &&
			strings.HasPrefix(now, strings.TrimSuffix(old, " …"))) {
			return false
		}
	}
	return true
}

// message returns the typed message or a default; it names the authors of the suggestions.
func message(f page.Form, n int, authors []page.User) string {
	text := f.Text("message")
	if text == "" {
		text = "Apply suggestion from code review"
		if n > 1 {
			text = "Apply suggestions from code review"
		}
	}
	names := []string{}
	for _, u := range authors {
		names = append(names, "@"+u.Login)
	}
	if len(names) > 0 {
		text += "\n\nSuggested by " + strings.Join(names, ", ")
	}
	return text
}

// escaped is OWNER/NAME as a path.
func escaped(fullName string) string { return web.Path(strings.Split(fullName, "/")...) }
