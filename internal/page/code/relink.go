package code

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"arbor/internal/markdown"
)

// where is where a rendered file stands: addresses of its page, of the raw file, which is at
// /OWNER/REPO/raw/REF/PATH, and of the page of the root of its revision.
type where struct{ page, raw, root string }

// relink resolves the relative links of sanitized HTML against the page of the file, and its
// relative images against the raw file. Headings get links to themselves.
func relink(body string, at where) string {
	from, err := url.Parse(at.page)
	if err != nil {
		return body
	}
	pictures, err := url.Parse(at.raw)
	if err != nil {
		return body
	}
	var b strings.Builder
	heading, inLink := "", false // the id of the open heading
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken, html.SelfClosingTagToken:
			text := string(z.Raw())
			t := z.Token()
			links, shown := moved(t.Attr, from, at.root), besides(&t, pictures)
			if links || shown {
				text = t.String()
			}
			b.WriteString(text)
			inLink = inLink || t.Data == "a"
			if isHeading(t.Data) && !inLink {
				heading = idOf(t.Attr)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			inLink = inLink && tag != "a"
			if isHeading(tag) && heading != "" {
				b.WriteString(`<a class="anchor" href="#` + html.EscapeString(heading) + `" aria-label="Link to this heading"></a>`)
				heading = ""
			}
			b.WriteString("</" + tag + ">")
		default:
			b.Write(z.Raw())
		}
	}
}

func isHeading(tag string) bool {
	return len(tag) == 2 && tag[0] == 'h' && '1' <= tag[1] && tag[1] <= '6'
}

func idOf(list []html.Attribute) string {
	for _, a := range list {
		if a.Key == "id" {
			return a.Val
		}
	}
	return ""
}

// moved changes the addresses of links to files, and reports whether it did. As at GitHub, one that begins with
// a slash is of the repository's root, unless it is an address of this repository on this site.
func moved(list []html.Attribute, from *url.URL, root string) (changed bool) {
	own := strings.Join(strings.SplitAfterN(root, "/", 4)[:3], "") // /OWNER/REPO/
	for n, a := range list {
		to, err := url.Parse(a.Val)
		if a.Key != "href" || err != nil || to.IsAbs() || to.Host != "" || to.Path == "" ||
			strings.HasPrefix(to.Path, own) || markdown.IsAttachment(a.Val) {
			continue
		}
		if rest, ok := strings.CutPrefix(to.EscapedPath(), "/"); ok {
			to.Path, to.RawPath = root+"/"+to.Path[1:], root+"/"+rest
		}
		to = from.ResolveReference(to)
		if isMarkdown(to.Path) && to.Fragment != "" && !strings.HasPrefix(to.Fragment, headingPrefix) {
			to.Fragment, to.RawFragment = headingPrefix+to.Fragment, ""
		}
		list[n].Val, changed = to.String(), true
	}
	return changed
}

// headingPrefix stands before the ids of a rendered file.
const headingPrefix = "user-content-"

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
