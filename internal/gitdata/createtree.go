package gitdata

import (
	"context"
	"errors"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// newTree is a tree being created.
type newTree struct {
	s      *Service
	access *repo.Access
	treeInput
	objects *git.Repository
	blobs   map[git.SHA]git.NewObject // new ones
	sizes   map[git.SHA]int64         // of blobs that the request sent or named
	built   *git.BuiltTree
	whole   bool // everything reachable from the tree is known to exist
}

// build applies the checks that need the repository, and builds the tree.
func (t *newTree) build(ctx context.Context, base git.SHA) error {
	base, err := t.baseTree(ctx, base)
	if err != nil {
		return err
	}
	t.whole = base == "" || t.objects.IsWhole(base)
	for i := range t.entries {
		if e := &t.entries[i]; e.content != nil {
			blob := git.NewObject{Type: git.TypeBlob, Data: []byte(*e.content)}
			e.sha = blob.SHA()
			t.blobs[e.sha] = blob
			t.sizes[e.sha] = int64(len(blob.Data))
		}
	}
	if err := t.checkObjects(ctx); err != nil {
		return err
	}
	if err := t.checkSpecial(ctx); err != nil {
		return err
	}
	edits := make([]git.TreeEdit, len(t.entries))
	for i, e := range t.entries {
		edits[i] = git.TreeEdit{Path: e.path, Mode: e.mode, SHA: e.sha}
	}
	t.built, err = t.objects.BuildTree(ctx, base, edits)
	return t.explain(err)
}

// write stores the tree with its new subtrees and blobs.
func (t *newTree) write(ctx context.Context) error {
	made := t.built.Objects
	for _, blob := range t.blobs {
		made = append(made, blob)
	}
	if err := t.s.repos.WriteUnnamed(ctx, t.access, t.built.SHA, made); err != nil {
		return err
	}
	if t.whole {
		for _, o := range t.built.Objects {
			t.objects.MarkWhole(o.SHA())
		}
	}
	return nil
}

// explain translates errors of BuildTree to validation errors of the request.
func (t *newTree) explain(err error) error {
	if problem, ok := errors.AsType[*git.TreeProblem](err); ok {
		t.refuseAt(problem.Edit, "path", errs.InvalidField, problem.Reason)
		return t.err()
	}
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Invalid, errs.TooLarge:
		// A push may contain trees with missing objects.
		return &errs.Error{Kind: errs.Invalid, Message: "Validation Failed", Err: err,
			Fields: []errs.Field{{Resource: "Tree",
				Field: "base_tree", Code: errs.InvalidField,
				Message: "a tree that is to be changed is incomplete or too large"}}}
	}
	return err
}

// baseTree resolves base_tree, a tree or a commit.
func (t *newTree) baseTree(ctx context.Context, base git.SHA) (git.SHA, error) {
	if base == "" {
		return "", nil
	}
	var object git.Object
	key := peelKey{repo: t.access.ID, sha: base}
	err := t.s.repos.CheckNamed(ctx, t.access, base)
	if err == nil {
		if tree, ok := t.s.peeled.Get(objectsOf(t.access), key); ok {
			return tree, nil
		}
		object, err = t.objects.Info(ctx, base)
	}
	if err == nil && object.Type == git.TypeTag {
		err = errs.New(errs.Invalid, "a tag")
	}
	tree := base
	if err == nil {
		tree, err = t.objects.PeelToTree(ctx, base)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return "", treeError("base_tree", errs.InvalidField,
			"base_tree "+string(base)+" is not a tree or commit of this repository")
	}
	if err == nil {
		t.s.peeled.Put(objectsOf(t.access), key, tree)
	}
	return tree, err
}

// checkObjects checks that the objects in entries exist with the right types. The commit of a submodule may
// be missing, but if it exists it must be a commit.
func (t *newTree) checkObjects(ctx context.Context) error {
	var ask []git.SHA
	place := map[git.SHA]int{}
	for _, e := range t.entries {
		if e.sha == "" || e.content != nil {
			continue
		}
		if _, known := place[e.sha]; !known {
			place[e.sha] = len(ask)
			ask = append(ask, e.sha)
		}
	}
	if len(ask) == 0 {
		return nil
	}
	objects, err := t.s.repos.Known(ctx, t.access, ask)
	if err != nil {
		return err
	}
	for i, e := range t.entries {
		k, asked := place[e.sha]
		if !asked || e.content != nil {
			continue
		}
		switch o := objects[k]; {
		case e.mode == git.ModeSubmodule && (o.Type == "" || o.Type == git.TypeCommit):
		case o.Type == git.TypeBlob && e.mode.Type() == o.Type:
			t.sizes[e.sha] = o.Size
		case o.Type == git.TypeTree && e.mode.Type() == o.Type:
			t.whole = t.whole && t.objects.IsWhole(e.sha)
		case o.Type == "":
			t.refuseAt(i, "sha", errs.Missing, string(e.sha)+" is not an object of this repository")
		default:
			t.refuseAt(i, "sha", errs.InvalidField, string(e.sha)+" is a "+string(o.Type)+", and mode "+
				e.mode.String()+" needs a "+string(e.mode.Type()))
		}
	}
	return t.err()
}

// checkSpecial asks git to check .gitmodules and .gitattributes files.
func (t *newTree) checkSpecial(ctx context.Context) error {
	for i, e := range t.entries {
		if e.remove || e.mode.Type() != git.TypeBlob || e.mode == git.ModeSymlink || !git.IsSpecial(e.path) {
			continue
		}
		blob, sent := t.blobs[e.sha]
		contents := blob.Data
		if !sent {
			var err error
			if _, contents, err = t.objects.Contents(ctx, e.sha, web.MaxBlob); err != nil {
				if !errs.Is(err, errs.TooLarge) {
					return err
				}
				t.refuseAt(i, "sha", errs.InvalidField, "is too large for such a file")
				continue
			}
		}
		err := t.objects.CheckSpecial(ctx, map[string][]byte{e.path: contents})
		switch {
		case errs.Is(err, errs.Invalid):
			t.refuseAt(i, "content", errs.InvalidField, "would be refused by git: "+err.Error())
		case err != nil:
			return err
		}
		if len(t.wrong) >= maxTold {
			break
		}
	}
	return t.err()
}
