package markdown

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxDepth = 100             // open elements; browsers and package html stop at 512
	prefix   = "user-content-" // of ids and names, so that none shadows one of the page
)

// trait is a set of what matters about an element when tags are balanced.
type trait uint8

const (
	known     trait = 1 << iota
	void            // has no content and no end tag
	closesP         // cannot stand in a paragraph
	special         // an item's end is not looked for beyond it
	tablePart       // stands in a table only
	quiet           // no links are made in it
	heading
)

// traits returns 0 for elements that are not allowed.
func traits(tag string) trait {
	switch tag {
	case "a", "code", "tt":
		return known | quiet
	case "abbr", "b", "bdo", "cite", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "rp", "rt", "ruby",
		"s", "samp",
		"small", "span", "strike", "strong", "sub", "sup", "time", "var":
		return known
	case "br", "img", "input", "wbr":
		return known | void
	case "hr":
		return known | void | closesP
	case "pre":
		return known | closesP | special | quiet
	case "div", "p": // special in HTML too, but an item's end is looked for beyond them
		return known | closesP
	case "blockquote", "dd", "details", "dl", "dt", "figcaption", "figure", "li", "ol", "section", "summary",
		"table", "ul":
		return known | closesP | special
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return known | closesP | special | heading
	case "caption", "tbody", "td", "tfoot", "th", "thead", "tr":
		return known | special | tablePart
	}
	return 0
}

// balancer writes tags so that the tree which HTML's rules make of them is the
// one that is written: an element that a start tag closes implicitly is closed, an element that
// a table requires is opened, an end tag without start is dropped. Hence nothing
// moves, and nothing is repaired, when a browser reads the result. Elements are
// written with their own names only; the work per tag is bounded by maxDepth.
type balancer struct {
	out     []byte
	open    []string        // elements, outermost first
	text    []byte          // unescaped and not yet written: text between two tags
	hushed  int             // how many of open are quiet
	prePos  int             // where the content of the last <pre> begins
	ids     map[string]bool // that are taken
	dropped map[string]int  // start tags left out, whose end tags must be, too
	found   finds
}

// run reads all of the sanitized HTML.
func (b *balancer) run(sanitized string) {
	z := html.NewTokenizer(strings.NewReader(sanitized))
	for {
		switch z.Next() {
		case html.ErrorToken:
			b.flush()
			b.closeTo(0)
			return
		case html.TextToken:
			b.text = append(b.text, z.Token().Data...)
		case html.StartTagToken, html.SelfClosingTagToken:
			b.start(z.Token())
		case html.EndTagToken:
			b.end(z.Token().Data)
		}
	}
}

func (b *balancer) start(t html.Token) {
	tr := traits(t.Data)
	if tr == 0 || tr&void != 0 && !b.usable(t) {
		return
	}
	if !b.accepts(t.Data, tr) {
		b.dropped[t.Data]++
		return
	}
	b.flush()
	switch {
	case tr&tablePart != 0:
		b.enterTable(t.Data)
	case b.needsCell():
		b.openCell()
	}
	b.closeImplied(t.Data, tr)
	b.writeStart(t.Data, t.Attr)
	if tr&void == 0 {
		b.push(t.Data, tr)
	}
}

// usable reports whether an element without content has what makes it one. An
// image without an address becomes its text.
func (b *balancer) usable(t html.Token) bool {
	switch t.Data {
	case "img":
		if attr(t.Attr, "src") == "" {
			b.text = append(b.text, attr(t.Attr, "alt")...)
			return false
		}
	case "input":
		return attr(t.Attr, "type") != ""
	}
	return true
}

// accepts reports whether the element can stand here at all.
func (b *balancer) accepts(tag string, tr trait) bool {
	switch {
	case tr&tablePart != 0:
		return slices.Contains(b.open, "table")
	case tr&void != 0:
		return true
	case len(b.open) >= maxDepth:
		return false
	case tag == "a": // an outer one that cannot be closed, because a table is between
		return b.find("a") >= 0 || !slices.Contains(b.open, "a")
	case tag == "rt", tag == "rp":
		return b.find("ruby") >= 0
	}
	return true
}

func (b *balancer) end(tag string) {
	if b.dropped[tag] > 0 {
		b.dropped[tag]--
		return
	}
	tr := traits(tag)
	if tr == 0 || tr&void != 0 {
		return
	}
	if i := b.find(tag); i >= 0 {
		b.flush()
		b.closeTo(i)
	}
}

// find returns the index of the innermost open element of that name, or -1. It
// looks out of table cells only for parts of the cell's table.
func (b *balancer) find(tag string) int {
	inTable := tag == "table" || traits(tag)&tablePart != 0
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i] == tag {
			return i
		}
		switch b.open[i] {
		case "table":
			return -1
		case "caption", "td", "th":
			if !inTable {
				return -1
			}
		}
	}
	return -1
}

// closeImplied closes what the start tag ends by HTML's rules.
func (b *balancer) closeImplied(tag string, tr trait) {
	if tr&closesP != 0 {
		b.closeIfOpen("p")
	}
	if tr&heading != 0 && traits(b.top())&heading != 0 {
		b.closeTo(len(b.open) - 1)
	}
	switch tag {
	case "a":
		b.closeIfOpen("a")
	case "li":
		b.closeItem("li", "li")
	case "dd", "dt":
		b.closeItem("dd", "dt")
	case "rt", "rp":
		for slices.Contains([]string{"dd", "dt", "li", "p", "rp", "rt"}, b.top()) {
			b.closeTo(len(b.open) - 1)
		}
	}
}

func (b *balancer) closeIfOpen(tag string) {
	if i := b.find(tag); i >= 0 {
		b.closeTo(i)
	}
}

// closeItem closes the item of a list that stands open in the same list.
func (b *balancer) closeItem(one, other string) {
	for i := len(b.open) - 1; i >= 0; i-- {
		switch tag := b.open[i]; {
		case tag == one || tag == other:
			b.closeTo(i)
			return
		case traits(tag)&special != 0:
			return
		}
	}
}

// top returns the innermost open element, or "".
func (b *balancer) top() string {
	if len(b.open) == 0 {
		return ""
	}
	return b.open[len(b.open)-1]
}

func (b *balancer) push(tag string, tr trait) {
	b.open = append(b.open, tag)
	if tr&quiet != 0 {
		b.hushed++
	}
	if tag == "pre" {
		b.prePos = len(b.out)
	}
}

// closeTo writes the end tags of all elements from index i inwards.
func (b *balancer) closeTo(i int) {
	for len(b.open) > i {
		tag := b.top()
		b.open = b.open[:len(b.open)-1]
		if traits(tag)&quiet != 0 {
			b.hushed--
		}
		b.out = append(b.out, "</"...)
		b.out = append(b.out, tag...)
		b.out = append(b.out, '>')
	}
}
