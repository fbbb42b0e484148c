// Package help serves the documentation in the folder docs.
//
//   - /help, /help/{topic}: help.go
package help

import (
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"arbor/docs"
	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages.
func New(kit *page.Kit) *Pages { return &Pages{kit, roomTemplates} }

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	free := p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /help", p.Index),
		free.Anyone("GET /help/{topic}", p.Page),
	}
}

// GET /help
//
// Index answers the list of all pages of the documentation.
func (p *Pages) Index(w http.ResponseWriter, r *http.Request) error { return p.show(w, r, "README") }

// GET /help/{topic}
//
// Page answers one page of the documentation. Error: 404.
func (p *Pages) Page(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "topic")
	if name == "README" {
		return errs.Absent()
	}
	return p.show(w, r, name)
}

type view struct {
	page.Frame
	Index bool
	HTML  template.HTML
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, name string) error {
	rendered, err := rendering()
	if err != nil {
		return err
	}
	text, ok := rendered[name]
	if !ok {
		return errs.Absent()
	}
	v := &view{Index: name == "README", HTML: text.html}
	v.Frame, err = p.kit.Frame(r, text.title)
	return p.t.Show(w, r, "help.html", v, err)
}

// document is one page, rendered.
type document struct {
	title string
	html  template.HTML // sanitized by package markdown
}

// rendering renders all pages, once, by the names of their files without ".md".
var rendering = sync.OnceValues(func() (map[string]document, error) {
	names, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		return nil, err
	}
	pages := map[string]document{}
	for _, name := range names {
		text, err := docs.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		source := string(text)
		_, title, _ := strings.Cut(source, "# ")
		title, _, _ = strings.Cut(title, "\n")
		html := markdown.Parse(withLinks(source)).HTML(markdown.Links{})
		html = strings.ReplaceAll(html, "<pre>", `<pre tabindex="0">`) // wide code scrolls by keyboard, too
		pages[strings.TrimSuffix(name, ".md")] = document{title, template.HTML(html)}
	}
	return pages, nil
})

var (
	linkToPage = regexp.MustCompile(`\]\(([a-z-]+)\.md(#[a-z0-9-]+)?\)`)
	linkToFile = regexp.MustCompile(`\]\((\.\./|README)[^)]*\)`)
)

// withLinks changes links between files to links between pages. Links to files outside docs become plain text,
// since the server does not have those.
func withLinks(source string) string {
	source = linkToFile.ReplaceAllString(source, "]")
	return linkToPage.ReplaceAllStringFunc(source, func(link string) string {
		m := linkToPage.FindStringSubmatch(link)
		anchor := m[2]
		if anchor != "" {
			anchor = "#user-content-" + anchor[1:]
		}
		return "](/help/" + m[1] + anchor + ")"
	})
}
