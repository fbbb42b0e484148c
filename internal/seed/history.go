package seed

import (
	"context"
	"strings"

	"arbor/internal/git"
	"arbor/internal/repo"
)

const (
	heads = "refs/heads/"
	tags  = "refs/tags/"
)

// history builds commits from the steps of one repository.
type history struct {
	*applier
	r       *Repo
	access  *repo.Access
	objects *git.Repository
	refs    map[string]git.SHA // by full name, as they will be
	before  map[string]git.SHA // as they are
	order   []string           // of the new and the moved
}

// history creates the repository's commits, branches and tags. All objects are
// written before a ref moves, and each ref moves once.
func (a *applier) history(ctx context.Context, r *Repo) error {
	if len(r.steps) == 0 {
		return nil
	}
	h := &history{applier: a, r: r, refs: map[string]git.SHA{}, before: map[string]git.SHA{}}
	var err error
	if h.access, err = a.access(ctx, r); err != nil {
		return a.s.errorAt(&r.position, err)
	}
	objects, release, err := a.repos.Git(ctx, h.access)
	if err != nil {
		return err
	}
	defer release()
	h.objects = objects
	refs, err := a.repos.Refs(ctx, h.access)
	if err != nil {
		return err
	}
	for _, ref := range refs.List {
		h.refs[ref.Name], h.before[ref.Name] = ref.SHA, ref.SHA
	}
	for i := range r.steps {
		if err := a.s.errorAt(r.steps[i].at, h.step(ctx, &r.steps[i])); err != nil {
			return err
		}
	}
	a.clock.set(r.CreatedAt)
	for _, name := range h.order {
		if err := a.s.errorAt(&r.position, h.move(ctx, name)); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) move(ctx context.Context, name string) error {
	var err error
	if _, known := h.before[name]; known {
		_, err = h.repos.UpdateRef(ctx, h.access, name, h.refs[name], false)
	} else {
		_, err = h.repos.CreateRef(ctx, h.access, name, h.refs[name])
	}
	return err
}

// set notes what a ref will name.
func (h *history) set(name string, sha git.SHA) {
	if h.refs[name] == sha {
		return
	}
	h.refs[name] = sha
	for _, n := range h.order {
		if n == name {
			return
		}
	}
	h.order = append(h.order, name)
}

// find is the commit that a branch or tag names.
func (h *history) find(ctx context.Context, name string) (git.SHA, error) {
	if sha, ok := h.refs[heads+name]; ok {
		return sha, nil
	}
	sha, ok := h.refs[tags+name]
	if !ok {
		return "", errNo("branch or tag %q not found", name)
	}
	_, peeled, err := h.objects.Peel(ctx, sha)
	if err == nil && peeled.Type != git.TypeCommit {
		err = errNo("%q is not a commit", name)
	}
	return peeled.SHA, err
}

func (h *history) step(ctx context.Context, s *step) error {
	if s.tag != nil {
		return h.tag(ctx, s.tag)
	}
	name := heads + s.branch
	tip, born := h.refs[name]
	if !born && s.from != "" {
		var err error
		if tip, err = h.find(ctx, s.from); err != nil {
			return err
		}
	}
	if s.commit == nil {
		h.set(name, tip)
		return nil
	}
	sha, err := h.commit(ctx, tip, s.commit)
	if err != nil {
		return err
	}
	h.set(name, sha)
	if s.commit.Tag != "" {
		h.set(tags+s.commit.Tag, sha)
	}
	return nil
}

// commit writes a commit with its files.
func (h *history) commit(ctx context.Context, tip git.SHA, c *Commit) (git.SHA, error) {
	made := git.Commit{Message: line(c.Message)}
	var base git.SHA
	var err error
	if tip != "" {
		made.Parents = []git.SHA{tip}
		if base, err = h.objects.PeelToTree(ctx, tip); err != nil {
			return "", err
		}
	}
	for _, name := range c.Merge {
		sha, err := h.find(ctx, name)
		if err != nil {
			return "", err
		}
		made.Parents = append(made.Parents, sha)
	}
	var objects []git.NewObject
	var edits []git.TreeEdit
	for i := range c.Files {
		f := &c.Files[i]
		edit := git.TreeEdit{Path: f.Path, Mode: modes[f.Mode]}
		if !f.Removed {
			blob := git.NewObject{Type: git.TypeBlob, Data: f.data()}
			if git.IsSpecial(f.Path) {
				if err := h.objects.CheckSpecial(ctx, map[string][]byte{f.Path: blob.Data}); err != nil {
					return "", err
				}
			}
			edit.SHA = blob.SHA()
			objects = append(objects, blob)
		}
		edits = append(edits, edit)
	}
	tree, err := h.objects.BuildTree(ctx, base, edits)
	if err != nil {
		return "", err
	}
	made.Tree = tree.SHA
	h.clock.set(c.Date)
	if made.Author, err = h.who(ctx, &c.Author); err != nil {
		return "", err
	}
	if made.Committer, err = h.who(ctx, &c.Committer); err != nil {
		return "", err
	}
	encoded, err := made.Encode()
	if err != nil {
		return "", err
	}
	_, err = h.repos.WriteObjects(ctx, h.access, append(append(objects, tree.Objects...), encoded))
	return encoded.SHA(), err
}

// line ends a message as git does.
func line(message string) string { return strings.TrimRight(message, "\n") + "\n" }

// who is an author at the clock's time.
func (h *history) who(ctx context.Context, p *Person) (git.Signature, error) {
	if p.Login == "" {
		return git.Signature{Name: p.Name, Email: p.Email, When: h.clock.now()}, nil
	}
	caller, err := h.caller(p.Login)
	if err != nil {
		return git.Signature{}, err
	}
	return h.repos.Identity(ctx, caller)
}

func (h *history) tag(ctx context.Context, t *Tag) error {
	target, err := h.find(ctx, t.Target)
	if err != nil || t.Message == "" {
		h.set(tags+t.Name, target)
		return err
	}
	h.clock.set(t.Date)
	tagger, err := h.who(ctx, &t.Tagger)
	if err != nil {
		return err
	}
	encoded, err := (&git.Tag{Object: target, Type: git.TypeCommit, Name: t.Name, Tagger: &tagger,
		Message: line(t.Message)}).Encode()
	if err != nil {
		return err
	}
	if _, err := h.repos.WriteObjects(ctx, h.access, []git.NewObject{encoded}); err != nil {
		return err
	}
	h.set(tags+t.Name, encoded.SHA())
	return nil
}
