package git

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
	"arbor/internal/git/tree"
)

// Trees read at once: so many, and so many bytes or one.
const (
	treesAhead     = 1000
	treeBytesAhead = 4 << 20
)

// readTree reads a tree with one process. Another object is NotFound, since no walk
// goes into it.
func (c *catFile) readTree(id ID) ([]byte, error) {
	info, contents, err := c.contents(SHA(id.String()), MaxTreeBytes)
	var spent errSpent
	if errors.As(err, &spent) {
		return nil, spent.error
	}
	if err == nil && info.Type != TypeTree {
		return nil, missing(id.String())
	}
	return contents, err
}

// readAhead reads the first of the trees in one exchange, and gives the rest.
func (c *catFile) readAhead(trees []packfile.Tree) (ahead map[ID][]byte, rest []packfile.Tree, err error) {
	n, size := 0, int64(0)
	var request []byte
	for n < len(trees) && n < treesAhead && (n == 0 || size+trees[n].Size <= treeBytesAhead) {
		request = append(append(append(request, "contents "...), trees[n].SHA...), '\n')
		size += trees[n].Size
		n++
	}
	request = append(request, "flush\n"...)
	written := make(chan error, 1)
	go func() {
		_, err := c.in.Write(request)
		written <- err
	}()
	ahead = make(map[ID][]byte, n)
	for _, t := range trees[:n] {
		_, contents, err := c.answer(t.SHA, MaxTreeBytes)
		if err != nil {
			c.kill()
			<-written
			return nil, nil, errDirty{err}
		}
		ahead[t.SHA.ID()] = contents
	}
	return ahead, trees[n:], <-written
}

// checkTip counts the tree of a new tip, which is a commit or a tree itself.
func (c *catFile) checkTip(p *tree.Counter, tip Object) error {
	tree := tip.SHA
	switch tip.Type {
	case TypeCommit:
		_, contents, err := c.contents(tip.SHA, object.MaxCommitBytes)
		if err != nil {
			return err
		}
		line, _, _ := bytes.Cut(contents, []byte("\n"))
		if tree, err = ParseSHA(strings.TrimPrefix(string(line), "tree ")); err != nil {
			return fmt.Errorf("git: commit %s has no tree: %w", tip.SHA, err)
		}
	case TypeTree:
	default:
		return nil
	}
	return p.Check(tree.ID())
}
