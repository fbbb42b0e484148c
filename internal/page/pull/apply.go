package pull

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/pull"
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
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	of, err := p.of.Pulls.Get(r.Context(), a, number)
	if err != nil {
		return err
	}
	ids := f.List("comment")
	switch {
	case len(ids) == 0 || len(ids) > maxApplied:
		return errs.Newf(errs.Invalid, "Choose the suggestions: at most %d go into one commit.", maxApplied)
	case !of.Open || of.Head.Repo == nil:
		return errs.New(errs.Invalid, "The branch of this pull request can no longer be changed.")
	case f.Get("sha") != string(of.HeadSHA):
		return errs.New(errs.Conflict, "The branch was modified. Look at the suggestions again.")
	}
	list, authors, err := p.replacements(r.Context(), a, of, ids)
	if err != nil {
		return err
	}
	if err := p.commit(r, of, list, message(f, len(ids), authors)); err != nil {
		return err
	}
	return p.settle(r, a, ids)
}

// commit commits the files with their replacements to the head branch.
func (p *Pages) commit(r *http.Request, of *pull.View, list []replacement, message string) error {
	head, err := p.kit.Repos.Find(r.Context(), account.CallerFrom(r.Context()), of.Head.Repo.Owner.Login,
		of.Head.Repo.Name)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Write(r, &head.Access, account.Push)
	if err != nil {
		return err
	}
	c := gitdata.FilesCommit{Message: message, Branch: of.HeadRef, Tip: of.HeadSHA}
	for _, path := range pathsOf(list) {
		data, err := p.of.Git.Contents(ctx, &head.Access, string(of.HeadSHA), path)
		if err != nil {
			return err
		}
		if data, err = changed(data, path, list); err != nil {
			return err
		}
		c.Add = append(c.Add, gitdata.FileChange{Path: path, Data: data})
	}
	_, err = p.of.Git.Commit(ctx, &head.Access, c)
	return err
}

// settle resolves the threads whose suggestions were taken, as far as the viewer may.
func (p *Pages) settle(r *http.Request, a *repo.Access, ids []string) error {
	for _, id := range ids {
		err := p.resolve(r, a, id, true)
		switch {
		case errs.Is(err, errs.Forbidden), errs.Is(err, errs.NotFound):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// replacements reads the suggestions of comments.
func (p *Pages) replacements(
	ctx context.Context, a *repo.Access, of *pull.View, ids []string,
) (list []replacement, authors []page.User, err error) {
	for _, text := range ids {
		id, ok := web.ParseNumber(text)
		if !ok {
			return nil, nil, errs.Absent()
		}
		v, err := p.talk.Reviews.Comment(ctx, a, id)
		if err != nil {
			return nil, nil, err
		}
		c := newLineComment(v)
		_, texts := suggestions(c.Body)
		if len(texts) != 1 || c.Outdated || c.Side != diff.Right || c.Line < 1 || c.Commit != string(of.HeadSHA) {
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

// changed is a file with its replacements, from the last line to the first. Each keeps the kind of line end that the
// file has there.
func changed(file []byte, path string, all []replacement) ([]byte, error) {
	lines := bytes.SplitAfter(file, []byte("\n"))
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
		if one.first < 1 || one.last > int64(len(lines)) || !one.applies(lines[:one.last]) {
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

// applies reports that the file has the lines that the suggestion is for: its comment may have been carried
// wrong, and what a symbolic link leads to is another file.
func (r *replacement) applies(lines [][]byte) bool {
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
