package code

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// relink makes the relative links of sanitized HTML lead where they do from the page of the file, and its relative
// pictures come from beside the raw file.
func relink(body, page, raw string) string {
	from, err := url.Parse(page)
	if err != nil {
		return body
	}
	pictures, err := url.Parse(raw)
	if err != nil {
		return body
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			text := string(z.Raw())
			t := z.Token()
			if moved(t.Attr, "href", from) || moved(t.Attr, "src", pictures) {
				text = t.String()
			}
			b.WriteString(text)
		default:
			b.Write(z.Raw())
		}
	}
}

// moved changes the relative addresses of an attribute, and reports whether it did.
func moved(list []html.Attribute, name string, from *url.URL) (changed bool) {
	for n, a := range list {
		to, err := url.Parse(a.Val)
		if a.Key != name || err != nil || to.IsAbs() || to.Host != "" || to.Path == "" || strings.HasPrefix(to.Path, "/") {
			continue
		}
		list[n].Val, changed = from.ResolveReference(to).String(), true
	}
	return changed
}
