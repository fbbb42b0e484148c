// Package text renders the texts of issues, comments and reviews in the representation
// that a request asks for.
//
//	one.go      a text that is stored nowhere
//	text.go     pages of texts: source, plain text, HTML
//	target.go   the accounts, issues and commits to which they link
//	store.go    the SQL
//
// Texts are Markdown, which package markdown parses. A link leads only where the caller
// may go (decision 13).
package text

import (
	"context"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Renderer renders texts, and keeps those that were parsed lately.
type Renderer struct {
	db     *db.DB
	repos  *repo.Service
	parsed *markdown.Cache
}

// cacheBytes bounds the cache of parsed texts, in bytes.
const cacheBytes = 32 << 20

// New makes a renderer of the texts in a database.
func New(d *db.DB, repos *repo.Service) *Renderer {
	return &Renderer{db: d, repos: repos, parsed: markdown.NewCache(cacheBytes)}
}

// Stats tells of the cache of parsed texts.
func (r *Renderer) Stats() cache.Stats { return r.parsed.Stats("texts") }

// Source is a text that somebody wrote in a repository. All sources of one page
// have accesses of the same caller.
type Source struct {
	Access *repo.Access
	Body   *string // nil: none
}

// Payload is a text in the representation that a request asks for (decision 29), as
// members of a payload. A nil member is not in that representation; one that leads to
// nil is null, since nobody wrote anything.
type Payload struct {
	Raw  **string `json:"body,omitzero"`
	Text **string `json:"body_text,omitzero"`
	HTML **string `json:"body_html,omitzero"`
}

// Page holds the texts of one answer. Each is rendered when it is asked for, and the texts are
// parsed in parts of partBytes: so a page of large texts is never in memory in all its
// forms. The references of a part are looked up together, as far as the caller may see
// their targets (decision 13).
type Page struct {
	list []Source
	kind string // of web.Media
	part part
	next func(list []Source) (part, error)
}

// part is some texts that follow each other, parsed.
type part struct {
	from    int
	docs    []*markdown.Document
	targets *targets // nil for plain text
}

// escapedTimes is how many times its length a text takes, at most, while it becomes
// JSON: a control character has six bytes there. An issue inside another payload is
// rendered, taken into the encoder's buffer, and then into the answer.
const escapedTimes = 3 * 6

// partBytes is how much of texts is parsed at one time; a single text may be
// larger.
const partBytes = 1 << 20

// renderedTimes is how many times its length a text takes, at most, while it is a
// part of an answer: as HTML with and without links, as plain text, as JSON.
const renderedTimes = 16

// Page prepares a page of texts for the answer in which they stand, in the representation that the request
// asks for. Errors: those of Output.Reserve.
func (r *Renderer) Page(out *web.Output, list []Source) (*Page, error) {
	ctx := out.Context()
	return r.page(ctx, web.From(ctx).Media.Kind, list, out.Reserve)
}

// maxShown is how much text a page for people shows, in bytes.
const maxShown = 10 << 20

// HTMLPage prepares a page of texts whose HTML a page for people shows. Their memory counts until the request
// ends. Errors: TooLarge beyond maxShown, those of admission.Hold.
func (r *Renderer) HTMLPage(ctx context.Context, list []Source) (*Page, error) {
	total := 0
	for n := range list {
		total += list[n].size()
	}
	if total > maxShown {
		return nil, errs.New(errs.TooLarge, "There is too much here for a page: the API has it.")
	}
	if err := admission.Hold(ctx, int64(renderedTimes*total)); err != nil {
		return nil, err
	}
	return r.page(ctx, "html", list, func(int64) error { return nil })
}

func (r *Renderer) page(
	ctx context.Context, kind string, list []Source, reserve func(bytes int64) error,
) (*Page, error) {
	p := &Page{list: list, kind: kind,
		next: func(list []Source) (part, error) { return r.nextPart(ctx, kind, list) }}
	total, largest := 0, 0
	for n := range list {
		total, largest = total+list[n].size(), max(largest, list[n].size())
	}
	if total < 64<<10 {
		return p, nil
	}
	needed := 2*total + escapedTimes*largest
	if p.renders() {
		needed += renderedTimes * min(total, max(largest, partBytes))
	}
	return p, reserve(int64(needed))
}

func (p *Page) renders() bool { return p.kind == "text" || p.kind == "html" || p.kind == "full" }

func (s *Source) size() int {
	if s.Body == nil {
		return 0
	}
	return len(*s.Body)
}

// At gives the n-th text.
func (p *Page) At(n int) (Payload, error) {
	src := &p.list[n]
	if !p.renders() {
		return Payload{Raw: &src.Body}, nil
	}
	var text, html *string
	if src.Body != nil {
		if err := p.read(n); err != nil {
			return Payload{}, err
		}
		doc := p.part.docs[n-p.part.from]
		if p.kind != "html" {
			text = new(doc.Text())
		}
		if p.kind != "text" {
			html = new(doc.HTML(p.part.targets.links(src.Access)))
		}
	}
	switch p.kind {
	case "text":
		return Payload{Text: &text}, nil
	case "html":
		return Payload{HTML: &html}, nil
	default:
		return Payload{Raw: &src.Body, Text: &text, HTML: &html}, nil
	}
}

// HTML returns the n-th text of an HTMLPage, which package markdown sanitized; empty where nobody wrote anything.
func (p *Page) HTML(n int) (string, error) {
	text, err := p.At(n)
	if err != nil || text.HTML == nil || *text.HTML == nil {
		return "", err
	}
	return **text.HTML, nil
}

// read has the n-th text parsed, with those after it, unless it is.
func (p *Page) read(n int) error {
	if n >= p.part.from && n < p.part.from+len(p.part.docs) {
		return nil
	}
	size, end := p.list[n].size(), n+1
	for end < len(p.list) && size+p.list[end].size() <= partBytes {
		size += p.list[end].size()
		end++
	}
	p.part = part{} // its memory is free for the next one
	next, err := p.next(p.list[n:end])
	if err == nil {
		next.from = n
		p.part = next
	}
	return err
}

// nextPart parses texts and finds what they refer to.
func (r *Renderer) nextPart(ctx context.Context, kind string, list []Source) (p part, err error) {
	p.docs = make([]*markdown.Document, len(list))
	for n, src := range list {
		if src.Body == nil {
			continue
		}
		if p.docs[n], err = r.parse(ctx, *src.Body); err != nil {
			return p, err
		}
	}
	if kind != "text" {
		p.targets, err = r.findTargets(ctx, list, p.docs)
	}
	return p, err
}

// parse parses Markdown, mostly from the cache. A text that is not there is admitted by its
// size first.
func (r *Renderer) parse(ctx context.Context, text string) (*markdown.Document, error) {
	if doc := r.parsed.Get(text); doc != nil {
		return doc, nil
	}
	release, err := admission.Memory(ctx, markdown.Cost(len(text)))
	if err != nil {
		return nil, err
	}
	defer release()
	return r.parsed.Parse(text), nil
}
