package tree

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Edit is one change to a tree: what the path shall be, or that it goes.
type Edit struct {
	Path string // passes PathProblem
	Mode object.Mode
	SHA  object.SHA // an object that exists, or will; "" removes the path
}

// Problem is why an edit cannot be made. It is of kind Invalid.
type Problem struct {
	Edit   int // its place in the list
	Reason string
}

// Error names the edit by its place.
func (p *Problem) Error() string { return fmt.Sprintf("edit %d %s", p.Edit, p.Reason) }

// Built is a tree made by Build.
type Built struct {
	SHA      object.SHA
	Contents []byte             // of the tree itself, as git stores it
	Objects  []object.NewObject // all trees that are new or changed; to be written
}

// Build returns the tree that results from applying the edits to base, as decision 44 says;
// base "" begins with nothing. It writes nothing. Of two edits of one path the
// last counts; what an edit says of a path below another's tree changes that
// tree; a directory that loses its last entry goes. Only trees on the way to an
// edit are read and made.
//
// Errors: *Problem; NotFound for a tree that is missing; Invalid when one
// is damaged. A result with more than MaxPaths is a *Problem.
//
// Trees are read by read, which gives nothing for "" and the empty tree, and counted
// with what is known.
func Build(
	read func(object.SHA) ([]byte, error), counts *cache.Recent[object.ID, Count], base object.SHA,
	edits []Edit,
) (*Built, error) {
	b := &builder{read: read, edits: edits}
	root := &editNode{edit: -1}
	for i := range edits {
		root.add(edits[i].Path, i)
	}
	contents, err := b.read(base)
	if err != nil {
		return nil, err
	}
	built, err := b.build(root, contents, nil)
	if err != nil {
		return nil, err
	}
	made := object.NewObject{Type: object.TypeTree, Data: built}
	b.objects = append(b.objects, made)
	if err := b.checkPaths(made, counts); err != nil {
		return nil, err
	}
	return &Built{SHA: made.SHA(), Contents: built, Objects: b.objects}, nil
}

// checkPaths counts the paths of the new tree where an edit puts a whole tree
// somewhere: other edits add at most what they name.
func (b *builder) checkPaths(root object.NewObject, counts *cache.Recent[object.ID, Count]) error {
	at := slices.IndexFunc(b.edits, func(e Edit) bool { return e.Mode == object.ModeTree && e.SHA != "" })
	if at < 0 {
		return nil
	}
	made := make(map[object.ID][]byte, len(b.objects))
	for _, o := range b.objects {
		made[o.ID()] = o.Data
	}
	err := NewCounter(func(id object.ID) ([]byte, error) {
		if contents, ok := made[id]; ok {
			return contents, nil
		}
		return b.read(id.SHA())
	}, counts).Check(root.ID())
	if over, ok := errors.AsType[*errs.Error](err); errs.Is(err, errs.Invalid) && ok {
		return &Problem{at, "makes the tree too large: " + over.Message}
	}
	return err
}

// editNode is a name that edits speak of.
type editNode struct {
	edit     int // the last edit of this very path; -1 for none
	children map[string]*editNode
}

func (n *editNode) add(path string, edit int) {
	for {
		part, rest, more := strings.Cut(path, "/")
		child := n.children[part]
		if child == nil {
			child = &editNode{edit: -1}
			if n.children == nil {
				n.children = map[string]*editNode{}
			}
			n.children[part] = child
		}
		if n = child; !more {
			n.edit = edit
			return
		}
		path = rest
	}
}

// first is an edit at or below the node, to name in an error.
func (n *editNode) first() int {
	if n.edit >= 0 {
		return n.edit
	}
	least := -1
	for _, c := range n.children {
		if e := c.first(); least < 0 || e < least {
			least = e
		}
	}
	return least
}

type builder struct {
	read    func(object.SHA) ([]byte, error)
	edits   []Edit
	objects []object.NewObject
}

func (b *builder) readEntry(e *object.Entry) ([]byte, error) {
	return b.read(object.SHA(hex.EncodeToString(e.ID)))
}

// build applies the children of n to a tree and gives the new tree's contents.
// was is the tree that the request removed from this place, nil for none:
// removals below it are held against it.
func (b *builder) build(n *editNode, tree, was []byte) ([]byte, error) {
	entries, err := object.ParseTree(tree)
	if err != nil {
		return nil, err
	}
	lost, err := n.named(was)
	if err != nil {
		return nil, err
	}
	out := make([]object.Entry, 0, len(entries)+len(n.children))
	put := func(name []byte, child *editNode, old, lost *object.Entry) error {
		made, err := b.apply(child, old, lost)
		if made != nil {
			out = append(out, object.Entry{Mode: made.Mode, Name: name, ID: made.ID})
		}
		return err
	}
	seen := make(map[string]bool, len(n.children))
	for i, e := range entries {
		child := n.children[string(e.Name)]
		if child == nil {
			out = append(out, e)
			continue
		}
		seen[string(e.Name)] = true
		if err := put(e.Name, child, &entries[i], nil); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		if !seen[name] {
			if err := put([]byte(name), n.children[name], nil, lost[name]); err != nil {
				return nil, err
			}
		}
	}
	return object.EncodeTree(out)
}

// named returns the entries of a tree for which the node has children.
func (n *editNode) named(tree []byte) (map[string]*object.Entry, error) {
	entries, err := object.ParseTree(tree)
	found := map[string]*object.Entry{}
	for i, e := range entries {
		if n.children[string(e.Name)] != nil {
			found[string(e.Name)] = &entries[i]
		}
	}
	return found, err
}

// apply finds what becomes of one entry: of old, nil if there is none. lost
// is what stood here before the request removed a directory above. A nil entry
// means that nothing is here afterwards.
func (b *builder) apply(n *editNode, old, lost *object.Entry) (*object.Entry, error) {
	now, err := b.edited(n, old, lost)
	if err != nil || len(n.children) == 0 {
		return now, err
	}
	var tree, was []byte // the directory that is built upon, and the one that goes
	if now == nil {
		if before := firstEntry(old, lost); before != nil && before.Mode == object.ModeTree {
			was, err = b.readEntry(before)
		}
	} else if now.Mode == object.ModeTree {
		tree, err = b.readEntry(now)
	} else {
		err = &Problem{b.below(n), fmt.Sprintf("needs a directory where a %s is", now.Mode.Type())}
	}
	if err != nil {
		return nil, err
	}
	built, err := b.build(n, tree, was)
	if err != nil || len(built) == 0 {
		return nil, err
	}
	if now != nil && bytes.Equal(built, tree) {
		return now, nil
	}
	made := object.NewObject{Type: object.TypeTree, Data: built}
	b.objects = append(b.objects, made)
	id := made.ID()
	return &object.Entry{Mode: object.ModeTree, ID: id[:]}, nil
}

// edited is what the edit of this very path, if there is one, makes of old: nil
// when it removes it.
func (b *builder) edited(n *editNode, old, lost *object.Entry) (*object.Entry, error) {
	if n.edit < 0 {
		return old, nil
	}
	edit := b.edits[n.edit]
	if edit.SHA == "" {
		if old == nil && lost == nil {
			return nil, &Problem{n.edit, "is not there to be removed"}
		}
		return nil, nil
	}
	id, err := hex.DecodeString(string(edit.SHA))
	if err != nil || len(id) != 20 {
		return nil, edit.SHA.Check()
	}
	return &object.Entry{Mode: edit.Mode, ID: id}, nil
}

// below is the first edit below a node.
func (b *builder) below(n *editNode) int {
	return (&editNode{edit: -1, children: n.children}).first()
}

func firstEntry(list ...*object.Entry) *object.Entry {
	for _, e := range list {
		if e != nil {
			return e
		}
	}
	return nil
}
