package code

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/search"
	searchcode "arbor/internal/search/code"
	"arbor/internal/web"
)

// maxFound is how many files a search by name shows.
const maxFound = 100

type findView struct {
	at
	Query string
	Files []string
	Total int // that fit
}

// GET /{owner}/{repo}/find/{path...}
//
// Find answers the files of a revision whose paths have the characters of ?q= in their order, the best first; with
// ?open=1 it leads to the best. Error: 404.
func (p *Pages) Find(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "tree")
	if err != nil {
		return err
	}
	v := &findView{at: place, Query: page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), 200).Text}
	v.Title = "Find a file"
	paths, err := p.with.Git.Paths(r.Context(), a, v.At.SHA)
	if err != nil {
		return page.Absent(err)
	}
	v.Files, v.Total = fitting(paths, v.Query)
	if web.QueryOf(r).Get("open") == "1" && v.Query != "" && len(v.Files) > 0 {
		return page.SeeOther(w, r, v.Link("blob", v.Files[0]))
	}
	return p.t.Page(w, r, "find.html", v)
}

// fitting finds the paths that have the query's characters in their order, without regard to case and spaces.
// Those come first that have it in one piece, in their last part, and are short.
func fitting(paths []string, query string) (best []string, total int) {
	query = strings.ToLower(strings.ReplaceAll(query, " ", ""))
	type ranked struct {
		path string
		rank int
	}
	var list []ranked
	for _, path := range paths {
		low := strings.ToLower(path)
		if !hasInOrder(low, query) {
			continue
		}
		x := ranked{path, len(path)}
		name := low[strings.LastIndexByte(low, '/')+1:]
		switch {
		case query == "":
			x.rank = 0 // in git's order
		case name == query:
		case strings.HasPrefix(name, query):
			x.rank += 10_000
		case strings.Contains(name, query):
			x.rank += 20_000
		case strings.Contains(low, query):
			x.rank += 30_000
		case hasInOrder(name, query):
			x.rank += 40_000
		default:
			x.rank += 50_000
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for _, x := range list[:min(len(list), maxFound)] {
		best = append(best, x.path)
	}
	return best, len(list)
}

func hasInOrder(text, characters string) bool {
	for _, c := range characters {
		at := strings.IndexRune(text, c)
		if at < 0 {
			return false
		}
		text = text[at+len(string(c)):]
	}
	return true
}

// resultsPerPage is how many files a page of a search shows.
const resultsPerPage = 20

type searchView struct {
	page.Frame
	Query   string
	Total   int64
	Whole   bool
	Results []result
}

// result is a file in which the words stand.
type result struct{ *searchcode.Hit }

// found is a line of a fragment.
type found struct {
	Number int
	Href   string
	Pieces []piece
}

// piece is a part of a line, which matches or does not.
type piece struct {
	Text string
	Hit  bool
}

// Fragments are lines of the file around what matches, with links to them in a file's page.
func (x *result) Fragments(file string) (list [][]found) {
	for _, m := range x.Matches {
		if m.Property == "path" {
			continue
		}
		lines := []found{{Number: m.Line, Href: file + "#L" + strconv.Itoa(m.Line)}}
		add := func(text string, hit bool) {
			for n, part := range strings.Split(text, "\n") {
				if n > 0 {
					number := lines[len(lines)-1].Number + 1
					lines = append(lines, found{Number: number, Href: file + "#L" + strconv.Itoa(number)})
				}
				if part != "" {
					last := &lines[len(lines)-1]
					last.Pieces = append(last.Pieces, piece{part, hit})
				}
			}
		}
		runes, from := []rune(m.Fragment), 0
		for _, hit := range m.Matches {
			a, b := hit.Indices[0], hit.Indices[1]
			if a < from || b > len(runes) || a > b {
				continue
			}
			add(string(runes[from:a]), false)
			add(string(runes[a:b]), true)
			from = b
		}
		add(string(runes[from:]), false)
		list = append(list, lines)
	}
	return list
}

// GET /{owner}/{repo}/search
//
// Search answers the files of the default branch in which the words of ?q= stand. Errors: those of the API.
func (p *Pages) Search(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	frame, err := p.kit.RepoFrame(r, a, "code", "Search this repository's code")
	if err != nil {
		return err
	}
	v := &searchView{Frame: frame, Query: page.Clip(strings.TrimSpace(web.QueryOf(r).Get("q")), 256).Text}
	if v.Query == "" {
		return p.t.Page(w, r, "search.html", v)
	}
	found, err := p.with.Searches.Find(r.Context(), search.Question{Text: v.Query + " repo:" + a.FullName(),
		Page: web.Page{Number: web.ReadPage(r).Number, Size: resultsPerPage}, Caller: page.Reader(r), Fragments: true})
	if err != nil {
		return p.t.Refuse(w, r, "search.html", err, v)
	}
	v.Total, v.Whole = found.Total, !found.Part
	for _, hit := range found.Items {
		hit.Path = page.Valid(hit.Path)
		v.Results = append(v.Results, result{hit})
	}
	v.Pages = page.PagesOf(r, found.More(web.Page{Number: web.ReadPage(r).Number, Size: resultsPerPage}))
	return p.t.Page(w, r, "search.html", v)
}
