package code

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"arbor/internal/markdown"
)

// relink resolves the relative links of sanitized HTML against the page of the file, and its
// relative images against the raw file, which is at /OWNER/REPO/raw/REF/PATH.
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
			links, shown := moved(t.Attr, from), besides(&t, pictures)
			if links || shown {
				text = t.String()
			}
			b.WriteString(text)
		default:
			b.Write(z.Raw())
		}
	}
}

// moved changes the relative addresses of links, and reports whether it did.
func moved(list []html.Attribute, from *url.URL) (changed bool) {
	for n, a := range list {
		to, err := url.Parse(a.Val)
		if a.Key != "href" || err != nil || to.IsAbs() || to.Host != "" || to.Path == "" ||
			strings.HasPrefix(to.Path, "/") {
			continue
		}
		list[n].Val, changed = from.ResolveReference(to).String(), true
	}
	return changed
}

// besides changes the relative addresses of pictures, and takes those away that are of no picture; it reports
// whether it did either.
func besides(t *html.Token, raw *url.URL) (changed bool) {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		if a.Key == "src" {
			to, ok := picture(a.Val, raw)
			if changed = changed || !ok || to != a.Val; !ok {
				continue
			}
			a.Val = to
		}
		kept = append(kept, a)
	}
	t.Attr = kept
	return changed
}

// picture is where a picture comes from: another host, an attachment, or a raw file of this repository. No
// other address of this site will do: browsers request images with the rights of the reader.
func picture(address string, raw *url.URL) (to string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return "", false
	case u.Host != "", markdown.IsAttachment(address):
		return address, true
	case u.IsAbs() || u.Path == "": // as "http:x", which browsers take as relative
		return "", false
	}
	u = raw.ResolveReference(u)
	own := strings.Join(strings.SplitAfterN(raw.EscapedPath(), "/", 5)[:4], "") // /OWNER/REPO/raw/
	// left by %2e, which is a dot to browsers
	up := slices.Contains(strings.Split(u.Path, "/"), "..")
	return u.String(), strings.HasPrefix(u.EscapedPath(), own) && !up
}
