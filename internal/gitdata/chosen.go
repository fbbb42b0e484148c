package gitdata

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Handlers for GraphQL without a REST endpoint. They have the rights of the routes that GraphQL names.

// Known returns those of the objects that have the type and are visible to the caller.
func (api *API) Known(ctx context.Context, a *repo.Access, named []git.SHA, kind git.Type) ([]git.SHA, error) {
	known, err := api.repos.Known(ctx, a, named)
	if err != nil {
		return nil, err
	}
	var shas []git.SHA
	for n, o := range known {
		if o.Type == kind {
			shas = append(shas, named[n])
		}
	}
	return shas, nil
}

// Commits loads those of the commits that are visible to the caller, rendered as in lists.
func (api *API) Commits(
	ctx context.Context, a *repo.Access, named []git.SHA,
) (map[git.SHA]*CommitPayload, error) {
	found, err := api.CommitViews(ctx, a, named)
	p, out := newPlace(ctx, a), map[git.SHA]*CommitPayload{}
	for sha, c := range found {
		out[sha] = p.commit(c)
	}
	return out, err
}

// Tags loads those of the annotated tags that are visible to the caller, as GET
// /repos/{owner}/{repo}/git/tags/{sha} returns them.
func (api *API) Tags(ctx context.Context, a *repo.Access, named []git.SHA) (map[git.SHA]*TagPayload, error) {
	shas, err := api.Known(ctx, a, named, git.TypeTag)
	if err != nil {
		return nil, err
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	p, out, shown := newPlace(ctx, a), web.Unsent(ctx), map[git.SHA]*TagPayload{}
	for _, sha := range shas {
		t, err := objects.Tag(ctx, sha)
		if err != nil {
			return nil, err
		}
		if err := reserve(out, len(t.Message)+len(t.Payload)+len(t.Signed)); err != nil {
			return nil, err
		}
		shown[sha] = new(p.tag(t))
	}
	return shown, nil
}

// namedJSON is the object that a name refers to.
type namedJSON struct {
	SHA  string `json:"sha"`
	Type string `json:"type"`
	Size int64  `json:"size"` // of a blob, in bytes
	Path string `json:"path"` // in its tree; empty if the name has no path
}

// GetNamed resolves the parameter name as git does: a branch, a tag, a full or abbreviated SHA, optionally
// followed by a colon and a path. Annotated tags are not followed. Errors: 404; 409 for a repository
// without refs; 422 for an ambiguous abbreviation.
func (api *API) GetNamed(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name, path, within := strings.Cut(web.QueryOf(r).Get("name"), ":")
	found := namedJSON{}
	if within {
		v, err := api.view(r.Context(), a, name)
		if err != nil {
			return err
		}
		defer v.release()
		entry, err := v.lookup(r.Context(), strings.Trim(path, "/"))
		if err != nil {
			return err
		}
		found = namedJSON{SHA: string(entry.SHA), Type: string(entry.Type), Path: strings.Trim(path, "/")}
	} else {
		sha, err := api.find(r.Context(), a, name, true)
		if err != nil {
			return err
		}
		found.SHA = string(sha)
	}
	known, err := api.repos.Known(r.Context(), a, []git.SHA{git.SHA(found.SHA)})
	if err != nil {
		return err
	}
	if found.Type, found.Size = string(known[0].Type), max(0, known[0].Size); found.Type == "" {
		return errs.Absent() // or the commit of a submodule, which may be missing
	}
	return web.JSON(w, r, http.StatusOK, found)
}

// maxDated is the maximum number of refs ordered by date.
const maxDated = 10_000

// chosenRefJSON is a ref with its object, or the target of its annotated tag.
type chosenRefJSON struct {
	refJSON
	LeadsTo string `json:"leads_to"`
}

// ListChosenRefs lists the refs whose names start with the parameter prefix. The parameter part selects
// those whose remaining name contains it, ignoring case; the parameter names selects refs by name,
// separated by spaces. They are ordered by name, or with order=date by the dates of their commits;
// direction=desc reverses the order. Errors: 409 for a repository without refs; 422 for more than 10,000
// refs by date.
func (api *API) ListChosenRefs(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx, q := r.Context(), web.QueryOf(r)
	found, err := api.matching(ctx, a, q.Get("prefix"))
	if err != nil {
		return err
	}
	part, names := strings.ToLower(q.Get("part")), map[string]bool{}
	for name := range strings.FieldsSeq(q.Get("names")) {
		names[name] = true
	}
	refs := make([]git.Ref, 0, len(found))
	for _, ref := range found {
		if len(names) > 0 && !names[ref.Name] {
			continue
		}
		if strings.Contains(strings.ToLower(strings.TrimPrefix(ref.Name, q.Get("prefix"))), part) {
			refs = append(refs, ref)
		}
	}
	if q.Get("order") == "date" {
		if refs, err = api.byDate(ctx, a, refs); err != nil {
			return err
		}
	}
	if q.Get("direction") == "desc" {
		slices.Reverse(refs)
	}
	page := web.ReadPage(r)
	web.Link(w, r, page, int64(len(refs)))
	refs = refs[min(page.Offset(), int64(len(refs))):]
	refs = refs[:min(page.Size, int64(len(refs)))]
	shown, err := api.renderRefs(ctx, a, refs)
	if err != nil {
		return err
	}
	list := make([]chosenRefJSON, len(shown))
	for n, ref := range shown {
		list[n] = chosenRefJSON{ref, string(cmp.Or(refs[n].Peeled, refs[n].SHA))}
	}
	return web.JSON(w, r, http.StatusOK, list)
}

// byDate orders refs by the dates of their commits. Refs to other objects come first.
func (api *API) byDate(ctx context.Context, a *repo.Access, refs []git.Ref) ([]git.Ref, error) {
	if len(refs) > maxDated {
		return nil, errs.Newf(errs.Invalid, "Only %d refs can be ordered by date.", maxDated)
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	tip := func(ref git.Ref) git.SHA { return cmp.Or(ref.Peeled, ref.SHA) }
	tips := make([]git.SHA, len(refs))
	for n, ref := range refs {
		tips[n] = tip(ref)
	}
	known, err := objects.Known(ctx, tips)
	if err != nil {
		return nil, err
	}
	var commits []git.SHA
	for n, o := range known {
		if o.Type == git.TypeCommit {
			commits = append(commits, tips[n])
		}
	}
	dates := make(map[git.SHA]int64, len(commits))
	err = objects.EachCommits(ctx, commits, func(part []*git.Commit) error {
		for _, c := range part {
			dates[c.SHA] = c.Committer.When.Unix()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(refs, func(x, y git.Ref) int { return cmp.Compare(dates[tip(x)], dates[tip(y)]) })
	return refs, nil
}
