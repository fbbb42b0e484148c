package catfile

import (
	"errors"

	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
)

// Trees read at once: so many, and so many bytes or one.
const (
	treesAhead     = 1000
	treeBytesAhead = 4 << 20
)

// ReadTree reads a tree with one process. Another object is NotFound, since no walk
// goes into it.
func (c *Process) ReadTree(id object.ID) ([]byte, error) {
	info, contents, err := c.Contents(object.SHA(id.String()), object.MaxTreeBytes)
	if spent, ok := errors.AsType[SpentError](err); ok {
		return nil, spent.Err
	}
	if err == nil && info.Type != object.TypeTree {
		return nil, Missing(id.String())
	}
	return contents, err
}

// ReadAhead reads the first of the trees in one exchange, and gives the rest.
func (c *Process) ReadAhead(
	trees []packfile.Tree,
) (ahead map[object.ID][]byte, rest []packfile.Tree, err error) {
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
	ahead = make(map[object.ID][]byte, n)
	for _, t := range trees[:n] {
		_, contents, err := c.answer(t.SHA, object.MaxTreeBytes)
		if err != nil {
			c.Kill()
			<-written
			return nil, nil, DirtyError{err}
		}
		ahead[t.SHA.ID()] = contents
	}
	return ahead, trees[n:], <-written
}
