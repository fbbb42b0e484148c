package gitdata

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Limits of templates.
const (
	maxTemplates    = 50       // of one kind
	maxTemplate     = 64 << 10 // bytes of a template
	maxTemplateHead = 8 << 10  // bytes of its front matter
	maxContactLinks = 20
)

// Templates are the templates on a default branch.
type Templates struct {
	Issues  []issueTemplateJSON `json:"issues"`
	Pulls   []pullTemplateJSON  `json:"pulls"`
	Links   []contactLinkJSON   `json:"links"`
	NoBlank bool                `json:"no_blank"`
}

type issueTemplateJSON struct {
	Filename string  `json:"filename"`
	Name     string  `json:"name"`
	About    *string `json:"about"`
	Title    *string `json:"title"`
	Body     string  `json:"body"`
}

type pullTemplateJSON struct {
	Filename string `json:"filename"`
	Body     string `json:"body"`
}

type contactLinkJSON struct {
	Name  string `json:"name" yaml:"name"`
	About string `json:"about" yaml:"about"`
	URL   string `json:"url" yaml:"url"`
}

// Templates returns the templates of issues and pull requests on the default branch of each repository:
// Markdown files with a name in their front matter in .github/ISSUE_TEMPLATE, and files named
// pull_request_template, or in a directory of that name, in .github, the root and docs. Files that are too
// large, not text or invalid are omitted.
func (s *Service) Templates(ctx context.Context, list []*repo.Access) (map[repo.ID]*Templates, error) {
	heads := make([]repo.Of[string], len(list))
	for n, a := range list {
		heads[n].In = a
	}
	tips, err := s.findAll(ctx, heads)
	if err != nil {
		return nil, err
	}
	out := map[repo.ID]*Templates{}
	for n, a := range list {
		t := &Templates{Issues: []issueTemplateJSON{}, Pulls: []pullTemplateJSON{}, Links: []contactLinkJSON{}}
		if out[a.ID] = t; tips[n] == "" { // an empty repository
			continue
		}
		if err := s.readTemplates(ctx, a, tips[n], t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Service) readTemplates(ctx context.Context, a *repo.Access, tip git.SHA, out *Templates) error {
	tree, err := s.peel(ctx, a, tip)
	if err != nil {
		return err
	}
	v, err := s.viewOf(ctx, a, tree)
	if err != nil {
		return err
	}
	defer v.release()
	for _, dir := range [...]string{".github", "", "docs"} {
		if err := v.pullTemplates(ctx, dir, out); err != nil {
			return err
		}
	}
	return v.issueTemplates(ctx, out)
}

// issueTemplates is the directory of issue templates, as at GitHub.
const issueTemplates = ".github/ISSUE_TEMPLATE"

// IssueTemplates returns the names of the Markdown files in the directory of issue templates.
func (s *Service) IssueTemplates(ctx context.Context, a *repo.Access) (names []string, err error) {
	err = s.eachTemplate(ctx, a, func(_ *view, e git.TreeEntry) error {
		if e.Type == git.TypeBlob && e.Mode != git.ModeSymlink && strings.HasSuffix(e.Path, ".md") {
			names = append(names, e.Path)
		}
		return nil
	})
	return names, err
}

// IssueTemplate reads an issue template by name. It returns "" if there is no readable one.
func (s *Service) IssueTemplate(ctx context.Context, a *repo.Access, name string) (text string, err error) {
	err = s.eachTemplate(ctx, a, func(v *view, e git.TreeEntry) (err error) {
		if e.Path == name {
			text, _, err = v.templateText(ctx, e)
		}
		return err
	})
	return text, err
}

// eachTemplate calls fn for each issue template on the default branch.
func (s *Service) eachTemplate(
	ctx context.Context, a *repo.Access, fn func(v *view, e git.TreeEntry) error,
) error {
	v, err := s.view(ctx, a, "")
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) { // an empty repository
		return nil
	}
	if err != nil {
		return err
	}
	defer v.release()
	list, err := v.among(ctx, issueTemplates, isTemplate)
	for _, e := range list {
		if err := fn(v, e); err != nil {
			return err
		}
	}
	return err
}

// among returns the entries of a directory with wanted names, or none if it does not exist.
func (v *view) among(
	ctx context.Context, dir string, wanted func(name string) bool,
) ([]git.TreeEntry, error) {
	at, err := v.lookup(ctx, dir)
	if errs.Is(err, errs.NotFound) || err == nil && at.Type != git.TypeTree {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := v.objects.Tree(ctx, at.SHA, func(name []byte) bool {
		return wanted(strings.ToLower(string(name)))
	})
	return list[:min(len(list), maxTemplates)], err
}

// templateText reads a template. ok is false if it is not a valid file.
func (v *view) templateText(ctx context.Context, e git.TreeEntry) (text string, ok bool, err error) {
	if e.Type != git.TypeBlob || e.Mode == git.ModeSymlink {
		return "", false, nil
	}
	_, data, err := v.objects.Contents(ctx, e.SHA, maxTemplate)
	if errs.Is(err, errs.TooLarge) {
		return "", false, nil
	}
	if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 || !utf8.ValidString(e.Path) {
		return "", false, err
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), true, nil
}

// isTemplate reports whether a folded file name can be a template.
func isTemplate(name string) bool {
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".txt")
}

func (v *view) pullTemplates(ctx context.Context, dir string, out *Templates) error {
	const name = "pull_request_template"
	list, err := v.among(ctx, dir, func(n string) bool {
		return n == name || isTemplate(n) &&
			n[:strings.LastIndexByte(n, '.')] == name
	})
	if err != nil {
		return err
	}
	var files []git.TreeEntry
	for _, e := range list {
		if e.Type != git.TypeTree {
			files = append(files, e)
			continue
		}
		inner, err := v.among(ctx, path.Join(dir, e.Path), isTemplate)
		if err != nil {
			return err
		}
		files = append(files, inner...)
	}
	for _, e := range files {
		body, ok, err := v.templateText(ctx, e)
		if err != nil {
			return err
		}
		if ok && len(out.Pulls) < maxTemplates {
			out.Pulls = append(out.Pulls, pullTemplateJSON{e.Path, body})
		}
	}
	return nil
}

func (v *view) issueTemplates(ctx context.Context, out *Templates) error {
	list, err := v.among(ctx, issueTemplates, func(n string) bool {
		return isTemplate(n) || n == "config.yml" ||
			n == "config.yaml"
	})
	if err != nil {
		return err
	}
	for _, e := range list {
		text, ok, err := v.templateText(ctx, e)
		if err != nil {
			return err
		}
		switch {
		case !ok:
		case strings.HasPrefix(strings.ToLower(e.Path), "config."):
			out.config(text)
		default:
			if t, ok := parseIssueTemplate(text); ok {
				t.Filename = e.Path
				out.Issues = append(out.Issues, t)
			}
		}
	}
	return nil
}

// parseIssueTemplate parses a template: YAML between two lines of dashes, and its body. A name is required.
func parseIssueTemplate(text string) (t issueTemplateJSON, ok bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, ends := strings.Cut(rest, "\n---\n")
	if !ok || !ends || len(head) > maxTemplateHead {
		return t, false
	}
	var h struct {
		Name  string  `yaml:"name"`
		About *string `yaml:"about"`
		Title *string `yaml:"title"`
	}
	if err := yaml.Unmarshal([]byte(head), &h); err != nil || strings.TrimSpace(h.Name) == "" {
		return t, false
	}
	return issueTemplateJSON{Name: h.Name, About: h.About, Title: h.Title,
		Body: strings.TrimLeft(body, "\n")}, true
}

// config parses config.yml: whether blank issues are allowed, and contact links.
func (out *Templates) config(text string) {
	var c struct {
		Blank *bool             `yaml:"blank_issues_enabled"`
		Links []contactLinkJSON `yaml:"contact_links"`
	}
	if len(text) > maxTemplateHead || yaml.Unmarshal([]byte(text), &c) != nil {
		return
	}
	out.NoBlank = c.Blank != nil && !*c.Blank
	links := slices.DeleteFunc(c.Links, func(l contactLinkJSON) bool {
		return l.Name == "" || !strings.HasPrefix(l.URL, "https://") && !strings.HasPrefix(l.URL, "http://")
	})
	out.Links = append(out.Links, links[:min(len(links), maxContactLinks)]...)
}
