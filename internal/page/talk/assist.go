package talk

import (
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/preview
//
// Preview answers the text of the field "text" as HTML, as it would stand in a conversation of the
// repository: a page with it, of which the script takes the text alone.
func (p *Pages) Preview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"text": f.Get("text"), "mode": "gfm",
		"context": a.Owner.Login + "/" + a.Name})
	if err != nil {
		return err
	}
	answer, err := p.kit.Send(r, inside.Request{Method: http.MethodPost, Path: "/markdown", Body: body})
	if err != nil {
		return err
	}
	// package markdown has sanitized it
	v := struct{ Body template.HTML }{template.HTML(answer.Body.String())}
	return p.t.Page(w, r, "preview.html", v)
}

// suggestion is one line under a text that is being written.
type suggestion struct{ Insert, Text, More string }

const suggestions = 8

// GET /{owner}/{repo}/suggest
//
// Suggest answers what may complete ?q=@name (people) or ?q=#12, ?q=#word (issues and pull requests of the
// repository), as a list of options. The script shows it under a text.
func (p *Pages) Suggest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), 60).Text
	var list []suggestion
	var err error
	switch {
	case strings.HasPrefix(q, "@"):
		list, err = p.suggestPeople(r, a, strings.ToLower(q[1:]))
	case strings.HasPrefix(q, "#"):
		list, err = p.suggestIssues(r, a, q[1:])
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "suggest.html", list)
}

// suggestPeople finds those who can be assigned in the repository, and others by their names.
func (p *Pages) suggestPeople(r *http.Request, a *repo.Access, begin string) (list []suggestion, err error) {
	var here []page.User
	path := web.Path("repos", a.Owner.Login, a.Name, "assignees")
	if _, err := p.kit.Get(r, path, page.Query("per_page", strconv.Itoa(atOnce)), &here); err != nil &&
		!errs.Is(err, errs.Forbidden) {
		return nil, err
	}
	seen := map[string]bool{}
	add := func(u page.User) {
		if login := strings.ToLower(u.Login); len(list) < suggestions && !seen[login] &&
			strings.HasPrefix(login, begin) {
			seen[login] = true
			list = append(list, suggestion{Insert: "@" + u.Login + " ", Text: u.Login})
		}
	}
	for _, u := range here {
		add(u)
	}
	if begin == "" || len(list) == suggestions ||
		strings.Trim(begin, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return list, nil
	}
	var found struct{ Items []page.User }
	_, err = p.kit.Get(r, "/search/users", page.Query("q", begin+" in:login", "per_page", "20"), &found)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		return list, nil
	}
	for _, u := range found.Items {
		add(u)
	}
	return list, err
}

// suggestIssues finds issues and pull requests by a number, or by words of their titles.
func (p *Pages) suggestIssues(r *http.Request, a *repo.Access, what string) (list []suggestion, err error) {
	add := func(i *page.Issue) {
		number := "#" + strconv.FormatInt(i.Number, 10)
		list = append(list, suggestion{Insert: number + " ", Text: number, More: page.Clip(i.Title, 80).Text})
	}
	if _, err := strconv.ParseInt(what, 10, 64); err == nil {
		i, err := issueOf(p.kit, r, a, what)
		if err == nil {
			add(i)
		} else if !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Gone) {
			return nil, err
		}
		return list, nil
	}
	words := strings.Map(func(c rune) rune {
		if strings.ContainsRune(`":()<>-`, c) {
			return ' '
		}
		return c
	}, what)
	var found struct{ Items []page.Issue }
	q := page.Query("q", words+" in:title repo:"+a.Owner.Login+"/"+a.Name, "per_page",
		strconv.Itoa(suggestions))
	_, err = p.kit.Get(r, "/search/issues", q, &found)
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		return nil, nil
	}
	for n := range found.Items {
		add(&found.Items[n])
	}
	return list, err
}
