package gitdata

import (
	"context"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Submodule is a submodule of which .gitmodules tells the address.
type Submodule struct {
	Name, Path, URL string
	Branch          string  // empty: none is named
	SHA             git.SHA // of the commit at the path; empty: the tree has none there
}

// maxSubmodules is how many submodules of a tree are listed.
const maxSubmodules = 1000

// Submodules lists the submodules of commits that are visible to the caller, in the order of .gitmodules.
func (s *Service) Submodules(
	ctx context.Context, commits []repo.Of[git.SHA],
) (map[repo.Of[git.SHA]][]Submodule, error) {
	known, err := s.Known(ctx, commits, git.TypeCommit)
	out := map[repo.Of[git.SHA]][]Submodule{}
	for _, of := range known {
		if err == nil {
			err = s.onDefault(ctx, of.In, of.Key, func(_ *repo.Access, v *view) (err error) {
				out[of], err = v.submodules(ctx)
				return err
			})
		}
	}
	return out, err
}

// DefaultSubmodules lists the submodules of the default branch of each repository.
func (s *Service) DefaultSubmodules(ctx context.Context, list []*repo.Access) (map[repo.ID][]Submodule, error) {
	out := map[repo.ID][]Submodule{}
	return out, s.eachDefault(ctx, list, func(a *repo.Access, v *view) (err error) {
		if v != nil {
			out[a.ID], err = v.submodules(ctx)
		}
		return err
	})
}

// submodules lists the submodules of the tree with their commits.
func (v *view) submodules(ctx context.Context) ([]Submodule, error) {
	list, err := v.named(ctx)
	for n := range list {
		entry, err := v.lookup(ctx, list[n].Path)
		switch {
		case err == nil && entry.Mode == git.ModeSubmodule:
			list[n].SHA = entry.SHA
		case err != nil && !errs.Is(err, errs.NotFound):
			return nil, err
		}
	}
	return list, err
}

// submodule returns the address of the submodule at a path, or nil if .gitmodules has none.
func (v *view) submodule(ctx context.Context, at string) (*string, error) {
	list, err := v.named(ctx)
	for _, m := range list {
		if m.Path == at {
			return &m.URL, err
		}
	}
	return nil, err
}

// named reads .gitmodules, if the tree has it and it is not too large.
func (v *view) named(ctx context.Context) ([]Submodule, error) {
	entry, err := v.lookup(ctx, ".gitmodules")
	if err != nil || entry.Type != git.TypeBlob {
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
		return nil, err
	}
	_, text, err := v.objects.Contents(ctx, entry.SHA, maxInline)
	if errs.Is(err, errs.TooLarge) {
		return nil, nil
	}
	return parseSubmodules(string(text)), err
}

// parseSubmodules reads the text of .gitmodules: sections that have a path and an address.
func parseSubmodules(text string) (list []Submodule) {
	var m Submodule
	end := func() {
		if m.Path != "" && m.URL != "" && len(list) < maxSubmodules {
			list = append(list, m)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if section, begins := strings.CutPrefix(line, "["); begins {
			end()
			section = strings.TrimSuffix(section, "]")
			_, name, _ := strings.Cut(section, " ")
			m = Submodule{Name: strings.Trim(strings.TrimSpace(name), `"`)}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "path":
			m.Path = value
		case "url":
			m.URL = value
		case "branch":
			m.Branch = value
		}
	}
	end()
	return list
}
