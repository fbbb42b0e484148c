package pull

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Loaders that read what GraphQL shows of several pull requests of a repository.

// several finds the pull requests of the numbers.
func (api *API) several(ctx context.Context, a *repo.Access, numbers []int64) (list []*found, err error) {
	err = api.s.db.Read(ctx, func(tx *db.Tx) error {
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
	return list, err
}

// Files lists a page of the changed files of each pull request of the numbers, without patches.
func (api *API) Files(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[*gitdata.ChangedFile], error) {
	list, err := api.several(ctx, a, numbers)
	if err != nil {
		return nil, err
	}
	out := map[int64]*web.List[*gitdata.ChangedFile]{}
	for _, f := range list {
		if out[f.pull.Number], err = api.git.FilesOf(ctx, a, f.pull.Range(), page); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Commits lists a page of the commits of each pull request of the numbers, as GET
// /repos/{owner}/{repo}/pulls/{number}/commits does.
func (api *API) Commits(
	ctx context.Context, a *repo.Access, numbers []int64, page web.Page,
) (map[int64]*web.List[*gitdata.CommitPayload], error) {
	list, err := api.several(ctx, a, numbers)
	if err != nil {
		return nil, err
	}
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	pages, out := map[int64][]git.SHA{}, map[int64]*web.List[*gitdata.CommitPayload]{}
	var all []git.SHA
	for _, f := range list {
		g := f.pull.Range()
		shas, _, err := objects.PullCommits(ctx, g.Base, g.Head)
		if err != nil {
			return nil, err
		}
		total := int64(len(shas))
		from, to := min(total, page.Offset()), min(total, page.Offset()+page.Size)
		out[f.pull.Number] = &web.List[*gitdata.CommitPayload]{Total: total, More: to < total}
		pages[f.pull.Number], all = shas[from:to], append(all, shas[from:to]...)
	}
	commits, err := api.git.CommitsOf(ctx, a, all)
	for number, shas := range pages {
		for _, sha := range shas {
			out[number].Rows = append(out[number].Rows, commits[sha])
		}
	}
	return out, err
}

// MergeText is the default text of a merge.
type MergeText struct{ Headline, Body string }

// MergeTexts returns the default text of a merge of each pull request by a method: merge, squash or rebase.
func (api *API) MergeTexts(
	ctx context.Context, a *repo.Access, numbers []int64, method string,
) (map[int64]MergeText, error) {
	list, err := api.several(ctx, a, numbers)
	if err != nil {
		return nil, err
	}
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
		return nil, err
	}
	var objects *git.Repository
	if method == "squash" {
		var release func()
		if objects, release, err = api.s.repos.Git(ctx, a); err != nil {
			return nil, err
		}
		defer release()
	}
	out := map[int64]MergeText{}
	for _, f := range list {
		text, err := f.mergeText(ctx, objects, owners[f.pull.HeadOwnerID], a.Merging, method)
		if err != nil {
			return nil, err
		}
		headline, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n")
		out[f.pull.Number] = MergeText{headline, body}
	}
	return out, nil
}

// mergeText returns the default text of a merge by a method. objects is needed only for a squash.
func (f *found) mergeText(
	ctx context.Context, objects *git.Repository, owner *account.Account, set repo.Merging, method string,
) (string, error) {
	switch method {
	case "rebase": // the commits keep their messages
		return "", nil
	case "squash":
		text, err := squashedText(ctx, objects, &f.pull, &f.issue, set, MergeOptions{})
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) { // its base or head is missing
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
