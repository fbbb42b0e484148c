package diff

import (
	"html/template"
	"strconv"
	"strings"
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
	number(&b, r.Old)
	b.WriteString("<td>")
	number(&b, r.New)
	b.WriteString("<td>")
	r.Text.write(&b)
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
		row *Row
		n   int64
	}{{&p.Old, p.Old.Old}, {&p.New, p.New.New}} {
		b.WriteString("<td")
		side.row.class(&b)
		b.WriteByte('>')
		number(&b, side.n)
		b.WriteString("<td>")
		side.row.Text.write(&b)
	}
	return template.HTML(b.String())
}

// head writes the head of a hunk.
func (r *Row) head(b *strings.Builder, columns string) {
	b.WriteString("<tr class=h><td colspan=" + columns + ">")
	r.Text.write(b)
}

// class writes the kind as a class.
func (r *Row) class(b *strings.Builder) {
	if r.Kind != "" {
		b.WriteString(" class=" + r.Kind)
	}
}

func number(b *strings.Builder, n int64) {
	if n != 0 {
		b.WriteString(strconv.FormatInt(n, 10))
	}
}

// escaper returns HTML of text that stands between tags. Quotes are not markup there.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\x00", "\ufffd")

// write writes a line's text, which is escaped.
func (m *Marked) write(b *strings.Builder) {
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
	text := func(m *Marked) int {
		if m.Middle != "" {
			return len("<mark></mark>")
		}
		return 0
	}
	for i := range f.Rows {
		n += len("<tr class=a><td><td><td>") + text(&f.Rows[i].Text)
	}
	for i := range f.Pairs {
		n += len("<tr><td class=d><td><td class=a><td>") + text(&f.Pairs[i].Old.Text) +
			text(&f.Pairs[i].New.Text)
	}
	return n
}
