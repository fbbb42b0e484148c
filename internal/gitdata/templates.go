package gitdata

import (
	"bytes"
	"context"
	"path"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue/form"
	"arbor/internal/repo"
)

// Limits of templates.
const (
	maxTemplates = 50       // of one kind
	maxTemplate  = 64 << 10 // bytes of a template
)

// Templates are the templates on a default branch.
type Templates struct {
	Issues []*form.Template
	Wrong  []WrongTemplate // of issues, which cannot be used
	Plain  string          // what an issue begins with where no template is chosen
	Pulls  []PullTemplate
	form.Config
}

// WrongTemplate is a file among the templates of issues that is none.
type WrongTemplate struct{ File, Problem string }

// PullTemplate is a text that a pull request begins with.
type PullTemplate struct {
	Filename string
	Body     string
	Chosen   bool // it is one of a directory, used only where its name is given
}

// Templates returns the templates of issues and pull requests on the default branch of each repository:
// Markdown files with a name in their front matter and forms in .github/ISSUE_TEMPLATE, and files named
// pull_request_template, or in a directory of that name, in .github, the root and docs. Files that are too
// large or not text are omitted.
func (s *Service) Templates(ctx context.Context, list []*repo.Access) (map[repo.ID]*Templates, error) {
	out := map[repo.ID]*Templates{}
	return out, s.eachDefault(ctx, list, func(a *repo.Access, v *view) error {
		t := &Templates{}
		if out[a.ID] = t; v == nil {
			return nil
		}
		return v.readTemplates(ctx, t)
	})
}

// eachDefault calls fn with the files on the default branch of each repository, or nil for an empty repository.
func (s *Service) eachDefault(ctx context.Context, list []*repo.Access, fn func(*repo.Access, *view) error) error {
	heads := make([]repo.Of[string], len(list))
	for n, a := range list {
		heads[n].In = a
	}
	tips, err := s.findAll(ctx, heads)
	if err != nil {
		return err
	}
	for n, a := range list {
		if err := s.onDefault(ctx, a, tips[n], fn); err != nil {
			return err
		}
	}
	return nil
}

// onDefault is eachDefault for one repository with the tip of its default branch.
func (s *Service) onDefault(
	ctx context.Context, a *repo.Access, tip git.SHA, fn func(*repo.Access, *view) error,
) error {
	if tip == "" {
		return fn(a, nil)
	}
	tree, err := s.peel(ctx, a, tip)
	if err != nil {
		return err
	}
	v, err := s.viewOf(ctx, a, tree)
	if err != nil {
		return err
	}
	defer v.release()
	return fn(a, v)
}

func (v *view) readTemplates(ctx context.Context, out *Templates) error {
	for _, dir := range [...]string{".github", "", "docs"} {
		if err := v.plainTemplates(ctx, dir, out); err != nil {
			return err
		}
	}
	return v.issueTemplates(ctx, out)
}

// issueTemplates is the directory of issue templates, as at GitHub.
const issueTemplates = ".github/ISSUE_TEMPLATE"

// TemplateProblem returns why the file of a path cannot be used as a template of issues; "" if it can, or need
// not be one.
func TemplateProblem(file, text string) string {
	dir, name := path.Split(file)
	if path.Clean(dir) != issueTemplates || !isTemplate(strings.ToLower(name)) && !form.IsForm(name) {
		return ""
	}
	var err error
	if form.IsConfig(name) {
		_, err = form.ParseConfig(text)
	} else {
		_, err = form.Parse(name, text)
	}
	if err != nil {
		return err.Error()
	}
	return ""
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

// plainTemplates reads the templates that are named by what they are for.
func (v *view) plainTemplates(ctx context.Context, dir string, out *Templates) error {
	list, err := v.among(ctx, dir, func(n string) bool { return plainKind(n) != "" })
	if err != nil {
		return err
	}
	for _, e := range list {
		kind := plainKind(e.Path)
		files, folder := []git.TreeEntry{e}, e.Type == git.TypeTree
		if folder && kind == "issue_template" {
			continue
		}
		if folder {
			if files, err = v.among(ctx, path.Join(dir, e.Path), isTemplate); err != nil {
				return err
			}
		}
		for _, e := range files {
			body, ok, err := v.templateText(ctx, e)
			switch {
			case err != nil:
				return err
			case !ok:
			case kind == "issue_template" && out.Plain == "":
				out.Plain = body
			case kind == "pull_request_template" && len(out.Pulls) < maxTemplates:
				out.Pulls = append(out.Pulls, PullTemplate{e.Path, body, folder})
			}
		}
	}
	return nil
}

// plainKind returns what a file or directory of a name has templates of, or "".
func plainKind(name string) string {
	name = strings.ToLower(name)
	if isTemplate(name) {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if name == "issue_template" || name == "pull_request_template" {
		return name
	}
	return ""
}

func (v *view) issueTemplates(ctx context.Context, out *Templates) error {
	list, err := v.among(ctx, issueTemplates, func(n string) bool { return isTemplate(n) || form.IsForm(n) })
	if err != nil {
		return err
	}
	for _, e := range list {
		text, ok, err := v.templateText(ctx, e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if form.IsConfig(e.Path) {
			out.Config, err = form.ParseConfig(text)
		} else {
			var t *form.Template
			if t, err = form.Parse(e.Path, text); err == nil {
				out.Issues = append(out.Issues, t)
			}
		}
		if err != nil {
			out.Wrong = append(out.Wrong, WrongTemplate{e.Path, err.Error()})
		}
	}
	return nil
}
