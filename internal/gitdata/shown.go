package gitdata

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
)

// Operations for pages without a REST endpoint.

// maxSwitched is the number of branches, and of tags, that Locate returns.
const maxSwitched = 100

// Located is the result of resolving REF/PATH in a page's address. Branches starts with the default branch,
// Tags with the highest version.
type Located struct {
	Ref      string   // as in the address; the default branch if there is none
	Kind     string   // branch, tag or commit
	SHA      git.SHA  // of the commit
	Path     string   // empty: the root
	Type     git.Type // of the entry: tree, blob or commit
	Mode     string   // six octal digits
	Object   git.SHA  // SHA of the entry
	Branches []string
	Tags     []string
	Heads    int // number of branches
	Named    int // number of tags
}

// Locate resolves REF/PATH. The ref may contain slashes; the shortest match counts. It may be an abbreviated SHA.
// Errors: 404; 409 for a repository without refs.
func (s *Service) Locate(ctx context.Context, a *repo.Access, text string) (*Located, error) {
	found, err := s.locate(ctx, a, strings.Trim(text, "/"))
	if err != nil {
		return nil, s.orEmpty(ctx, a, err)
	}
	v, entry, err := s.at(ctx, a, string(found.SHA), found.Path)
	if err != nil {
		return nil, err
	}
	v.release()
	found.Type, found.Mode, found.Object = entry.Type, entry.Mode.String(), entry.SHA
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	heads := namesBelow(refs.List, "refs/heads/")
	if at := slices.Index(heads, a.DefaultBranch); at > 0 {
		heads = slices.Insert(slices.Delete(heads, at, at+1), 0, a.DefaultBranch)
	}
	tags := namesBelow(refs.List, "refs/tags/")
	slices.SortFunc(tags, func(a, b string) int { return compareVersions(b, a) })
	found.Heads, found.Named = len(heads), len(tags)
	found.Branches, found.Tags = heads[:min(len(heads), maxSwitched)], tags[:min(len(tags), maxSwitched)]
	return found, nil
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
func (s *Service) locate(ctx context.Context, a *repo.Access, text string) (found *Located, err error) {
	found = &Located{}
	if text == "" {
		found.Ref = a.DefaultBranch
		if found.SHA, err = s.repos.Ref(ctx, a, "refs/heads/"+a.DefaultBranch); err != nil {
			return nil, err
		}
		found.SHA, err = s.peelToCommit(ctx, a, found.SHA)
		found.Kind = "branch"
		return found, err
	}
	parts := strings.Split(text, "/")
	for n := 1; n <= min(len(parts), maxRefParts); n++ {
		name := strings.Join(parts[:n], "/")
		sha, err := s.find(ctx, a, name, n == 1)
		if err == nil {
			sha, err = s.peelToCommit(ctx, a, sha)
		}
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found.Ref, found.SHA, found.Path = name, sha, strings.Join(parts[n:], "/")
		found.Kind, err = s.kindOf(ctx, a, name)
		return found, err
	}
	return nil, errs.Absent()
}

// kindOf reports whether a name is that of a branch, a tag or a commit.
func (s *Service) kindOf(ctx context.Context, a *repo.Access, name string) (string, error) {
	refs, err := s.repos.Refs(ctx, a)
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

// Time limits of the walks for last commits: when a page is rendered, and when it loads the rest.
const (
	quickWalk = 40 * time.Millisecond
	wholeWalk = 10 * time.Second
)

// LastChanges holds the commits that last changed a path and, for a directory, its entries.
type LastChanges struct {
	Latest  *CommitView // nil: not found in time
	Entries map[string]history.LastCommit
	Whole   bool // complete
}

// maxSubject is the number of bytes of a message's first line that are returned.
const maxSubject = 200

// LastChanges returns the commits that last changed a path of a commit, and of a directory also its entries,
// at most a thousand. It takes up to 40 ms, or ten seconds if it is to be complete. The result is cached, as
// is a later complete one. Error: 404.
func (s *Service) LastChanges(
	ctx context.Context, a *repo.Access, commit git.SHA, path string, whole bool,
) (*LastChanges, error) {
	v, err := s.view(ctx, a, string(commit))
	if err != nil {
		return nil, err
	}
	defer v.release()
	last, err := s.lastCommits(ctx, v, a, commit, path, whole)
	if err != nil {
		return nil, err
	}
	out := &LastChanges{Entries: last.Entries, Whole: last.Whole}
	if sha := last.Latest.SHA; sha != "" {
		out.Latest, err = s.commitView(ctx, a, sha)
	}
	return out, err
}

// lastCommits returns the cached result of an earlier walk, or walks.
func (s *Service) lastCommits(ctx context.Context, v *view, a *repo.Access, commit git.SHA, at string,
	whole bool) (
	*history.LastCommits, error,
) {
	key := "last " + a.ID.String() + " " + string(commit) + " " + at
	if kept, ok := s.walks.Get(objectsOf(a), key); ok && (kept.last.Whole || !whole) {
		return kept.last, nil
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
	s.walks.Put(objectsOf(a), key, outcome{last: last})
	return last, nil
}

func clipText(s string) string {
	if len(s) <= maxSubject {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:maxSubject], "") + "…"
}

// outcome is the result of a walk: one of these.
type outcome struct {
	last    *history.LastCommits
	blame   []history.BlameHunk
	paths   []string
	commits []git.SHA
	authors []history.AuthorCount
}

// walksBytes is the size of the cache of outcomes.
const walksBytes = 16 << 20

func newWalks() *cache.Cache[string, outcome] {
	return cache.New(walksBytes, func(key string, o outcome) int64 {
		cost := len(key) + 300 + 60*len(o.commits) + 120*len(o.authors)
		if o.last != nil {
			for name, c := range o.last.Entries {
				cost += len(name) + len(c.Subject) + len(c.Author) + 200
			}
		}
		for _, h := range o.blame {
			cost += 500
			for _, line := range h.Lines {
				cost += len(line) + 20
			}
		}
		for _, path := range o.paths {
			cost += len(path) + 20
		}
		return int64(cost)
	})
}

// Blamed is a file with the commits of its lines.
type Blamed struct {
	Hunks  []history.BlameHunk
	Logins map[git.SHA]string // of the authors; empty: nobody knows
}

// maxBlamed is the maximum size in bytes of a blamed file.
const maxBlamed = 1 << 20

// Blame returns the commits of the lines of the text file at a path of a commit. Errors: 404; 422 for a file that is
// not text or is larger than 1 MiB.
func (s *Service) Blame(ctx context.Context, a *repo.Access, commit git.SHA, path string) (*Blamed, error) {
	v, err := s.view(ctx, a, string(commit))
	if err != nil {
		return nil, err
	}
	defer v.release()
	hunks, err := s.blame(ctx, a, v, commit, path)
	if err != nil {
		return nil, err
	}
	out := &Blamed{hunks, map[git.SHA]string{}}
	commits := make([]*git.Commit, len(out.Hunks))
	for n, h := range out.Hunks {
		by := git.Signature{Name: h.Commit.Author, Email: h.Commit.Email}
		commits[n] = &git.Commit{Author: by, Committer: by}
	}
	login, err := s.Logins(ctx, commits...)
	for n, h := range out.Hunks {
		out.Logins[h.Commit.SHA] = login(commits[n].Author)
	}
	return out, err
}

// blame is Blame for a view of the commit, without the logins.
func (s *Service) blame(
	ctx context.Context, a *repo.Access, v *view, commit git.SHA, path string,
) ([]history.BlameHunk, error) {
	size, err := v.checkBlamed(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := hold(ctx, int(size)); err != nil {
		return nil, err
	}
	key := "blame " + a.ID.String() + " " + string(commit) + " " + path
	found, err := s.walks.ReadAlone(ctx, objectsOf(a), key, func() (o outcome, err error) {
		o.blame, err = history.Blame(ctx, v.objects, commit, path)
		for _, h := range o.blame {
			h.Commit.Summary = clipText(h.Commit.Summary)
		}
		return o, err
	})
	return found.blame, err
}

// BlameOf is the result of Blame of a commit, without the logins.
type BlameOf struct {
	Hunks []history.BlameHunk
	Err   error // as that of Blame
}

// Ages returns how old each hunk is among those of its file: from 1 for the newest to 10 for the oldest.
func (b BlameOf) Ages() []int {
	ages := make([]int, len(b.Hunks))
	if len(ages) == 0 {
		return nil
	}
	byTime := func(x, y history.BlameHunk) int { return x.Commit.When.Compare(y.Commit.When) }
	oldest, newest := slices.MinFunc(b.Hunks, byTime).Commit.When, slices.MaxFunc(b.Hunks, byTime).Commit.When
	for n, h := range b.Hunks {
		if ages[n] = 1; newest.After(oldest) {
			ages[n] += int(9 * (newest.Sub(h.Commit.When).Seconds() / newest.Sub(oldest).Seconds()))
		}
	}
	return ages
}

// BlameEach blames the file at a path of each of the commits, which were found for the caller before.
func (s *Service) BlameEach(
	ctx context.Context, commits []repo.Of[git.SHA], path string,
) (map[repo.Of[git.SHA]]BlameOf, error) {
	out := map[repo.Of[git.SHA]]BlameOf{}
	for _, of := range commits {
		v, err := s.viewOf(ctx, of.In, git.EmptyTree)
		if err != nil {
			return nil, err
		}
		c, err := v.objects.Commit(ctx, of.Key)
		var b BlameOf
		if err == nil {
			v.tree = c.Tree
			b.Hunks, b.Err = s.blame(ctx, of.In, v, of.Key, path)
		}
		v.release()
		if err != nil {
			return nil, err
		}
		out[of] = b
	}
	return out, nil
}

// checkBlamed returns an error for a file that cannot be blamed.
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

// Paths returns the paths of all files of a commit in git's order, up to the limit of a tree. Paths that are
// not UTF-8 are omitted. Error: 404.
func (s *Service) Paths(ctx context.Context, a *repo.Access, commit git.SHA) ([]string, error) {
	v, err := s.view(ctx, a, string(commit))
	if err != nil {
		return nil, err
	}
	defer v.release()
	found, err := s.walks.ReadAlone(ctx, objectsOf(a), "paths "+a.ID.String()+" "+string(commit),
		func() (o outcome, err error) {
			size := 0
			err = v.objects.WalkTree(ctx, v.tree, true, func(e *git.WalkEntry) error {
				if len(o.paths) == s.maxEntries || size > maxPathBytes {
					return git.ErrStop
				}
				if e.Type != git.TypeTree && utf8.Valid(e.Path) {
					o.paths = append(o.paths, string(e.Path))
					size += len(e.Path)
				}
				return nil
			})
			return o, err
		})
	return found.paths, err
}

// maxPathBytes is the total size of the paths that Paths returns.
const maxPathBytes = 8 << 20

// ReadmeOf selects the readme among the names of a directory's files as the API does, or returns "".
func ReadmeOf(names []string) string {
	entries := make([]git.TreeEntry, len(names))
	for n, name := range names {
		entries[n] = git.TreeEntry{Path: name, Type: git.TypeBlob}
	}
	best, _ := bestReadme(entries)
	return best.Path
}
