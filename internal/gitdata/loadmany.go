package gitdata

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/signature"
	"arbor/internal/web"
)

// The loaders here read many objects of several repositories for GraphQL: one exchange with git for each
// repository, and a fixed number of statements.

// Objects finds those of the objects that are visible to the caller.
func (s *Service) Objects(
	ctx context.Context, named []repo.Of[git.SHA],
) (map[repo.Of[git.SHA]]git.Object, error) {
	found := map[repo.Of[git.SHA]]git.Object{}
	for in, shas := range repo.ByAccess(named) {
		known, err := s.repos.Known(ctx, in, shas)
		if err != nil {
			return nil, err
		}
		for n, o := range known {
			if o.Type != "" {
				found[repo.Of[git.SHA]{In: in, Key: shas[n]}] = o
			}
		}
	}
	return found, nil
}

// Known returns those of the objects that have the type and are visible to the caller.
func (s *Service) Known(
	ctx context.Context, named []repo.Of[git.SHA], kind git.Type,
) (known []repo.Of[git.SHA], err error) {
	found, err := s.Objects(ctx, named)
	for _, of := range named {
		if found[of].Type == kind {
			known = append(known, of)
		}
	}
	return known, err
}

// CommitsOf loads commits as lists show them. They were found for the caller before, and may repeat.
func (s *Service) CommitsOf(
	ctx context.Context, list []repo.Of[git.SHA],
) (map[repo.Of[git.SHA]]*CommitPayload, error) {
	views, err := s.CommitsAcross(ctx, list)
	out := make(map[repo.Of[git.SHA]]*CommitPayload, len(list))
	for n, of := range list {
		if err == nil && views[n] != nil && out[of] == nil {
			out[of] = NewCommitPayload(ctx, views[n])
		}
	}
	return out, err
}

// Commits loads those of the commits that are visible to the caller, rendered as in lists.
func (s *Service) Commits(
	ctx context.Context, named []repo.Of[git.SHA],
) (map[repo.Of[git.SHA]]*CommitPayload, error) {
	known, err := s.Known(ctx, named, git.TypeCommit)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	return s.CommitsOf(ctx, known)
}

// Tags loads those of the annotated tags that are visible to the caller, as GET
// /repos/{owner}/{repo}/git/tags/{sha} returns them.
func (s *Service) Tags(ctx context.Context, named []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]*TagPayload, error) {
	known, err := s.Known(ctx, named, git.TypeTag)
	if err != nil {
		return nil, err
	}
	tags, verified, err := s.readTags(ctx, known)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[git.SHA]]*TagPayload{}
	for n, of := range known {
		out[of] = new(newPlace(ctx, of.In).tag(tags[n], verified[n]))
	}
	return out, nil
}

// readTags reads annotated tags and verifies their signatures.
func (s *Service) readTags(
	ctx context.Context, list []repo.Of[git.SHA],
) ([]*git.Tag, []signature.Verification, error) {
	tags, signed := make([]*git.Tag, len(list)), make([]signature.Signed, len(list))
	for n, of := range list {
		t, err := s.tag(ctx, of.In, of.Key)
		if err == nil {
			err = hold(ctx, len(t.Message)+len(t.Payload)+len(t.Signed))
		}
		if err != nil {
			return nil, nil, err
		}
		tags[n], signed[n] = t, signature.OfTag(t)
	}
	verified, err := s.signatures.Verify(ctx, signed)
	return tags, verified, err
}

// SignedTags verifies the annotated tags among tags of a repository, by the SHA of their object.
func (s *Service) SignedTags(
	ctx context.Context, a *repo.Access, list []git.Ref,
) (map[git.SHA]signature.Verification, error) {
	var shas []git.SHA
	for _, ref := range list {
		if ref.Peeled != "" {
			shas = append(shas, ref.SHA)
		}
	}
	tags, verified, err := s.readTags(ctx, repo.AllOf(a, shas))
	if err != nil {
		return nil, err
	}
	found := map[git.SHA]signature.Verification{}
	for n, t := range tags {
		found[t.SHA] = verified[n]
	}
	return found, nil
}

// Tagged is what a tag names.
type Tagged struct {
	Commit       git.SHA
	Verification signature.Verification // of the annotated tag if that is signed, else of the commit
}

// Tagged finds and verifies what tags name, by their names. Tags that do not exist are missing.
func (s *Service) Tagged(ctx context.Context, a *repo.Access, names []string) (map[string]Tagged, error) {
	refs, err := s.repos.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	var list []git.Ref
	var commits []git.SHA
	for _, ref := range refs.List {
		if name, ok := strings.CutPrefix(ref.Name, git.Tags); ok && slices.Contains(names, name) {
			list, commits = append(list, ref), append(commits, cmp.Or(ref.Peeled, ref.SHA))
		}
	}
	signed, err := s.SignedTags(ctx, a, list)
	if err != nil {
		return nil, err
	}
	views, err := s.CommitViews(ctx, a, commits)
	if err != nil {
		return nil, err
	}
	found := map[string]Tagged{}
	for n, ref := range list {
		v := signed[ref.SHA]
		if c := views[commits[n]]; c != nil && (v.Reason == "" || v.Reason == signature.Unsigned) {
			v = c.Verification
		}
		found[strings.TrimPrefix(ref.Name, git.Tags)] = Tagged{commits[n], v}
	}
	return found, nil
}

// TreePayload is the part of GitHub's git-tree that GraphQL shows.
type TreePayload struct {
	SHA     git.SHA        `json:"sha"`
	Entries []EntryPayload `json:"tree"`
}

// EntryPayload is an entry of a tree.
type EntryPayload struct {
	Path string   `json:"path"`
	Mode string   `json:"mode"`
	Type git.Type `json:"type"`
	SHA  string   `json:"sha"`
	Size *int64   `json:"size,omitempty"` // of a blob
}

// entryBytes is the memory of an entry of a tree without its path.
const entryBytes = 256

// Trees loads those of the trees that are visible to the caller, in Git's order, each up to the bounds of
// GET /repos/{owner}/{repo}/git/trees/{sha...}.
func (s *Service) Trees(ctx context.Context, named []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]*TreePayload, error) {
	known, err := s.Known(ctx, named, git.TypeTree)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[git.SHA]]*TreePayload{}
	for _, of := range known {
		if out[of], err = s.readTree(ctx, of); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) readTree(ctx context.Context, of repo.Of[git.SHA]) (*TreePayload, error) {
	objects, release, err := s.repos.Git(ctx, of.In)
	if err != nil {
		return nil, err
	}
	defer release()
	t, paths, held := &TreePayload{SHA: of.Key, Entries: []EntryPayload{}}, 0, 0
	err = objects.WalkTree(ctx, of.Key, false, func(w *git.WalkEntry) error {
		if paths += len(w.Path); len(t.Entries) == s.maxEntries || paths > maxPaths {
			return git.ErrStop
		}
		e := w.Entry()
		shown := EntryPayload{Path: e.Path, Mode: e.Mode.String(), Type: e.Type, SHA: string(e.SHA)}
		if e.Type == git.TypeBlob {
			shown.Size = &e.Size
		}
		t.Entries = append(t.Entries, shown)
		if now := paths + entryBytes*len(t.Entries); now-held >= holdStep {
			more := now - held
			held = now
			return hold(ctx, more)
		}
		return nil
	})
	return t, err
}

// holdStep is the number of bytes of trees for which memory is reserved at once.
const holdStep = 128 << 10

// Blobs reads those of the blobs that are visible to the caller and have at most so many bytes.
func (s *Service) Blobs(
	ctx context.Context, named []repo.Of[git.SHA], most int64,
) (map[repo.Of[git.SHA]][]byte, error) {
	found, err := s.Objects(ctx, named)
	if err != nil {
		return nil, err
	}
	out := map[repo.Of[git.SHA]][]byte{}
	for of, o := range found {
		if o.Type != git.TypeBlob || o.Size > most {
			continue
		}
		if err := admission.Hold(ctx, 2*o.Size); err != nil {
			return nil, err
		}
		if out[of], err = s.readBlob(ctx, of, most); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) readBlob(ctx context.Context, of repo.Of[git.SHA], most int64) (text []byte, err error) {
	objects, release, err := s.repos.Git(ctx, of.In)
	if err != nil {
		return nil, err
	}
	defer release()
	err = objects.ReadBlob(ctx, of.Key, most, func(size int64, contents io.Reader) error {
		b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err := b.ReadFrom(contents)
		text = b.Bytes()
		return err
	})
	return text, err
}

// ObjectPayload is the object that a name refers to.
type ObjectPayload struct {
	SHA  string `json:"sha"`
	Type string `json:"type"`
	Size int64  `json:"size"` // of a blob, in bytes
	Path string `json:"path"` // in its tree; empty if the name has no path
}

// Named resolves names as git does: a branch, a tag, a full or abbreviated SHA, each optionally followed by a
// colon and a path. Annotated tags are not followed. Names of nothing are missing.
func (s *Service) Named(
	ctx context.Context, names []repo.Of[string],
) (map[repo.Of[string]]*ObjectPayload, error) {
	revisions, parts := make([]repo.Of[string], len(names)), make([]revisionPath, len(names))
	for n, of := range names {
		parts[n] = splitPath(of.Key)
		revisions[n] = repo.Of[string]{In: of.In, Key: parts[n].revision}
	}
	found, err := s.findAll(ctx, revisions)
	if err != nil {
		return nil, err
	}
	at := make([]repo.Of[git.SHA], len(names))
	for n, of := range names {
		sha, err := found[n], error(nil)
		switch {
		case parts[n].within && sha != "":
			sha, err = s.below(ctx, of.In, sha, parts[n].path)
		case !parts[n].within && sha == "" && git.IsPrefix(of.Key):
			sha, err = s.repos.FindCommit(ctx, of.In, of.Key)
		}
		if err != nil && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Invalid) {
			return nil, err
		}
		at[n] = repo.Of[git.SHA]{In: of.In, Key: sha}
	}
	there := slices.DeleteFunc(slices.Clone(at), func(of repo.Of[git.SHA]) bool { return of.Key == "" })
	known, err := s.Objects(ctx, there)
	out := map[repo.Of[string]]*ObjectPayload{}
	for n, of := range names {
		if o, exists := known[at[n]]; exists { // the commit of a submodule may be missing
			out[of] = &ObjectPayload{SHA: string(at[n].Key), Type: string(o.Type), Size: max(0, o.Size), Path: parts[n].path}
		}
	}
	return out, err
}

// revisionPath is REVISION:PATH, or a revision alone.
type revisionPath struct {
	revision, path string
	within         bool
}

func splitPath(name string) (p revisionPath) {
	p.revision, p.path, p.within = strings.Cut(name, ":")
	p.path = strings.Trim(p.path, "/")
	return p
}

// below returns the object at a path below an object. Errors: 404, 422.
func (s *Service) below(ctx context.Context, a *repo.Access, sha git.SHA, path string) (git.SHA, error) {
	tree, err := s.peel(ctx, a, sha)
	if err != nil {
		return "", err
	}
	v, err := s.viewOf(ctx, a, tree)
	if err != nil {
		return "", err
	}
	defer v.release()
	entry, err := v.lookup(ctx, path)
	return entry.SHA, err
}

// Histories lists a page of the history behind each of the commits. Commits that the caller does not see are
// missing. Error: 422.
func (s *Service) Histories(
	ctx context.Context, tips []repo.Of[git.SHA], h History, at web.Page,
) (map[repo.Of[git.SHA]]*web.List[*CommitPayload], error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	known, err := s.Known(ctx, tips, git.TypeCommit)
	if err != nil {
		return nil, err
	}
	pages, out := map[repo.Of[git.SHA]][]git.SHA{}, map[repo.Of[git.SHA]]*web.List[*CommitPayload]{}
	o, none, err := s.options(ctx, &h)
	if err != nil || none {
		return out, err
	}
	var all []repo.Of[git.SHA]
	for _, tip := range known {
		found, err := s.walkFrom(ctx, tip.In, o, tip.Key, at)
		if err != nil {
			return nil, err
		}
		list := &web.List[*CommitPayload]{Total: int64(found.total)}
		list.More = found.open || at.Offset()+int64(len(found.shas)) < list.Total
		pages[tip], out[tip], all = found.shas, list, append(all, repo.AllOf(tip.In, found.shas)...)
	}
	commits, err := s.CommitsOf(ctx, all)
	for tip, shas := range pages {
		for _, sha := range shas {
			out[tip].Rows = append(out[tip].Rows, commits[repo.Of[git.SHA]{In: tip.In, Key: sha}])
		}
	}
	return out, err
}

// FilesOf lists a page of the files that changed since the merge base, without patches.
func (s *Service) FilesOf(
	ctx context.Context, a *repo.Access, g Range, at web.Page,
) (*web.List[*ChangedFile], error) {
	changes, err := s.rangeChanges(ctx, a, g, at, 1) // no patch has one byte
	if err != nil {
		return nil, err
	}
	p, list := newPlace(ctx, a), &web.List[*ChangedFile]{Total: int64(min(changes.Total, diff.MaxFiles)), More: changes.More(at)}
	for n := range changes.Files {
		list.Rows = append(list.Rows, p.file(&changes.Files[n], changes.To, changes.From))
	}
	return list, nil
}
