// Package text renders the texts of issues, comments and reviews in the requested media type.
//
//	one.go      a text that is not stored
//	text.go     pages of texts: source, plain text, HTML
//	target.go   the accounts, issues and commits that they link to
//	store.go    the SQL
//
// Images of other hosts get the addresses of package imageproxy.
//
// Texts are Markdown, parsed by package markdown. Only targets that are visible to the caller are linked
// (decision 13).
package text

import (
	"context"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/imageproxy"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Renderer renders texts and caches parsed ones.
type Renderer struct {
	Images *imageproxy.Proxy // shows images of other hosts; nil: they are links. Set before use

	db     *db.DB
	repos  *repo.Service
	parsed *markdown.Cache
}

// cacheBytes is the size of the cache of parsed texts.
const cacheBytes = 32 << 20

// New returns a Renderer.
func New(d *db.DB, repos *repo.Service) *Renderer {
	return &Renderer{db: d, repos: repos, parsed: markdown.NewCache(cacheBytes)}
}

// Stats returns statistics of the cache of parsed texts.
func (r *Renderer) Stats() cache.Stats { return r.parsed.Stats("texts") }

// Source is a text in a repository. All sources of a page must have the same caller.
type Source struct {
	Access *repo.Access
	Body   *string // nil: empty
}

// Payload holds the members of a payload for a text in the requested media type (decision 29). Nil members
// are omitted; a pointer to nil is null, for an empty text.
type Payload struct {
	Raw  **string `json:"body,omitzero"`
	Text **string `json:"body_text,omitzero"`
	HTML **string `json:"body_html,omitzero"`
}

// Page holds the texts of one response. Each text is rendered when it is requested. Texts are parsed in parts
// of partBytes, so that a page of large texts is never completely in memory in all its forms. The
// references of a part are resolved together, as far as their targets are visible to the caller (decision
// 13).
type Page struct {
	list []Source
	kind string // as in web.Media
	part part
	next func(list []Source) (part, error)
}

// part holds the parsed documents of consecutive texts.
type part struct {
	from    int
	docs    []*markdown.Document
	targets *targets // nil for plain text
}

// escapedTimes is the maximum memory of a text while it is encoded as JSON, as a multiple of its length: a
// control character becomes six bytes. An issue inside another payload is rendered, copied to the encoder's
// buffer, and copied to the response.
const escapedTimes = 3 * 6

// partBytes is the size of texts that are parsed together. A single text may be larger.
const partBytes = 1 << 20

// renderedTimes is the maximum memory of a text while it is rendered, as a multiple of its length: as HTML
// with and without links, as plain text and as JSON.
const renderedTimes = 16

// Page returns the texts of a response in the requested media type. Errors: those of Output.Reserve.
func (r *Renderer) Page(out *web.Output, list []Source) (*Page, error) {
	ctx := out.Context()
	return r.page(ctx, web.From(ctx).Media.Kind, list, out.Reserve)
}

// maxShown is the maximum size in bytes of the texts on a page.
const maxShown = 10 << 20

// HTMLPage returns the texts of a page, rendered as HTML. Their memory is held until the request ends.
// Errors: TooLarge beyond maxShown, those of admission.Hold.
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

// At returns the n-th text.
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
			html = new(p.part.targets.html(doc, src.Access))
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

// HTML returns the sanitized n-th text of an HTMLPage, or "" if it is empty.
func (p *Page) HTML(n int) (string, error) {
	text, err := p.At(n)
	if err != nil || text.HTML == nil || *text.HTML == nil {
		return "", err
	}
	return **text.HTML, nil
}

// read parses the n-th text and those after it, unless it has been parsed.
func (p *Page) read(n int) error {
	if n >= p.part.from && n < p.part.from+len(p.part.docs) {
		return nil
	}
	size, end := p.list[n].size(), n+1
	for end < len(p.list) && size+p.list[end].size() <= partBytes {
		size += p.list[end].size()
		end++
	}
	p.part = part{} // frees its memory before the next one is parsed
	next, err := p.next(p.list[n:end])
	if err == nil {
		next.from = n
		p.part = next
	}
	return err
}

// nextPart parses texts and resolves their references.
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

// parse parses Markdown or returns it from the cache. Before parsing it reserves memory for the text's
// size.
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
