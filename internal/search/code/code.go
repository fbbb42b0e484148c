// Package code finds files of default branches by their content.
//
//	GET /search/code
//
//	code.go    the endpoint, walking and rendering
//	filter.go  what a file must be
//
// No index knows files: trees are walked and files read, the repositories that were pushed to last
// first, within the bounds of package search. Files are read by the pool of package git and looked
// through here: so a large file is left out by its size before it is read, paths are asked first,
// and no text of a client's reaches a command of git.
package code

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/web"
)

// Bounds of a search.
const (
	maxSize = 384 << 10 // bytes of a file that is looked through, as at GitHub
	maxHits = 2000      // files that are found
	sniffed = 8000      // bytes in which a NUL marks a binary file, as git does
)

// API answers searches.
type API struct {
	kinds *search.Kinds
	repos *repo.Service
}

// NewAPI returns the handler.
func NewAPI(kinds *search.Kinds, repos *repo.Service) *API { return &API{kinds, repos} }

// Routes is the endpoint.
func (api *API) Routes() []route.Route {
	contents := route.Needs(scope.PublicRepo, "contents")
	return []route.Route{contents.Anyone("GET /search/code", api.Code)}
}

// kind is the language of these searches.
func kind() search.Kind {
	return search.Kind{
		Language: search.Language{
			Known: []string{"repo", "user", "org", "is", "fork", "in", "path", "filename", "extension",
				"language", "size", "sort"},
			Absent: []string{"symbol", "content", "enterprise", "archived", "license", "sha"},
		},
		Sorts: []string{"best-match", "indexed"},
		Limit: "code_search", Scans: true,
	}
}

// GET /search/code
//
// Code searches the files on the default branches of repositories that are visible to the caller with the
// query q, most recently pushed repositories first. Only the first thousand results can be read. Words are
// matched literally and case-insensitively. incomplete_results reports that the time limit was reached
// before all files were searched. Errors: 422, 429, 503.
func (api *API) Code(w http.ResponseWriter, r *http.Request) error {
	return api.kinds.Serve(w, r, kind(), api.find)
}

// Hit is a file that was found, with the parts of it that match.
type Hit struct {
	In       *repo.Access
	Commit   git.SHA
	Path     string
	Language string // empty: it is not known
	Matches  []search.TextMatch
}

// Find finds a page of files. Errors: those of Code.
func (api *API) Find(ctx context.Context, of search.Question) (*search.Hits[*Hit], error) {
	found, err := api.kinds.Find(ctx, kind(), of, api.find)
	if err != nil {
		return nil, err
	}
	for n, one := range found.Items {
		x := one.(item)
		found.Items[n] = &Hit{In: x.from.tip.Access, Commit: x.from.tip.SHA, Path: x.Path, Language: languageOf(x.Path),
			Matches: x.Matches}
	}
	return search.HitsOf[*Hit](found), nil
}

// item is GitHub's code-search-result-item.
type item struct {
	from       hit
	Name       string             `json:"name"`
	Path       string             `json:"path"`
	SHA        git.SHA            `json:"sha"`
	URL        string             `json:"url"`
	GitURL     string             `json:"git_url"`
	HTMLURL    string             `json:"html_url"`
	Repository *repo.Payload      `json:"repository"`
	Score      search.Score       `json:"score"`
	FileSize   int64              `json:"file_size"`
	Language   *string            `json:"language"`
	Matches    []search.TextMatch `json:"text_matches,omitzero"`
}

// hit is a file that was found.
type hit struct {
	tip  search.Tip
	path string
	sha  git.SHA
	size int64
}

func (api *API) find(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
	f, err := newFilter(q)
	if err != nil {
		return nil, err
	}
	tips, part, err := api.kinds.Tips(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	var hits []hit
	left, err := q.Scan(ctx, api.repos, tips,
		func(ctx context.Context, tip search.Tip, objects *git.Repository) (bool, error) {
			if len(hits) >= maxHits {
				return false, nil
			}
			return walk(ctx, objects, tip, f, &hits)
		})
	if err != nil {
		return nil, err
	}
	if q.Asc {
		slices.Reverse(hits)
	}
	found := &search.Found{Total: int64(len(hits)), Part: part || left}
	from := min(q.Page.Offset(), found.Total)
	return found, api.show(ctx, q, f, hits[from:min(from+q.MaxRows(), found.Total)], found)
}

// walk adds the files of a repository that the filter lets through.
func walk(
	ctx context.Context, objects *git.Repository, tip search.Tip, f *filter, hits *[]hit,
) (whole bool, err error) {
	tree, err := objects.PeelToTree(ctx, tip.SHA)
	if err != nil {
		return false, err
	}
	whole = true
	err = objects.WalkTree(ctx, tree, true, func(e *git.WalkEntry) error {
		if e.Mode != git.ModeFile && e.Mode != git.ModeExecutable {
			return nil
		}
		file := string(e.Path)
		if !f.named(file, e.Size) {
			return nil
		}
		fits, err := f.holds(file, func() (string, error) {
			return text(ctx, objects, git.SHA(e.SHA), e.Size)
		})
		if err != nil || !fits {
			return err
		}
		*hits = append(*hits, hit{tip, file, git.SHA(string(e.SHA)), e.Size})
		if whole = len(*hits) < maxHits; !whole {
			return git.ErrStop
		}
		return nil
	})
	return whole && err == nil, err
}

// text reads a file. A large or binary one is empty.
func text(ctx context.Context, objects *git.Repository, sha git.SHA, size int64) (string, error) {
	if size > maxSize {
		return "", nil
	}
	_, contents, err := objects.Contents(ctx, sha, maxSize)
	if errs.Is(err, errs.TooLarge) {
		return "", nil
	}
	if err != nil || bytes.IndexByte(contents[:min(len(contents), sniffed)], 0) >= 0 {
		return "", err
	}
	return string(contents), nil
}

// show renders a page, and reads its files again where parts of them are to be shown.
func (api *API) show(ctx context.Context, q *search.Asked, f *filter, hits []hit, found *search.Found) error {
	for _, h := range hits {
		x := newItem(h, web.From(ctx))
		if q.Fragments {
			x.Matches = []search.TextMatch{}
			if err := api.addMatches(ctx, &x, h, f); err != nil {
				return err
			}
		}
		found.Items = append(found.Items, x)
	}
	return nil
}

func newItem(h hit, i *web.Info) item {
	r := repo.NewPayload(h.tip.Access, i)
	escaped := web.Path(strings.Split(h.path, "/")...)
	commit := url.QueryEscape(string(h.tip.SHA))
	x := item{from: h, Name: path.Base(h.path), Path: h.path, SHA: h.sha, Repository: r, Score: 1, FileSize: h.size,
		URL: r.URL + "/contents" + escaped + "?ref=" + commit, GitURL: r.URL + "/git/blobs/" + string(h.sha),
		HTMLURL: r.HTMLURL + "/blob/" + commit + escaped}
	if language := languageOf(h.path); language != "" {
		x.Language = &language
	}
	return x
}

// addMatches adds the parts of a file that matched.
func (api *API) addMatches(ctx context.Context, x *item, h hit, f *filter) error {
	add := func(property, text string, lines bool) {
		kind := "FileContent"
		for _, m := range search.Fragments(text, f.words, lines) {
			m.ObjectURL, m.ObjectType, m.Property = x.URL, &kind, property
			x.Matches = append(x.Matches, m)
		}
	}
	if f.inPath {
		add("path", h.path, false)
	}
	if !f.inFile {
		return nil
	}
	objects, release, err := api.repos.Git(ctx, h.tip.Access)
	if err != nil {
		return err
	}
	defer release()
	contents, err := text(ctx, objects, h.sha, h.size)
	add("content", strings.ToValidUTF8(contents, "\ufffd"), true)
	return err
}
