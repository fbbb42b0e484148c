package markdown

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// Text returns the words of the body without markup (decision 29): a blank line
// between blocks, a line for each item, row and line break, cells apart by tabs,
// images as their alternative text, code as it was written.
func (d *Document) Text() string {
	if d.text == nil {
		return ""
	}
	return d.text()
}

// plain returns the plain text.
func (d *Document) plain() string {
	var w textWriter
	z := html.NewTokenizer(strings.NewReader(d.html))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimRight(string(w.out), " \t\n")
		case html.TextToken:
			w.text(z.Token().Data)
		case html.StartTagToken:
			w.start(z.Token())
		case html.EndTagToken:
			w.end(z.Token().Data)
		}
	}
}

// textWriter appends text with the white space that tags ask for.
type textWriter struct {
	out   []byte
	lines int  // newlines to write before the next text
	space bool // a space to write before the next text, unless lines are
	cell  bool // a tab to write before the next text, unless lines are
	pre   int  // open <pre>
}

func (w *textWriter) start(t html.Token) {
	switch t.Data {
	case "br":
		w.lines++
	case "img":
		w.text(attr(t.Attr, "alt"))
	case "td", "th":
		w.cell = true
	case "pre":
		w.pre++
		w.lines = max(w.lines, 2)
	default:
		w.end(t.Data)
	}
}

func (w *textWriter) end(tag string) {
	switch tag {
	case "pre":
		w.pre--
		w.out = bytes.TrimRight(w.out, "\n")
		w.lines = max(w.lines, 2)
	case "p", "div", "blockquote", "details", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
		"ol", "section", "summary",
		"table", "ul":
		w.lines = max(w.lines, 2)
	case "li", "tr", "dd", "dt", "caption", "figcaption", "thead", "tbody", "tfoot":
		w.lines = max(w.lines, 1)
	}
}

func (w *textWriter) text(s string) {
	if w.pre > 0 {
		if w.lines > 0 {
			s = strings.TrimLeft(s, "\n")
		}
		if s != "" {
			w.gap()
			w.out = append(w.out, s...)
		}
		return
	}
	rest := strings.TrimLeft(s, " \t\n\f\r")
	w.space = w.space || len(rest) < len(s)
	for i, word := range strings.FieldsFunc(rest, isHTMLSpace) {
		if i > 0 {
			w.out = append(w.out, ' ')
		} else {
			w.gap()
		}
		w.out = append(w.out, word...)
	}
	if rest != "" {
		w.space = isHTMLSpace(rune(rest[len(rest)-1]))
	}
}

// gap writes the white space that is due before the next text.
func (w *textWriter) gap() {
	switch {
	case len(w.out) == 0:
	case w.lines > 0:
		w.out = append(w.out, strings.Repeat("\n", w.lines)...)
	case w.cell:
		w.out = append(w.out, '\t')
	case w.space:
		w.out = append(w.out, ' ')
	}
	w.lines, w.space, w.cell = 0, false, false
}

func isHTMLSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\f' || r == '\r'
}
