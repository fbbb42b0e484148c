package gitdata

import (
	"context"
	"net/http"
	"path"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/readme
//
// GetReadme returns the repository's readme, searched in .github, the root and docs in this order, as at
// GitHub. The media types raw and html return just the file, as stored or rendered.
func (api *API) GetReadme(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.readme(w, r, a, readmeDirs[:]...)
}

// readmeDirs are where the readme of a repository is looked for, in this order.
var readmeDirs = [...]string{".github", "", "docs"}

// ReadmePath is the path of the file that GetReadme answers, at a revision. Error: 404.
func (s *Service) ReadmePath(ctx context.Context, a *repo.Access, ref string) (string, error) {
	v, err := s.view(ctx, a, ref)
	if err != nil {
		return "", err
	}
	defer v.release()
	entry, err := v.readme(ctx, readmeDirs[:])
	return entry.Path, err
}

// GET /repos/{owner}/{repo}/readme/{dir...}
//
// GetDirectoryReadme returns the readme of a directory.
func (api *API) GetDirectoryReadme(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.readme(w, r, a, strings.TrimSuffix(web.Param(r, "dir"), "/"))
}

func (api *API) readme(w http.ResponseWriter, r *http.Request, a *repo.Access, dirs ...string) error {
	return api.found(w, r, a,
		func(ctx context.Context, v *view) (git.TreeEntry, error) { return v.readme(ctx, dirs) },
		func(ctx context.Context, v *view, entry git.TreeEntry) (any, error) { return v.file(ctx, entry) })
}

// found writes the file that find returns, rendered by show. The media types raw and html return just the
// file.
func (api *API) found(
	w http.ResponseWriter, r *http.Request, a *repo.Access,
	find func(context.Context, *view) (git.TreeEntry, error),
	show func(context.Context, *view, git.TreeEntry) (any, error),
) error {
	ref := web.QueryOf(r).Get("ref")
	if kind := web.From(r.Context()).Media.Kind; kind == "raw" || kind == "html" {
		v, err := api.s.view(r.Context(), a, ref)
		if err != nil {
			return err
		}
		defer v.release()
		entry, err := find(r.Context(), v)
		if err != nil {
			return err
		}
		if kind == "html" {
			return api.html(w, r, v, entry)
		}
		return v.raw(w, r, entry)
	}
	return api.cached(w, r, a, named(ref, false), func(ctx context.Context) (any, error) {
		v, err := api.s.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		entry, err := find(ctx, v)
		if err != nil {
			return nil, err
		}
		return show(ctx, v, entry)
	})
}

// readme returns the readme in the first of the directories that has one.
func (v *view) readme(ctx context.Context, dirs []string) (git.TreeEntry, error) {
	for _, dir := range dirs {
		at, err := v.lookup(ctx, dir)
		if errs.Is(err, errs.NotFound) || err == nil && at.Type != git.TypeTree {
			continue
		}
		if err != nil {
			return git.TreeEntry{}, err
		}
		entries, err := v.objects.Tree(ctx, at.SHA, func(name []byte) bool {
			return len(name) >= len("readme") && strings.EqualFold(string(name[:len("readme")]), "readme")
		})
		if err != nil {
			return git.TreeEntry{}, err
		}
		if best, found := bestReadme(entries); found {
			best.Path = path.Join(dir, best.Path)
			return best, nil
		}
	}
	return git.TreeEntry{}, errs.Absent()
}

// bestReadme selects the best of the files named readme in any case.
func bestReadme(entries []git.TreeEntry) (best git.TreeEntry, found bool) {
	least := 0
	for _, e := range entries {
		if e.Type != git.TypeBlob {
			continue
		}
		if rank := readmeRank(e.Path); rank > 0 && (!found || rank < least) {
			best, least, found = e, rank, true
		}
	}
	return best, found
}

// readmeRank returns the rank of a name as a readme: 1 is the best, 0 means not a readme. Markdown is
// preferred, then other markup, then plain text.
func readmeRank(name string) int {
	const kinds = ".md .markdown .mdown .mkdn .mkd .rst .adoc .asciidoc .asc .textile .org .rdoc .pod .creole .mediawiki .wiki .txt"
	name = strings.ToLower(name)
	rest, ok := strings.CutPrefix(name, "readme")
	if !ok || rest != "" && rest[0] != '.' {
		return 0
	}
	list := strings.Fields(kinds)
	for i, kind := range list {
		if rest == kind {
			return i + 1
		}
	}
	if rest == "" {
		return len(list) + 1
	}
	return len(list) + 2
}
