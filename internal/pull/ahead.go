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

// Loaders that read what GraphQL shows of several pull requests.

// found is a pull request and its issue.
type found struct {
	pull  Pull
	issue issue.Issue
}

// several finds the pull requests of the numbers.
func (api *API) several(ctx context.Context, pulls []repo.Of[int64]) (list map[repo.Of[int64]]*found, err error) {
	err = api.s.db.Read(ctx, func(tx *db.Tx) error {
		list = map[repo.Of[int64]]*found{}
		issues, err := Numbered(tx, pulls)
		if err != nil {
			return err
		}
		var ids []issue.ID
		for _, i := range issues {
			ids = append(ids, i.ID)
		}
		rows, err := ByIDs(tx, ids)
		for of, i := range issues {
			if p := rows[i.ID]; p != nil {
				list[of] = &found{*p, *i}
			}
		}
		return err
	})
	return list, err
}

// Files lists a page of the changed files of each pull request of the numbers, without patches.
func (api *API) Files(
	ctx context.Context, pulls []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*gitdata.ChangedFile], error) {
	list, err := api.several(ctx, pulls)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]*web.List[*gitdata.ChangedFile]{}
	for of, f := range list {
		if out[of], err = api.git.FilesOf(ctx, of.In, f.pull.Range(), page); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Commits lists a page of the commits of each pull request of the numbers, as GET
// /repos/{owner}/{repo}/pulls/{number}/commits does.
func (api *API) Commits(
	ctx context.Context, pulls []repo.Of[int64], page web.Page,
) (map[repo.Of[int64]]*web.List[*gitdata.CommitPayload], error) {
	list, err := api.several(ctx, pulls)
	if err != nil {
		return nil, err
	}
	pages, out := map[repo.Of[int64]][]git.SHA{}, map[repo.Of[int64]]*web.List[*gitdata.CommitPayload]{}
	var all []repo.Of[git.SHA]
	for of, f := range list {
		shas, err := api.commitsOf(ctx, of.In, &f.pull)
		if err != nil {
			return nil, err
		}
		total := int64(len(shas))
		from, to := min(total, page.Offset()), min(total, page.Offset()+page.Size)
		out[of] = &web.List[*gitdata.CommitPayload]{Total: total, More: to < total}
		pages[of], all = shas[from:to], append(all, repo.AllOf(of.In, shas[from:to])...)
	}
	commits, err := api.git.CommitsOf(ctx, all)
	for of, shas := range pages {
		for _, sha := range shas {
			out[of].Rows = append(out[of].Rows, commits[repo.Of[git.SHA]{In: of.In, Key: sha}])
		}
	}
	return out, err
}

// commitsOf returns the commits of a pull request, oldest first.
func (api *API) commitsOf(ctx context.Context, a *repo.Access, p *Pull) ([]git.SHA, error) {
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	shas, _, err := objects.PullCommits(ctx, p.BaseSHA, p.HeadSHA)
	return shas, err
}

// MergeText is the default text of a merge.
type MergeText struct{ Headline, Body string }

// MergeTexts returns the default text of a merge of each pull request by a method: merge, squash or rebase.
func (api *API) MergeTexts(
	ctx context.Context, pulls []repo.Of[int64], method string,
) (map[repo.Of[int64]]MergeText, error) {
	list, err := api.several(ctx, pulls)
	if err != nil {
		return nil, err
	}
	var owners map[account.ID]*account.Account
	err = api.s.db.Read(ctx, func(tx *db.Tx) (err error) {
		var ids []account.ID
		for _, f := range list {
			ids = append(ids, f.pull.HeadOwnerID)
		}
		owners, err = account.ByIDs(tx, db.Unique(ids))
		return err
	})
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[int64]]MergeText{}
	for of, f := range list {
		text, err := api.mergeText(ctx, of.In, f, owners[f.pull.HeadOwnerID], method)
		if err != nil {
			return nil, err
		}
		headline, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n\n")
		out[of] = MergeText{headline, body}
	}
	return out, nil
}

// mergeText returns the default text of a merge of one pull request. It reads commits only for a squash.
func (api *API) mergeText(
	ctx context.Context, a *repo.Access, f *found, owner *account.Account, method string,
) (string, error) {
	var objects *git.Repository
	if method == "squash" {
		var release func()
		var err error
		if objects, release, err = api.s.repos.Git(ctx, a); err != nil {
			return "", err
		}
		defer release()
	}
	return f.mergeText(ctx, objects, owner, a.Merging, method)
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
