package pull

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// The handlers here answer what GraphQL asks of many pull requests of a repository at one time.

// several finds the pull requests of the parameter numbers, and notes them as look does. The caller may not
// change them.
func (api *API) several(r *http.Request, a *repo.Access) (list []*found, err error) {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxNumbered)
	state := api.s.db.State(r.Context())
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		list = list[:0]
		issues, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range issues {
			ids = append(ids, i.ID)
		}
		pulls, err := byIDs(tx, ids)
		for _, i := range issues {
			if p := pulls[i.ID]; p != nil {
				list = append(list, &found{*p, *i})
			}
		}
		return err
	})
	for _, f := range list {
		if err == nil {
			at := numbered{a.ID, f.pull.Number}
			api.s.looked.Put(state, at, *f)
			api.ranges.Put(state, at, f.pull.commitRange())
		}
	}
	return list, err
}

// LookAhead reads the pull requests of the parameter numbers, of each of which the files are asked for next:
// 204.
func (api *API) LookAhead(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if _, err := api.several(r, a); err != nil {
		return err
	}
	return web.NoContent(w)
}

// ListManyCommits answers a page of the names of the commits of each pull request of the parameter numbers:
// an object of lists, with one commit more where there are more than the page holds.
func (api *API) ListManyCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	list, err := api.several(r, a)
	if err != nil {
		return err
	}
	objects, release, err := api.s.repos.Git(r.Context(), a)
	if err != nil {
		return err
	}
	defer release()
	type named struct {
		SHA git.SHA `json:"sha"`
	}
	page, out := web.ReadPage(r), map[int64][]named{}
	for _, f := range list {
		g := f.pull.commitRange()
		shas, _, err := objects.PullCommits(r.Context(), g.Base, g.Head)
		if err != nil {
			return err
		}
		shas = shas[min(int64(len(shas)), page.Offset()):]
		for _, sha := range shas[:min(int64(len(shas)), page.Size+1)] {
			out[f.pull.Number] = append(out[f.pull.Number], named{sha})
		}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// mergeTextJSON is what a merge writes unless it is told something else.
type mergeTextJSON struct {
	Headline string `json:"headline"`
	Body     string `json:"body"`
}

// ListMergeTexts answers the headline and the body that a merge by the parameter method (merge, squash or
// rebase) of each pull request of the parameter numbers writes unless it is told others: an object by number.
func (api *API) ListMergeTexts(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	list, err := api.several(r, a)
	if err != nil {
		return err
	}
	ctx, method := r.Context(), web.QueryOf(r).Get("method")
	var owners map[account.ID]*account.Account
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		ids := make([]account.ID, len(list))
		for n, f := range list {
			ids[n] = f.pull.HeadOwnerID
		}
		owners, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	if err != nil {
		return err
	}
	var objects *git.Repository
	if method == "squash" {
		var release func()
		if objects, release, err = api.s.repos.Git(ctx, a); err != nil {
			return err
		}
		defer release()
	}
	out := map[string]mergeTextJSON{}
	for _, f := range list {
		text, err := f.mergeText(ctx, objects, owners[f.pull.HeadOwnerID], a.Merging, method)
		if err != nil {
			return err
		}
		headline, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n")
		out[strconv.FormatInt(f.pull.Number, 10)] = mergeTextJSON{headline, body}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// mergeText is what a merge by a method writes. objects are needed for a squash alone.
func (f *found) mergeText(
	ctx context.Context, objects *git.Repository, owner *account.Account, set repo.Merging, method string,
) (string, error) {
	switch method {
	case "rebase": // the commits keep theirs
		return "", nil
	case "squash":
		text, err := squashedText(ctx, objects, &f.pull, &f.issue, set, MergeOptions{})
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) { // its base or its head is gone
			err = nil
		}
		return text, err
	}
	login := ""
	if owner != nil {
		login = owner.Login
	}
	return mergeText(&f.pull, &f.issue, login, set, MergeOptions{}), nil
}
