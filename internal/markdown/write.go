package markdown

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// needsCell reports whether only parts of a table may stand here.
func (b *balancer) needsCell() bool {
	switch b.top() {
	case "table", "thead", "tbody", "tfoot", "tr":
		return true
	}
	return false
}

// openCell opens a cell for content that stands in a table outside of one.
func (b *balancer) openCell() {
	b.enterTable("td")
	b.writeStart("td", nil)
	b.push("td", traits("td"))
}

// enterTable closes and opens what must be for that part of the innermost table.
func (b *balancer) enterTable(tag string) {
	keep := []string{"table"}
	switch tag {
	case "tr":
		keep = []string{"table", "thead", "tbody", "tfoot"}
	case "td", "th":
		keep = []string{"table", "thead", "tbody", "tfoot", "tr"}
	}
	for !slices.Contains(keep, b.top()) {
		b.closeTo(len(b.open) - 1)
	}
	if len(keep) > 1 && b.top() == "table" {
		b.writeStart("tbody", nil)
		b.push("tbody", traits("tbody"))
	}
	if len(keep) > 4 && b.top() != "tr" {
		b.writeStart("tr", nil)
		b.push("tr", traits("tr"))
	}
}

// writeStart writes a start tag, each attribute once.
func (b *balancer) writeStart(tag string, attrs []html.Attribute) {
	b.out = append(b.out, '<')
	b.out = append(b.out, tag...)
	if tag == "input" {
		b.writeBox(attrs)
		return
	}
	for i, a := range attrs {
		if slices.ContainsFunc(attrs[:min(i, 32)], func(o html.Attribute) bool {
			return o.Key == a.Key
		}) || i >= 32 {
			continue
		}
		switch a.Key {
		case "id":
			a.Val = prefixed(a.Val)
			if b.ids[a.Val] {
				continue
			}
			b.ids[a.Val] = true
		case "name":
			a.Val = prefixed(a.Val)
		case "href":
			if len(a.Val) > 1 && a.Val[0] == '#' {
				a.Val = "#" + prefixed(a.Val[1:])
			}
		}
		b.writeAttr(a.Key, a.Val)
	}
	b.out = append(b.out, '>')
}

// writeBox writes a checkbox that is inactive, regardless of its source.
func (b *balancer) writeBox(attrs []html.Attribute) {
	b.writeAttr("type", "checkbox")
	b.writeAttr("class", "task-list-item-checkbox")
	b.writeAttr("disabled", "")
	if slices.ContainsFunc(attrs, func(a html.Attribute) bool { return a.Key == "checked" }) {
		b.writeAttr("checked", "")
		b.writeAttr("aria-label", "Completed task")
	} else {
		b.writeAttr("aria-label", "Incomplete task")
	}
	b.out = append(b.out, '>')
}

func (b *balancer) writeAttr(key, value string) {
	b.out = append(b.out, ' ')
	b.out = append(b.out, key...)
	b.out = append(b.out, `="`...)
	b.out = append(b.out, html.EscapeString(value)...)
	b.out = append(b.out, '"')
}

// flush writes the text before a tag, and notes what it refers to.
func (b *balancer) flush() {
	if len(b.text) == 0 {
		return
	}
	text := string(b.text)
	b.text = b.text[:0]
	if b.needsCell() && strings.Trim(text, " \t\n\f\r") != "" {
		b.openCell()
	}
	if b.top() == "pre" && b.prePos == len(b.out) && text[0] == '\n' { // HTML drops the first one
		if text = text[1:]; strings.HasPrefix(text, "\n") {
			b.out = append(b.out, '\n')
		}
	}
	if b.hushed > 0 {
		b.out = append(b.out, html.EscapeString(text)...)
		return
	}
	done := 0
	s := scanner{text: text, finds: &b.found}
	s.run(func(start, end int, k kind, index int) {
		b.out = append(b.out, html.EscapeString(text[done:start])...)
		at := len(b.out)
		b.out = append(b.out, text[start:end]...) // letters, digits and -._/@# only
		b.found.spans = append(b.found.spans, span{at, len(b.out), k, index})
		done = end
	})
	b.out = append(b.out, html.EscapeString(text[done:])...)
}

func prefixed(name string) string {
	if strings.HasPrefix(name, prefix) {
		return name
	}
	return prefix + name
}

func attr(attrs []html.Attribute, key string) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
