// Package form reads the templates of issues: Markdown with front matter, issue forms in YAML, and the
// settings in config.yml, as GitHub defines them. It knows no repositories: package gitdata finds the files.
//
//	form.go    templates of both kinds, config.yml
//	check.go   what a form must keep to
//	body.go    answers to a form, as the text of an issue
package form

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Limits.
const (
	maxHead    = 8 << 10 // bytes of front matter, and of config.yml
	maxLinks   = 20
	maxFields  = 100       // elements of a form
	maxOptions = 200       // of an element
	maxNames   = 100       // labels or assignees
	maxKeys    = 500       // of one mapping, whose keys are compared with each other
	maxWhole   = 128 << 10 // bytes of texts, and one for each node, where aliases stand for what they name
)

// Template is what a new issue begins with.
type Template struct {
	File      string // its name in the directory of templates
	Name      string
	About     string
	Title     string
	Labels    Names
	Assignees Names
	Body      string    // of a Markdown template
	Fields    []Element // of a form; nil: a Markdown template

	HasAbout, HasTitle bool // the file has these keys, even if they are empty
}

// IsForm reports whether a file name is that of a form.
func IsForm(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yml" || ext == ".yaml"
}

// IsConfig reports whether a file name is that of the settings.
func IsConfig(name string) bool {
	name = strings.ToLower(name)
	return name == "config.yml" || name == "config.yaml"
}

// Parse reads the template in a file. The error says what its author must correct.
func Parse(file, text string) (*Template, error) {
	t, err := parseMarkdown(text)
	if IsForm(file) {
		t, err = parseForm(text)
	}
	if err != nil {
		return nil, err
	}
	t.File = file
	if t.Name = strings.TrimSpace(t.Name); t.Name == "" {
		return nil, errors.New("name is missing")
	}
	return t, nil
}

// head are the keys that both kinds of templates have.
type head struct {
	Name      string  `yaml:"name"`
	Title     *string `yaml:"title"`
	Labels    Names   `yaml:"labels"`
	Assignees Names   `yaml:"assignees"`
}

func (h *head) template(about *string) *Template {
	return &Template{Name: h.Name, About: textOf(about), Title: textOf(h.Title), Labels: h.Labels,
		Assignees: h.Assignees, HasAbout: about != nil, HasTitle: h.Title != nil}
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// parseMarkdown reads YAML between two lines of dashes, and the text after them.
func parseMarkdown(text string) (*Template, error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	front, body, ends := strings.Cut(rest, "\n---\n")
	switch {
	case !ok || !ends:
		return nil, errors.New("front matter with a name is missing: it stands between two lines of ---")
	case len(front) > maxHead:
		return nil, fmt.Errorf("the front matter is too long (maximum is %d bytes)", maxHead)
	}
	var h struct {
		head  `yaml:",inline"`
		About *string `yaml:"about"`
	}
	if err := load(front, &h); err != nil {
		return nil, err
	}
	t := h.template(h.About)
	t.Body = strings.TrimLeft(body, "\n")
	return t, nil
}

func parseForm(text string) (*Template, error) {
	var f struct {
		head        `yaml:",inline"`
		Description *string   `yaml:"description"`
		Body        []element `yaml:"body"`
	}
	if err := load(text, &f); err != nil {
		return nil, err
	}
	t := f.template(f.Description)
	if strings.TrimSpace(t.About) == "" {
		return nil, errors.New("description is missing")
	}
	var err error
	t.Fields, err = checkElements(f.Body)
	return t, err
}

// load decodes YAML. Its errors are in one line.
func load(text string, into any) error {
	var root yaml.Node
	err := yaml.Unmarshal([]byte(text), &root)
	if err == nil && root.Kind != 0 {
		left := maxWhole
		if err = clean(&root, &left); err == nil {
			err = root.Decode(into)
		}
	}
	if err == nil {
		return nil
	}
	message := strings.Join(strings.Fields(err.Error()), " ")
	return fmt.Errorf("not valid: %.300s", message)
}

// clean removes NUL, which YAML can escape and no database stores. A few bytes can name a large node many times: clean
// follows aliases, and subtracts what it finds from left. Error: nothing is left, or a mapping has too many keys.
func clean(n *yaml.Node, left *int) error {
	n.Value = strings.ReplaceAll(strings.ToValidUTF8(n.Value, "\ufffd"), "\x00", "")
	if *left -= 1 + len(n.Value); *left < 0 {
		return fmt.Errorf("too large (maximum is %d bytes, where aliases stand for what they name)", maxWhole)
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 2*maxKeys {
		return fmt.Errorf("line %d: too many keys (maximum is %d)", n.Line, maxKeys)
	}
	if n.Alias != nil {
		return clean(n.Alias, left)
	}
	for _, inner := range n.Content {
		if err := clean(inner, left); err != nil {
			return err
		}
	}
	return nil
}

// Names are names in YAML: a list, or a text in which commas separate them. Those past the first maxNames are left out.
type Names []string

// UnmarshalYAML reads either form.
func (n *Names) UnmarshalYAML(node *yaml.Node) error {
	var list []string
	if node.Kind == yaml.ScalarNode {
		var text string
		if err := node.Decode(&text); err != nil {
			return err
		}
		list = strings.Split(text, ",")
	} else if err := node.Decode(&list); err != nil {
		return err
	}
	for _, name := range list {
		if name = unquote(name); name != "" && len(*n) < maxNames && !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
	return nil
}

// unquote removes space and quotes around a name: in the text "a, 'b c'" YAML leaves those of b c.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if last := len(s) - 1; last > 0 && s[0] == s[last] && (s[0] == '"' || s[0] == '\'') {
		return s[1:last]
	}
	return s
}

// Link leads people who open an issue elsewhere.
type Link struct {
	Name  string `yaml:"name"`
	About string `yaml:"about"`
	URL   string `yaml:"url"`
}

// Config is what config.yml holds.
type Config struct {
	NoBlank bool // issues need a template
	Links   []Link
}

// ParseConfig reads config.yml. Links without a name or to other than web pages are omitted.
func ParseConfig(text string) (c Config, err error) {
	var file struct {
		Blank *bool  `yaml:"blank_issues_enabled"`
		Links []Link `yaml:"contact_links"`
	}
	if len(text) > maxHead {
		return c, fmt.Errorf("the file is too long (maximum is %d bytes)", maxHead)
	}
	if err := load(text, &file); err != nil {
		return c, err
	}
	c.NoBlank = file.Blank != nil && !*file.Blank
	c.Links = slices.DeleteFunc(file.Links, func(l Link) bool {
		return l.Name == "" || !strings.HasPrefix(l.URL, "https://") && !strings.HasPrefix(l.URL, "http://")
	})
	c.Links = c.Links[:min(len(c.Links), maxLinks)]
	return c, nil
}
