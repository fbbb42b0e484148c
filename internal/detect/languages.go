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

// Limits of reading a tree. Anything beyond them is ignored.
const (
	maxFiles   = 100_000  // tree entries
	maxPaths   = 4 << 20  // bytes of their paths
	maxMatched = 1 << 20  // bytes of path segments matched against patterns
	maxReads   = 500      // programs without an extension whose first line is read
	maxText    = 64 << 10 // bytes of such a program
	maxLine    = 256      // bytes of its first line
)

// language is the amount of code in one language.
type language struct {
	Name  string
	Bytes int64
}

// ByName returns the most likely language of a file name, or "".
func ByName(file string) string {
	if found := languages().byName(file); len(found) > 0 {
		return found[0]
	}
	return ""
}

// Color returns the color by which a language is known, as #rrggbb, or "".
func Color(language string) string { return languages().Colors[language] }

// counter counts the code of a tree.
type counter struct {
	*table
	sizes  map[string]int64   // of files with one candidate, by language
	unsure map[string]*unsure // of files with several candidates, by these
	read   []program

	dirs    map[string]bool // whether files in a directory are vendored or generated
	matched int             // bytes matched against patterns
}

// unsure holds the size of files with several candidates.
type unsure struct {
	candidates []string
	size       int64
}

// program is an executable file without an extension.
type program struct {
	sha  git.SHA
	size int64
}

// count counts the code of a tree by language, most first. As at GitHub, it counts programming and markup
// languages and ignores vendored and generated files. For a file with several candidates it chooses the one
// with most other code.
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

// isForeign reports whether a file is vendored or generated. Patterns are matched once against each
// directory and against the path's last two segments, so the cost does not grow with the depth.
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

// matches matches the patterns, which takes some microseconds per byte. Beyond maxMatched bytes everything
// counts as a match.
func (c *counter) matches(parts string) bool {
	c.matched += len(parts)
	return c.matched > maxMatched || c.foreign.MatchString(parts)
}

// lastParts returns the last two segments of a path. For a longer path they are put below a directory,
// because some patterns match only in the root.
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

// list returns the languages that count.
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
