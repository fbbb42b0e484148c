package diff

import (
	"html/template"
	"strconv"
	"strings"

	"arbor/internal/highlight"
)

// A page has thousands of rows, so they hold little besides numbers and text: end tags that HTML can do
// without are left out, as are addresses of lines, which the script makes of a file's and a number.

// HTML is the row of a unified diff.
func (r *Row) HTML() template.HTML {
	var b strings.Builder
	if r.Kind == "h" {
		r.head(&b, "3")
		return template.HTML(b.String()) // escaped, as below
	}
	b.WriteString("<tr")
	r.class(&b)
	b.WriteString("><td>")
	r.number(&b, Left, r.Old)
	b.WriteString("<td>")
	r.number(&b, Right, r.New)
	b.WriteString("<td>")
	r.write(&b)
	return template.HTML(b.String())
}

// HTML is the row of two lines side by side. The cell of a number has the kind; so the style knows that of
// the text's.
func (p *Pair) HTML() template.HTML {
	var b strings.Builder
	if p.Old.Kind == "h" {
		p.Old.head(&b, "4")
		return template.HTML(b.String())
	}
	b.WriteString("<tr>")
	for _, side := range []struct {
		row  *Row
		name string
		n    int64
	}{{&p.Old, Left, p.Old.Old}, {&p.New, Right, p.New.New}} {
		b.WriteString("<td")
		side.row.class(&b)
		b.WriteByte('>')
		side.row.number(&b, side.name, side.n)
		b.WriteString("<td>")
		side.row.write(&b)
	}
	return template.HTML(b.String())
}

// head writes the head of a hunk.
func (r *Row) head(b *strings.Builder, columns string) {
	b.WriteString("<tr class=h><td colspan=" + columns + ">")
	r.write(b)
}

// class writes the kind as a class.
func (r *Row) class(b *strings.Builder) {
	if r.Kind != "" {
		b.WriteString(" class=" + r.Kind)
	}
}

// number writes the number of a line, which may be a link.
func (r *Row) number(b *strings.Builder, side string, n int64) {
	if n == 0 {
		return
	}
	text := strconv.FormatInt(n, 10)
	if r.talk == nil {
		b.WriteString(text)
		return
	}
	b.WriteString(`<a href="` + template.HTMLEscapeString(r.talk.before+side+":"+text+r.talk.after) +
		`" aria-label="Comment on line ` + text + `">` + text + "</a>")
}

// escaper returns HTML of text that stands between tags. Quotes are not markup there.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "\ufffd")

// write writes the row's text, which is escaped.
func (r *Row) write(b *strings.Builder) {
	m := &r.Text
	if r.Colour != "" {
		highlight.Mark(b, r.Colour, len(m.Before), len(m.Before)+len(m.Middle))
		return
	}
	_, _ = escaper.WriteString(b, m.Before)
	if m.Middle != "" {
		b.WriteString("<mark>")
		_, _ = escaper.WriteString(b, m.Middle)
		b.WriteString("</mark>")
	}
	_, _ = escaper.WriteString(b, m.After)
}

// markup is about how many bytes the file's rows add to their text.
func (f *File) markup() (n int) {
	for i := range f.rows {
		if f.rows[i].Text.Middle != "" {
			n += len("<mark></mark>")
		}
	}
	if f.Split {
		return n + len("<tr><td class=d><td><td class=a><td>")*len(pairs(f.rows))
	}
	return n + len("<tr class=a><td><td><td>")*len(f.rows)
}
