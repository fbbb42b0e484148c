package people

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/repo/list"
	"arbor/internal/search"
	"arbor/internal/web"
)

// filter is how a list of repositories is narrowed down and ordered, as the query says.
type filter struct {
	Text, Type, Language, Sort string
	Languages                  []string // that are in the list
}

// On reports that something was asked for.
func (f *filter) On() bool { return f.Text != "" || f.Type != "" || f.Language != "" || f.Sort != "" }

// searched reports what lists of repositories cannot do, and the search of repositories can.
func (f *filter) searched() bool {
	return f.Text != "" || f.Type != "" || f.Language != "" || f.Sort == "stars"
}

func readFilter(r *http.Request) filter {
	q := web.QueryOf(r)
	f := filter{Text: q.Get("q"), Language: q.Get("language")}
	if kind := q.Get("type"); slices.Contains([]string{"public", "private", "sources", "forks", "archived"},
		kind) {
		f.Type = kind
	}
	if sort := q.Get("sort"); sort == "name" || sort == "stars" {
		f.Sort = sort
	}
	return f
}

// repositories reads the account's repositories that the viewer may see. Error: 422 for a text that no search
// understands is shown on the page.
func (p *Pages) repositories(r *http.Request, v *profile) error {
	v.Filter = readFilter(r)
	more, err := p.repos(r, v)
	if v.Filter.searched() && errs.Is(err, errs.Invalid) {
		v.Problem, err = page.ProblemOf(err)
	}
	if err != nil {
		return err
	}
	for _, repo := range v.Repos {
		if repo.Language != "" && !slices.Contains(v.Filter.Languages, repo.Language) {
			v.Filter.Languages = append(v.Filter.Languages, repo.Language)
		}
	}
	slices.Sort(v.Filter.Languages)
	v.Pages = page.PagesOf(r, more)
	return nil
}

func (p *Pages) repos(r *http.Request, v *profile) (more bool, err error) {
	at, reader := page.At(r, perList), page.Reader(r)
	if v.Filter.searched() {
		sort := map[string]string{"": "updated", "stars": "stars"}[v.Filter.Sort]
		found, err := p.of.Searches.Find(r.Context(), search.Question{Text: v.Filter.query(v.Who.Login), Sort: sort,
			Page: at, Caller: reader})
		if err != nil {
			return false, err
		}
		v.Repos = page.NewRepositories(found.Items)
		return found.More(at), nil
	}
	read, kind, order := p.of.Lists.OfUser, "owner", list.Order{By: "pushed", Desc: true}
	if v.Who.IsOrg() {
		read, kind = p.of.Lists.OfOrg, "all"
	}
	if v.Filter.Sort == "name" {
		order = list.Order{By: "full_name"}
	}
	found, total, err := read(r.Context(), reader, v.Who.Login, kind, order, at)
	v.Repos = page.NewRepositories(found)
	return at.Offset()+at.Size < total, err
}

// query is the filter in the language of searches. The text is words there and nothing else.
func (f *filter) query(login string) string {
	words := strings.FieldsFunc(f.Text, func(c rune) bool { return strings.ContainsRune(" \t\n:\"()", c) })
	for n, word := range words {
		words[n] = strings.TrimLeft(word, "-")
	}
	terms := []string{strings.Join(words, " "), "user:" + login}
	switch f.Type {
	case "public", "private":
		terms = append(terms, "is:"+f.Type, "fork:true")
	case "forks":
		terms = append(terms, "fork:only")
	case "archived":
		terms = append(terms, "archived:true", "fork:true")
	case "sources":
	default:
		terms = append(terms, "fork:true")
	}
	if language := strings.ReplaceAll(f.Language, `"`, ""); language != "" {
		terms = append(terms, `language:"`+language+`"`)
	}
	return strings.TrimSpace(strings.Join(terms, " "))
}
