package detect

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// Bounds on one look at a tree. What is beyond them does not count.
const (
	maxFiles   = 100_000  // entries that are walked
	maxPaths   = 4 << 20  // bytes of their paths
	maxMatched = 1 << 20  // bytes of parts of paths of which patterns are asked
	maxReads   = 500      // programs without an extension, whose first lines are read
	maxText    = 64 << 10 // bytes of such a program
	maxLine    = 256      // bytes of its first line
)

// language is how much code there is of one.
type language struct {
	Name  string
	Bytes int64
}

// ByName gives the likeliest language of a file by its name; empty where that tells nothing.
func ByName(file string) string {
	if found := languages().byName(file); len(found) > 0 {
		return found[0]
	}
	return ""
}

// counter adds up the code of a tree.
type counter struct {
	*table
	sizes  map[string]int64   // of languages that are sure, by name
	unsure map[string]*unsure // by their candidates, joined
	read   []program

	dirs    map[string]bool // whether others wrote what is in a directory
	matched int             // bytes of which the patterns were asked
}

// unsure are files for which there are several candidates.
type unsure struct {
	candidates []string
	size       int64
}

// program is an executable file without an extension.
type program struct {
	sha  git.SHA
	size int64
}

// count adds up the code of a tree by language, most first. Programming languages and markup
// count, and nothing that others wrote or programs made, as at GitHub. Where a name has several
// candidates, the one counts of which there is most code besides.
func count(ctx context.Context, objects *git.Repository, tree git.SHA) ([]language, error) {
	c := &counter{table: languages(), sizes: map[string]int64{}, unsure: map[string]*unsure{},
		dirs: map[string]bool{}}
	walked, paths := 0, 0
	err := objects.WalkTree(ctx, tree, true, func(e *git.WalkEntry) error {
		walked, paths = walked+1, paths+len(e.Path)
		if walked > maxFiles || paths > maxPaths {
			return git.ErrStop
		}
		c.see(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range c.read {
		_, text, err := objects.Contents(ctx, p.sha, maxText)
		if errs.Is(err, errs.TooLarge) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c.add(c.byText(text), p.size)
	}
	return c.list(), nil
}

func (c *counter) see(e *git.WalkEntry) {
	if e.Mode != git.ModeFile && e.Mode != git.ModeExecutable || e.Size <= 0 {
		return
	}
	candidates := c.byName(string(e.Path))
	unnamed := candidates == nil && e.Mode == git.ModeExecutable && len(c.read) < maxReads
	if !unnamed && !slices.ContainsFunc(candidates, func(name string) bool { return c.Code[name] != "" }) ||
		c.isForeign(string(e.Path)) {
		return
	}
	if unnamed {
		c.read = append(c.read, program{git.SHA(e.SHA), e.Size})
	}
	c.add(candidates, e.Size)
}

// isForeign tells of a file that counts whether others wrote it. The patterns are asked of each
// directory once, and of a path's last two parts: so what it costs does not grow with the depth.
func (c *counter) isForeign(file string) bool {
	dir, _ := path.Split(file)
	return c.foreignDir(strings.TrimSuffix(dir, "/")) || c.matches(lastParts(file))
}

func (c *counter) foreignDir(dir string) bool {
	if dir == "" {
		return false
	}
	foreign, known := c.dirs[dir]
	if !known {
		above, _ := path.Split(dir)
		foreign = c.foreignDir(strings.TrimSuffix(above, "/")) || c.matches(lastParts(dir)+"/")
		c.dirs[dir] = foreign
	}
	return foreign
}

// matches asks the patterns, which takes some microseconds a byte. Once maxMatched bytes were
// asked, all else counts as foreign.
func (c *counter) matches(parts string) bool {
	c.matched += len(parts)
	return c.matched > maxMatched || c.foreign.MatchString(parts)
}

// lastParts are the last two parts of a path. Of a longer one they stand below a directory: some
// patterns are for the root.
func lastParts(name string) string {
	for at, slashes := len(name)-1, 0; at >= 0; at-- {
		if name[at] != '/' {
			continue
		}
		if slashes++; slashes == 2 {
			return "." + name[at:]
		}
	}
	return name
}

func (c *counter) add(candidates []string, size int64) {
	switch len(candidates) {
	case 0:
	case 1:
		c.sizes[candidates[0]] += size
	default:
		key := strings.Join(candidates, "\n")
		if c.unsure[key] == nil {
			c.unsure[key] = &unsure{candidates: candidates}
		}
		c.unsure[key].size += size
	}
}

// list gives the languages that count.
func (c *counter) list() []language {
	sizes := map[string]int64{}
	put := func(name string, size int64) {
		if under := c.Code[name]; under != "" {
			sizes[under] += size
		}
	}
	for _, u := range c.unsure {
		most := u.candidates[0]
		for _, name := range u.candidates {
			if c.sizes[name] > c.sizes[most] {
				most = name
			}
		}
		put(most, u.size)
	}
	for name, size := range c.sizes {
		put(name, size)
	}
	list := make([]language, 0, len(sizes))
	for name, size := range sizes {
		list = append(list, language{name, size})
	}
	slices.SortFunc(list, func(a, b language) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	return list
}
