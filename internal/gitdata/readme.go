package gitdata

import (
	"context"
	"path"
	"strings"

	"arbor/internal/detect"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// readmeDirs are where the readme of a repository is looked for, in this order.
var readmeDirs = [...]string{".github", "", "docs"}

// ReadmePath is the path of the file that GetReadme answers, at a revision. Error: 404.
func (s *Service) ReadmePath(ctx context.Context, a *repo.Access, ref string) (string, error) {
	v, err := s.view(ctx, a, ref)
	if err != nil {
		return "", err
	}
	defer v.release()
	entry, err := v.readme(ctx, readmeDirs[:])
	return entry.Path, err
}

// readme returns the readme in the first of the directories that has one.
func (v *view) readme(ctx context.Context, dirs []string) (git.TreeEntry, error) {
	for _, dir := range dirs {
		at, err := v.lookup(ctx, dir)
		if errs.Is(err, errs.NotFound) || err == nil && at.Type != git.TypeTree {
			continue
		}
		if err != nil {
			return git.TreeEntry{}, err
		}
		entries, err := v.objects.Tree(ctx, at.SHA, func(name []byte) bool {
			return len(name) >= len("readme") && strings.EqualFold(string(name[:len("readme")]), "readme")
		})
		if err != nil {
			return git.TreeEntry{}, err
		}
		if best, found := bestReadme(entries); found {
			best.Path = path.Join(dir, best.Path)
			return best, nil
		}
	}
	return git.TreeEntry{}, errs.Absent()
}

// bestReadme selects the best of the files named readme in any case.
func bestReadme(entries []git.TreeEntry) (best git.TreeEntry, found bool) {
	least := 0
	for _, e := range entries {
		if e.Type != git.TypeBlob {
			continue
		}
		if rank := readmeRank(e.Path); rank > 0 && (!found || rank < least) {
			best, least, found = e, rank, true
		}
	}
	return best, found
}

// readmeRank returns the rank of a name as a readme: 1 is the best, 0 means not a readme. Markdown is
// preferred, then other markup, then plain text.
func readmeRank(name string) int {
	const kinds = ".md .markdown .mdown .mkdn .mkd .rst .adoc .asciidoc .asc .textile .org .rdoc .pod .creole .mediawiki .wiki .txt"
	name = strings.ToLower(name)
	rest, ok := strings.CutPrefix(name, "readme")
	if !ok || rest != "" && rest[0] != '.' {
		return 0
	}
	list := strings.Fields(kinds)
	for i, kind := range list {
		if rest == kind {
			return i + 1
		}
	}
	if rest == "" {
		return len(list) + 1
	}
	return len(list) + 2
}

// license finds the license file. Error: 404.
func (v *view) license(ctx context.Context) (git.TreeEntry, error) {
	entry, found, err := detect.License(ctx, v.objects, v.tree)
	if err == nil && !found {
		err = errs.Absent()
	}
	return entry, err
}
