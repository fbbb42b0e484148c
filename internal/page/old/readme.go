package old

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// readme is the readme of the default branch as the API renders it, with links
// that lead where they do in the repository; empty when there is none, or none
// that is text.
func (p *Pages) readme(r *http.Request, a *repo.Access) (template.HTML, error) {
	var at struct {
		HTMLURL string `json:"html_url"`
	}
	q := question{handler: p.from.Git.GetReadme, path: "/readme"}
	_, err := ask(r, a, q, &at)
	var answer *web.Captured
	if err == nil {
		q.kind = "html"
		answer, err = send(r, a, q)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.Invalid) || errs.Is(err, errs.TooLarge) {
		return "", nil
	}
	if err != nil || answer.Status != http.StatusOK {
		return "", err
	}
	// Trusted: package markdown has sanitized it, and addresses alone change.
	return template.HTML(relink(answer.Body.String(), at.HTMLURL)), nil
}

// relink makes the relative links of sanitized HTML lead where they do from the
// page of the file. Relative pictures there are none.
func relink(body, page string) string {
	from, err := url.Parse(page)
	if err != nil {
		return body
	}
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			raw := string(z.Raw())
			t := z.Token()
			if moved(t.Attr, from) {
				raw = t.String()
			}
			b.WriteString(raw)
		default:
			b.Write(z.Raw())
		}
	}
}

// moved changes relative links among attributes, and reports whether it did.
func moved(list []html.Attribute, from *url.URL) (changed bool) {
	for n, a := range list {
		to, err := url.Parse(a.Val)
		if a.Key != "href" || err != nil || to.IsAbs() || to.Host != "" || to.Path == "" || strings.HasPrefix(to.Path, "/") {
			continue
		}
		list[n].Val, changed = from.ResolveReference(to).String(), true
	}
	return changed
}

// treePath and commitPath are the pages of a branch or a tag, and of a commit.
func treePath(a *repo.Access, ref string) string {
	return web.Path(a.Owner.Login, a.Name, "tree") + web.Path(strings.Split(ref, "/")...)
}

func commitPath(a *repo.Access, sha string) string {
	return web.Path(a.Owner.Login, a.Name, "commit", sha)
}
