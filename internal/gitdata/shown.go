package gitdata

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// The handlers here answer what pages show and REST has no address for. Their rights are those of the routes
// that pages name: of contents.

// maxSwitched is how many branches, and how many tags, Locate names.
const maxSwitched = 100

// Located is what REF/PATH of a page's address names. Branches has the default branch first, Tags the newest
// version.
type Located struct {
	Ref      string   `json:"ref"`    // as the address names it; of an address without one the default branch
	Kind     string   `json:"kind"`   // branch, tag or commit
	SHA      git.SHA  `json:"sha"`    // of the commit
	Path     string   `json:"path"`   // empty: the root
	Type     git.Type `json:"type"`   // of what is there: tree, blob or commit
	Mode     string   `json:"mode"`   // six octal digits
	Object   git.SHA  `json:"object"` // the SHA of what is there
	Branches []string `json:"branches"`
	Tags     []string `json:"tags"`
	Heads    int      `json:"heads"` // how many branches there are
	Named    int      `json:"named"` // how many tags
}

// Locate answers what the path of the request, REF/PATH, names. The ref may hold slashes: of several that fit
// the shortest counts. It may be an abbreviated SHA. Errors: 404; 409 for a repository without any ref.
func (api *API) Locate(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	found, err := api.locate(ctx, a, strings.Trim(web.Param(r, "path"), "/"))
	if err != nil {
		return api.orEmpty(ctx, a, err)
	}
	v, err := api.view(ctx, a, string(found.SHA))
	if err != nil {
		return err
	}
	defer v.release()
	entry, err := v.lookup(ctx, found.Path)
	if err != nil {
		return err
	}
	found.Type, found.Mode, found.Object = entry.Type, entry.Mode.String(), entry.SHA
	refs, err := api.repos.Refs(ctx, a)
	if err != nil {
		return err
	}
	heads := namesBelow(refs.List, "refs/heads/")
	if at := slices.Index(heads, a.DefaultBranch); at > 0 {
		heads = slices.Insert(slices.Delete(heads, at, at+1), 0, a.DefaultBranch)
	}
	tags := namesBelow(refs.List, "refs/tags/")
	slices.SortFunc(tags, func(a, b string) int { return compareVersions(b, a) })
	found.Heads, found.Named = len(heads), len(tags)
	found.Branches, found.Tags = heads[:min(len(heads), maxSwitched)], tags[:min(len(tags), maxSwitched)]
	return web.JSON(w, r, http.StatusOK, found)
}

func namesBelow(list []git.Ref, prefix string) []string {
	list = below(list, prefix)
	names := make([]string, len(list))
	for n, ref := range list {
		names[n] = strings.TrimPrefix(ref.Name, prefix)
	}
	return names
}

// locate finds the ref and its commit. Error: 404.
func (api *API) locate(ctx context.Context, a *repo.Access, text string) (found *Located, err error) {
	found = &Located{}
	if text == "" {
		found.Ref = a.DefaultBranch
		if found.SHA, err = api.repos.Ref(ctx, a, "refs/heads/"+a.DefaultBranch); err != nil {
			return nil, err
		}
		found.SHA, err = api.peelToCommit(ctx, a, found.SHA)
		found.Kind = "branch"
		return found, err
	}
	parts := strings.Split(text, "/")
	for n := 1; n <= min(len(parts), maxRefParts); n++ {
		name := strings.Join(parts[:n], "/")
		sha, err := api.find(ctx, a, name, n == 1)
		if err == nil {
			sha, err = api.peelToCommit(ctx, a, sha)
		}
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found.Ref, found.SHA, found.Path = name, sha, strings.Join(parts[n:], "/")
		found.Kind, err = api.kindOf(ctx, a, name)
		return found, err
	}
	return nil, errs.Absent()
}

// kindOf says whether a name that leads to a commit is that of a branch, of a tag, or of the commit itself.
func (api *API) kindOf(ctx context.Context, a *repo.Access, name string) (string, error) {
	refs, err := api.repos.Refs(ctx, a)
	if err != nil {
		return "", err
	}
	for _, kind := range [...]struct{ prefix, name string }{{"refs/heads/", "branch"},
		{"refs/tags/", "tag"}} {
		_, there := slices.BinarySearchFunc(refs.List, kind.prefix+name,
			func(r git.Ref, name string) int { return strings.Compare(r.Name, name) })
		if there {
			return kind.name, nil
		}
	}
	return "commit", nil
}

// Bounds in time of the walks for last commits: of a page, and of what is filled in afterwards.
const (
	quickWalk = 40 * time.Millisecond
	wholeWalk = 10 * time.Second
)

// LastChanges are the commits that last changed a path and, of a directory, its entries.
type LastChanges struct {
	Latest  *CommitPayload        `json:"latest"` // null: not found in time
	Entries map[string]lastChange `json:"entries"`
	Whole   bool                  `json:"whole"` // nothing is left to be found
}

type lastChange struct {
	SHA     git.SHA   `json:"sha"`
	When    time.Time `json:"when"`
	Subject string    `json:"subject"`
}

// maxSubject is how many bytes of a message's first line are given.
const maxSubject = 200

// ListLastChanges answers the commits that last changed a path at the ref of the query, a full SHA: of a
// directory also its entries, a thousand at most. It takes 40 ms at most, or with whole=1 ten seconds; the
// outcome is kept, as are later wholes.
// Errors: 404.
func (api *API) ListLastChanges(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx, q := r.Context(), web.QueryOf(r)
	v, err := api.view(ctx, a, q.Get("ref"))
	if err != nil {
		return err
	}
	defer v.release()
	at := strings.Trim(web.Param(r, "path"), "/")
	commit, err := api.revision(ctx, a, q.Get("ref"), false)
	if err != nil {
		return err
	}
	last, err := api.lastCommits(ctx, v, a, commit, at, q.Get("whole") == "1")
	if err != nil {
		return err
	}
	out := LastChanges{Entries: make(map[string]lastChange, len(last.Entries)), Whole: last.Whole}
	for name, c := range last.Entries {
		out.Entries[name] = lastChange{c.SHA, c.When, c.Subject}
	}
	if sha := last.Latest.SHA; sha != "" {
		c, err := api.commitView(ctx, a, sha)
		if err != nil {
			return err
		}
		out.Latest = newPlace(ctx, a).commit(c)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// lastCommits walks, or gives what an earlier walk found.
func (api *API) lastCommits(ctx context.Context, v *view, a *repo.Access, commit git.SHA, at string,
	whole bool) (
	*history.LastCommits, error,
) {
	key := "last " + a.ID.String() + " " + string(commit) + " " + at
	if kept, ok := api.lasts.Get(objectsOf(a), key); ok && (kept.Whole || !whole) {
		return kept, nil
	}
	entry, err := v.lookup(ctx, at)
	if err != nil {
		return nil, err
	}
	var names []string
	if entry.Type == git.TypeTree {
		err := v.objects.WalkTree(ctx, entry.SHA, false, func(e *git.WalkEntry) error {
			if len(names) == maxEntries {
				return git.ErrStop
			}
			names = append(names, strings.ToValidUTF8(string(e.Path), "\ufffd"))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	limit := quickWalk
	if whole {
		limit = wholeWalk
	}
	last, err := history.LastChanges(ctx, v.objects, commit, at, names, limit)
	if err != nil {
		return nil, err
	}
	last.Latest.Subject = clipText(last.Latest.Subject)
	for name, c := range last.Entries {
		c.Subject = clipText(c.Subject)
		last.Entries[name] = c
	}
	last.Whole = last.Whole || whole // nobody looks longer
	api.lasts.Put(objectsOf(a), key, last)
	return last, nil
}

func clipText(s string) string {
	if len(s) <= maxSubject {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxSubject], "") + "…"
}

// lastsBytes bounds the last commits that are kept.
const lastsBytes = 8 << 20

func newLasts() *cache.Cache[string, *history.LastCommits] {
	return cache.New(lastsBytes, func(key string, l *history.LastCommits) int64 {
		cost := len(key) + 300
		for name, c := range l.Entries {
			cost += len(name) + len(c.Subject) + len(c.Author) + 200
		}
		return int64(cost)
	})
}

// Blamed is a file with the commits that wrote its lines.
type Blamed struct {
	Commits map[git.SHA]blamedCommit `json:"commits"`
	Hunks   []blamedHunk             `json:"hunks"`
}

type blamedCommit struct {
	Author     string    `json:"author"`
	Login      string    `json:"login"` // empty: nobody knows
	When       time.Time `json:"when"`
	Summary    string    `json:"summary"`
	Before     git.SHA   `json:"before"` // where the file was before the commit; empty: nowhere
	BeforePath string    `json:"before_path"`
}

type blamedHunk struct {
	SHA   git.SHA  `json:"sha"`
	Start int      `json:"start"`
	Lines []string `json:"lines"`
}

// maxBlamed is the size in bytes of the largest file that is blamed.
const maxBlamed = 1 << 20

// Blame answers who wrote the lines of the text file at a path of the ref of the query, a full SHA. Errors:
// 404; 422 for a file that is no text or larger than 1 MiB.
func (api *API) Blame(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	at, ref := strings.Trim(web.Param(r, "path"), "/"), web.QueryOf(r).Get("ref")
	on := named(ref, true)
	on.pair = "blame"
	return api.cached(w, r, a, on, func(ctx context.Context) (any, error) {
		v, err := api.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		commit, err := api.revision(ctx, a, ref, false)
		if err != nil {
			return nil, err
		}
		size, err := v.checkBlamed(ctx, at)
		if err != nil {
			return nil, err
		}
		hunks, err := history.Blame(ctx, v.objects, commit, at)
		if err != nil {
			return nil, err
		}
		out, err := api.blamed(ctx, hunks)
		return large{out, int(size)}, err
	})
}

// checkBlamed refuses what has no lines to blame.
func (v *view) checkBlamed(ctx context.Context, at string) (int64, error) {
	entry, err := v.lookup(ctx, at)
	if err != nil {
		return 0, err
	}
	if entry.Type != git.TypeBlob || entry.Mode == git.ModeSymlink {
		return 0, errs.Absent()
	}
	_, data, err := v.objects.Contents(ctx, entry.SHA, maxBlamed)
	if errs.Is(err, errs.TooLarge) {
		return 0, errs.New(errs.Invalid, "The file is too large for blame.")
	}
	if err == nil && slices.Contains(data, 0) {
		return 0, errs.New(errs.Invalid, "The file is not text, and has no lines.")
	}
	return int64(len(data)), err
}

func (api *API) blamed(ctx context.Context, hunks []history.BlameHunk) (*Blamed, error) {
	out := &Blamed{Commits: map[git.SHA]blamedCommit{}, Hunks: make([]blamedHunk, len(hunks))}
	var commits []*git.Commit
	for n, h := range hunks {
		out.Hunks[n] = blamedHunk{h.Commit.SHA, h.Start, h.Lines}
		if _, known := out.Commits[h.Commit.SHA]; !known {
			out.Commits[h.Commit.SHA] = blamedCommit{}
			by := git.Signature{Name: h.Commit.Author, Email: h.Commit.Email}
			commits = append(commits, &git.Commit{Author: by, Committer: by})
		}
	}
	login, err := api.Logins(ctx, commits...)
	if err != nil {
		return nil, err
	}
	for _, h := range hunks {
		c := h.Commit
		out.Commits[c.SHA] = blamedCommit{Author: c.Author, Login: login(git.Signature{Email: c.Email}),
			When:    c.When,
			Summary: clipText(c.Summary), Before: c.Before, BeforePath: c.BeforePath}
	}
	return out, nil
}

// ListPaths answers the paths of all files at the ref of the query, in git's order, as many as a tree is
// answered with. Paths that are no UTF-8 are left out. Error: 404.
func (api *API) ListPaths(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref := web.QueryOf(r).Get("ref")
	on := named(ref, false)
	on.pair = "paths"
	return api.cached(w, r, a, on, func(ctx context.Context) (any, error) {
		v, err := api.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		list, size := []string{}, 0
		err = v.objects.WalkTree(ctx, v.tree, true, func(e *git.WalkEntry) error {
			if len(list) == api.maxEntries || size > maxPathBytes {
				return git.ErrStop
			}
			if e.Type != git.TypeTree {
				list = append(list, string(e.Path))
				size += len(e.Path)
			}
			return nil
		})
		return large{list, size}, err
	})
}

// maxPathBytes bounds the paths that one answer lists, together.
const maxPathBytes = 8 << 20

// ReadmeOf chooses the readme among the names of a directory's files, as the API does; empty: there is none.
func ReadmeOf(names []string) string {
	entries := make([]git.TreeEntry, len(names))
	for n, name := range names {
		entries[n] = git.TreeEntry{Path: name, Type: git.TypeBlob}
	}
	best, _ := bestReadme(entries)
	return best.Path
}
