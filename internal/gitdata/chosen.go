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

// The handlers here answer what GraphQL asks for and REST has no address for. Their rights are those of the
// routes that GraphQL names.

// maxChosen is how many objects one request asks for by their SHAs.
const maxChosen = 100

// Known leaves those of the objects that are of one type and that the caller may see.
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

// chosen reads the parameter shas, a hundred at most, as Known does.
func (api *API) chosen(r *http.Request, a *repo.Access, kind git.Type) ([]git.SHA, error) {
	return api.Known(r.Context(), a, git.ParseSHAs(web.QueryOf(r).Get("shas"), maxChosen), kind)
}

// ListChosenCommits answers the commits of the parameter shas, as GET /repos/{owner}/{repo}/commits does.
func (api *API) ListChosenCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	shas, err := api.chosen(r, a, git.TypeCommit)
	if err != nil {
		return err
	}
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return commitList{api, a, shas}.render(out.Context(), out)
	})
}

// Commits loads the commits as lists show them, those that the caller may see.
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

// Tags loads the annotated tags that the caller may see, each as GET /repos/{owner}/{repo}/git/tags/{sha} shows
// it.
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

// namedJSON is what a name leads to.
type namedJSON struct {
	SHA  string `json:"sha"`
	Type string `json:"type"`
	Size int64  `json:"size"` // of a blob, in bytes
	Path string `json:"path"` // in its tree; empty where the name had none
}

// GetNamed answers what the parameter name leads to, as git reads it: a branch, a tag, a full or abbreviated
// SHA, and with a colon and a path behind it what is there. An annotated tag is itself. Errors: 404; 409 for
// a repository without any ref; 422 for an abbreviation that fits several commits.
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
		return errs.Absent() // or the commit of a submodule, which is not here
	}
	return web.JSON(w, r, http.StatusOK, found)
}

// maxDated is how many refs can be put in the order of their commits' dates.
const maxDated = 10_000

// chosenRefJSON is a ref with the object that it leads to: that of an annotated tag is behind the tag.
type chosenRefJSON struct {
	refJSON
	LeadsTo string `json:"leads_to"`
}

// ListChosenRefs answers a page of the refs whose names begin with the parameter prefix. The parameter part
// chooses those that have it in the rest of their names, whatever its case; the parameter names chooses these
// alone, with spaces between them. They stand by name, or with order=date by the date of the commit that they
// lead to; direction=desc turns it round. Errors: 409 for a repository without any ref; 422 for more than
// 10,000 refs by date.
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

// byDate puts refs in the order of the dates of the commits that they lead to. Those that lead to none come
// first.
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
