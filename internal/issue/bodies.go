package issue

import (
	"context"

	"arbor/internal/admission"
	"arbor/internal/markdown"
	"arbor/internal/web"
)

// Bodies are the texts of a page. Each is rendered when it is asked for, and the texts are
// parsed in parts of partBytes: so a page of large texts is never in memory in all its
// forms. The references of a part are looked up together, as far as the caller may see
// their targets (decision 13).
type Bodies struct {
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

// Bodies prepares a page of texts for the answer in which they stand. Errors:
// those of Output.Reserve.
func (s *Service) Bodies(out *web.Output, list []Source) (*Bodies, error) {
	ctx := out.Context()
	b := &Bodies{list: list, kind: web.From(ctx).Media.Kind,
		next: func(list []Source) (part, error) { return s.nextPart(ctx, list) }}
	total, largest := 0, 0
	for n := range list {
		total, largest = total+list[n].size(), max(largest, list[n].size())
	}
	if total < 64<<10 {
		return b, nil
	}
	needed := 2*total + escapedTimes*largest
	if b.renders() {
		needed += renderedTimes * min(total, max(largest, partBytes))
	}
	return b, out.Reserve(int64(needed))
}

func (b *Bodies) renders() bool { return b.kind == "text" || b.kind == "html" || b.kind == "full" }

func (s *Source) size() int {
	if s.Body == nil {
		return 0
	}
	return len(*s.Body)
}

// At gives the n-th text.
func (b *Bodies) At(n int) (Body, error) {
	src := &b.list[n]
	if !b.renders() {
		return Body{Raw: &src.Body}, nil
	}
	var text, html *string
	if src.Body != nil {
		if err := b.read(n); err != nil {
			return Body{}, err
		}
		doc := b.part.docs[n-b.part.from]
		if b.kind != "html" {
			text = new(doc.Text())
		}
		if b.kind != "text" {
			html = new(doc.HTML(b.part.targets.links(src.Access)))
		}
	}
	switch b.kind {
	case "text":
		return Body{Text: &text}, nil
	case "html":
		return Body{HTML: &html}, nil
	default:
		return Body{Raw: &src.Body, Text: &text, HTML: &html}, nil
	}
}

// read has the n-th text parsed, with those after it, unless it is.
func (b *Bodies) read(n int) error {
	if n >= b.part.from && n < b.part.from+len(b.part.docs) {
		return nil
	}
	size, end := b.list[n].size(), n+1
	for end < len(b.list) && size+b.list[end].size() <= partBytes {
		size += b.list[end].size()
		end++
	}
	b.part = part{} // its memory is free for the next one
	next, err := b.next(b.list[n:end])
	if err == nil {
		next.from = n
		b.part = next
	}
	return err
}

// nextPart parses texts and finds what they refer to.
func (s *Service) nextPart(ctx context.Context, list []Source) (p part, err error) {
	p.docs = make([]*markdown.Document, len(list))
	for n, src := range list {
		if src.Body == nil {
			continue
		}
		if p.docs[n], err = s.parse(ctx, *src.Body); err != nil {
			return p, err
		}
	}
	if web.From(ctx).Media.Kind != "text" {
		p.targets, err = s.findTargets(ctx, list, p.docs)
	}
	return p, err
}

// parse parses Markdown, mostly from the cache. A text that is not there is admitted by its
// size first.
func (s *Service) parse(ctx context.Context, text string) (*markdown.Document, error) {
	if doc := s.texts.Get(text); doc != nil {
		return doc, nil
	}
	release, err := admission.Memory(ctx, markdown.Cost(len(text)))
	if err != nil {
		return nil, err
	}
	defer release()
	return s.texts.Parse(text), nil
}
