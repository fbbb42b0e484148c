package talk

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/markdown"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/preview
//
// Preview answers the text of the field "text" as HTML, as it would appear in a conversation of the
// repository. The answer is a whole page; the script uses only the text in it.
func (p *Pages) Preview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	html, err := p.kit.Markdown(r, a, f.Get("text"))
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "preview.html", struct{ Body template.HTML }{html})
}

// suggestion is one line under a text that is being written.
type suggestion struct{ Insert, Text, More string }

const suggestions = 8

// GET /{owner}/{repo}/suggest
//
// Suggest answers what may complete ?q=@name (people, and teams of the repository's organization that the caller
// sees), ?q=#12, ?q=#word (issues and pull requests of the repository) or ?q=:name (emojis), as a list of options. The
// script shows it at the caret.
func (p *Pages) Suggest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), 120).Text
	var list []suggestion
	var err error
	switch {
	case strings.HasPrefix(q, "@"):
		list, err = p.suggestMentions(r, a, strings.ToLower(q[1:]))
	case strings.HasPrefix(q, "#"):
		list, err = p.suggestIssues(r, a, q[1:])
	case strings.HasPrefix(q, ":"):
		list = suggestEmojis(strings.ToLower(q[1:]))
	}
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "suggest.html", list)
}

// suggestMentions finds teams and people. Where teams are found, they have up to half of the places.
func (p *Pages) suggestMentions(r *http.Request, a *repo.Access, begin string) ([]suggestion, error) {
	teams, err := p.suggestTeams(r, a, begin)
	if err != nil || strings.Contains(begin, "/") {
		return teams, err
	}
	people, err := p.suggestPeople(r, a, begin)
	people = people[:min(len(people), suggestions-min(len(teams), suggestions/2))]
	return append(people, teams[:min(len(teams), suggestions-len(people))]...), err
}

// suggestTeams finds the teams of the repository's organization by what follows the slash of @organization/team, or
// without a slash by the beginning of either.
func (p *Pages) suggestTeams(r *http.Request, a *repo.Access, begin string) (list []suggestion, err error) {
	org, slug, slashed := strings.Cut(begin, "/")
	owner := strings.ToLower(a.Owner.Login)
	switch {
	case slashed && org != owner:
		return nil, nil
	case !slashed && strings.HasPrefix(owner, begin):
		slug = ""
	case !slashed:
		slug = begin
	}
	found, err := p.Teams.Beginning(r.Context(), a, slug, suggestions)
	for _, t := range found {
		name := a.Owner.Login + "/" + t.Slug
		list = append(list, suggestion{Insert: "@" + name + " ", Text: name, More: page.Clip(t.Name, 80).Text})
	}
	return list, err
}

// suggestEmojis finds emojis by the beginning of their names, short names first.
func suggestEmojis(begin string) (list []suggestion) {
	var names []string
	for name := range markdown.Emojis() {
		if begin != "" && strings.HasPrefix(name, begin) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	for _, name := range names[:min(len(names), suggestions)] {
		list = append(list, suggestion{Insert: ":" + name + ": ", Text: markdown.Emojis()[name], More: name})
	}
	return list
}

// suggestPeople finds those who can be assigned in the repository, and others by their names.
func (p *Pages) suggestPeople(r *http.Request, a *repo.Access, begin string) (list []suggestion, err error) {
	here, _, err := p.Issues.Assignable(r.Context(), a, page.First(atOnce))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	add := func(name string) {
		if login := strings.ToLower(name); len(list) < suggestions && !seen[login] &&
			strings.HasPrefix(login, begin) {
			seen[login] = true
			list = append(list, suggestion{Insert: "@" + name + " ", Text: name})
		}
	}
	for _, u := range here {
		add(u.Login)
	}
	if begin == "" || len(list) == suggestions ||
		strings.Trim(begin, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return list, nil
	}
	found, err := p.People.Find(r.Context(), search.Question{Text: begin + " in:login", Caller: a.Caller,
		Page: web.Page{Number: 1, Size: 20}})
	switch {
	case errs.Is(err, errs.Invalid), errs.Is(err, errs.Forbidden):
		return list, nil
	case err != nil:
		return list, err
	}
	for _, u := range found.Items {
		add(u.Login)
	}
	return list, nil
}

// suggestIssues finds issues and pull requests by a number, or by words of their titles.
func (p *Pages) suggestIssues(r *http.Request, a *repo.Access, what string) (list []suggestion, err error) {
	add := func(i *issue.Issue) {
		number := "#" + strconv.FormatInt(i.Number, 10)
		list = append(list, suggestion{Insert: number + " ", Text: number, More: page.Clip(i.Title, 80).Text})
	}
	if number, err := strconv.ParseInt(what, 10, 64); err == nil {
		i, err := p.Issues.ByNumber(r.Context(), a, number)
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
	q, err := search.Parse(words + " in:title repo:" + a.FullName())
	if err == nil {
		var found *search.Results
		found, err = p.Searches.Search(r.Context(), a.Caller, q, web.Page{Number: 1, Size: suggestions})
		if err == nil {
			for _, hit := range found.Hits {
				add(hit.Issue)
			}
		}
	}
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Forbidden) {
		return nil, nil
	}
	return list, err
}
