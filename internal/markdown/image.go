package markdown

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Images rewrites the images of a document's HTML. For the address of each, show returns the one to load it from; an
// image whose address that is stays as it is. Where ok is false, the image becomes a link to its address, or
// its text if it stands in a link.
func Images(body string, show func(address string) (from string, ok bool)) string {
	var b strings.Builder
	inLink := false
	for {
		at := strings.Index(body, "<img ") // texts and attributes have no < of their own
		if at < 0 {
			break
		}
		before, tag := body[:at], body[at:at+strings.IndexByte(body[at:], '>')+1]
		if begun, ended := strings.LastIndex(before, "<a "), strings.LastIndex(before, "</a>"); begun != ended {
			inLink = begun > ended
		}
		b.WriteString(before)
		body = body[at+len(tag):]
		z := html.NewTokenizer(strings.NewReader(tag))
		z.Next()
		attrs := z.Token().Attr
		address := strings.TrimSpace(attr(attrs, "src"))
		switch from, ok := show(address); {
		case !ok:
			b.WriteString(instead(address, attr(attrs, "alt"), inLink))
		case from == address:
			b.WriteString(tag)
		default:
			b.WriteString(shownFrom(from, address, attrs))
		}
	}
	if b.Len() == 0 {
		return body
	}
	b.WriteString(body)
	return b.String()
}

// shownFrom is an image that is loaded from another address than its own, which it keeps as at GitHub.
func shownFrom(from, address string, attrs []html.Attribute) string {
	attrs = slices.DeleteFunc(attrs, func(a html.Attribute) bool { return a.Key == "src" })
	t := html.Token{Type: html.StartTagToken, Data: "img", Attr: slices.Concat([]html.Attribute{
		{Key: "src", Val: from}, {Key: "data-canonical-src", Val: address}}, attrs)}
	return t.String()
}

// instead is what stands in the place of an image that is not shown.
func instead(address, alt string, inLink bool) string {
	if alt == "" {
		alt = address
	}
	if inLink {
		return html.EscapeString(alt)
	}
	return `<a href="` + html.EscapeString(address) + `" rel="nofollow">` + html.EscapeString(alt) + `</a>`
}
