package gitdata

import (
	"context"
	"path"
	"strings"

	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// HealthFile is a community file of a repository. Its text is empty if it is too large or not text.
type HealthFile struct{ Page, Text string }

// Health is what a repository tells contributors on its default branch; nil: nothing.
type Health struct{ Contributing, Conduct *HealthFile }

// Health reads the community files of each repository, where GetCommunity finds them.
func (s *Service) Health(ctx context.Context, list []*repo.Access) (map[repo.ID]*Health, error) {
	heads := make([]repo.Of[string], len(list))
	for n, a := range list {
		heads[n].In = a
	}
	tips, err := s.findAll(ctx, heads)
	if err != nil {
		return nil, err
	}
	out := map[repo.ID]*Health{}
	for n, a := range list {
		h := &Health{}
		if out[a.ID] = h; tips[n] == "" { // an empty repository
			continue
		}
		if err := s.readHealth(ctx, a, tips[n], h); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) readHealth(ctx context.Context, a *repo.Access, tip git.SHA, out *Health) error {
	tree, err := s.peel(ctx, a, tip)
	if err != nil {
		return err
	}
	v, err := s.viewOf(ctx, a, tree)
	if err != nil {
		return err
	}
	defer v.release()
	page := web.From(ctx).Page(web.Path(a.Owner.Login, a.Name)) + "/blob/" + escapePath(a.DefaultBranch) + "/"
	for _, dir := range readmeDirs {
		list, err := v.among(ctx, dir, func(name string) bool {
			kind := healthKind(name)
			return kind != "" && !strings.HasSuffix(kind, "_template")
		})
		if err != nil {
			return err
		}
		for _, e := range list {
			to := &out.Contributing
			if healthKind(e.Path) == "code_of_conduct" {
				to = &out.Conduct
			}
			if *to != nil || e.Type != git.TypeBlob {
				continue
			}
			text, _, err := v.templateText(ctx, e)
			if err != nil {
				return err
			}
			*to = &HealthFile{page + escapePath(path.Join(dir, e.Path)), text}
		}
	}
	return nil
}
