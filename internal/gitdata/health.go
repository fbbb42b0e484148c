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

// Health holds the community files on a repository's default branch. Those that are missing are nil.
type Health struct{ Contributing, Conduct, Security *HealthFile }

// Health reads the community files of each repository, where GetCommunity finds them.
func (s *Service) Health(ctx context.Context, list []*repo.Access) (map[repo.ID]*Health, error) {
	out := map[repo.ID]*Health{}
	return out, s.eachDefault(ctx, list, func(a *repo.Access, v *view) error {
		h := &Health{}
		if out[a.ID] = h; v == nil {
			return nil
		}
		return v.readHealth(ctx, a, h)
	})
}

func (v *view) readHealth(ctx context.Context, a *repo.Access, out *Health) error {
	page := web.From(ctx).Page(web.Path(a.Owner.Login, a.Name)) + "/blob/" + escapePath(a.DefaultBranch) + "/"
	for _, dir := range readmeDirs {
		list, err := v.among(ctx, dir, func(name string) bool {
			kind := healthKind(name)
			return kind != "" && !strings.HasSuffix(kind, "_template") || isSecurityPolicy(name)
		})
		if err != nil {
			return err
		}
		for _, e := range list {
			to := &out.Contributing
			switch {
			case isSecurityPolicy(e.Path):
				to = &out.Security
			case healthKind(e.Path) == "code_of_conduct":
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

// isSecurityPolicy reports whether a file says how to report vulnerabilities.
func isSecurityPolicy(name string) bool {
	return strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), "security")
}
