package releases

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Anchor is the id of the release in a page.
func (v *view) Anchor() string { return "release-" + strconv.FormatInt(v.ID, 10) }

// Contents are the ways to react to the release, with how many did so.
func (v *view) Contents() (list []talk.Count) {
	allowed := reaction.Release.Contents()
	for _, c := range talk.Contents(page.NewReactions(v.Rollup)) {
		if slices.Contains(allowed, c.Content) {
			content, _ := reaction.ParseContent(c.Content)
			c.Mine = slices.Contains(v.Own, content)
			list = append(list, c)
		}
	}
	return list
}

// Counts are the reactions that there are.
func (v *view) Counts() []talk.Count {
	return slices.DeleteFunc(v.Contents(), func(c talk.Count) bool { return c.N == 0 })
}

// POST /{owner}/{repo}/releases/{release_id}/reactions
//
// SetReaction adds the viewer's reaction to a release, or removes it if it exists, and redirects to the
// form's return_to. Errors: 401, 403, 404, 422.
func (p *Pages) SetReaction(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	subject, err := p.with.Releases.Subject(ctx, a, id)
	if err != nil {
		return err
	}
	if err := reaction.Toggle(ctx, p.with.DB, a, subject, f.Get("content")); err != nil {
		return err
	}
	to := page.ReturnTo(f.Get("return_to"), web.Path(a.Owner.Login, a.Name, "releases"))
	to, _, _ = strings.Cut(to, "#")
	return page.SeeOther(w, r, to+"#release-"+strconv.FormatInt(id, 10))
}
