package form

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Element is a part of a form: a text to read (markdown), or a field.
type Element struct {
	Type        string // markdown, input, textarea, dropdown, checkboxes, upload
	ID          string // by which an address fills the field; may be empty
	Label       string
	Description string // Markdown
	Placeholder string
	Value       string // of markdown: its text; of input and textarea: what the field begins with
	Render      string // the language of a textarea that is code; empty: the answer is Markdown
	Options     []Option
	Multiple    bool
	Default     int // the index of the option that is chosen at first; -1: none
	Required    bool
}

// Option is one of a dropdown, or a box of checkboxes.
type Option struct {
	Label    string
	Required bool // of a box: it must be checked
}

// element is an element in YAML.
type element struct {
	Type       string `yaml:"type"`
	ID         string `yaml:"id"`
	Attributes struct {
		Label       string      `yaml:"label"`
		Description string      `yaml:"description"`
		Placeholder string      `yaml:"placeholder"`
		Value       string      `yaml:"value"`
		Render      string      `yaml:"render"`
		Multiple    bool        `yaml:"multiple"`
		Default     *int        `yaml:"default"`
		Options     []yaml.Node `yaml:"options"`
	} `yaml:"attributes"`
	Validations struct {
		Required bool `yaml:"required"`
	} `yaml:"validations"`
}

var (
	types    = []string{"markdown", "input", "textarea", "dropdown", "checkboxes", "upload"}
	idSyntax = regexp.MustCompile(`^[A-Za-z0-9_-]{0,100}$`)
	language = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{0,50}$`)
)

// checkElements returns the elements of a form. The error names the first that is wrong.
func checkElements(list []element) ([]Element, error) {
	switch {
	case len(list) == 0:
		return nil, errors.New("body is missing or empty")
	case len(list) > maxFields:
		return nil, fmt.Errorf("body has too many elements (maximum is %d)", maxFields)
	}
	fields := make([]Element, len(list))
	var ids, labels []string
	for n := range list {
		e, err := list[n].check()
		if err != nil {
			return nil, fmt.Errorf("body[%d]: %w", n, err)
		}
		fields[n] = e
		if e.Type == "markdown" {
			continue
		}
		if e.ID != "" && slices.Contains(ids, e.ID) {
			return nil, fmt.Errorf("body[%d]: id %q is not unique", n, e.ID)
		}
		if slices.Contains(labels, e.Label) {
			return nil, fmt.Errorf("body[%d]: label %q is not unique", n, e.Label)
		}
		ids, labels = append(ids, e.ID), append(labels, e.Label)
	}
	if len(labels) == 0 {
		return nil, errors.New("body must have an element that is not markdown")
	}
	return fields, nil
}

func (e *element) check() (Element, error) {
	a := &e.Attributes
	out := Element{Type: e.Type, ID: e.ID, Label: oneLine(a.Label), Description: a.Description,
		Placeholder: a.Placeholder, Value: a.Value, Render: a.Render, Multiple: a.Multiple, Default: -1,
		Required: e.Validations.Required}
	switch {
	case e.Type == "":
		return out, errors.New("type is missing")
	case !slices.Contains(types, e.Type):
		return out, fmt.Errorf("%q is not a type of element", e.Type)
	case !idSyntax.MatchString(e.ID):
		return out, errors.New("id can only contain letters, digits, - and _")
	case e.Type == "markdown" && strings.TrimSpace(a.Value) == "":
		return out, errors.New("value is missing")
	case e.Type != "markdown" && out.Label == "":
		return out, errors.New("label is missing")
	case !language.MatchString(a.Render):
		return out, errors.New("render is not the name of a language")
	}
	if e.Type != "dropdown" && e.Type != "checkboxes" {
		return out, nil
	}
	if err := e.options(&out); err != nil {
		return out, err
	}
	if d := a.Default; d != nil && e.Type == "dropdown" {
		if *d < 0 || *d >= len(out.Options) {
			return out, fmt.Errorf("default %d is not the index of an option", *d)
		}
		out.Default = *d
	}
	return out, nil
}

func (e *element) options(out *Element) error {
	list := e.Attributes.Options
	switch {
	case len(list) == 0:
		return errors.New("options are missing")
	case len(list) > maxOptions:
		return fmt.Errorf("too many options (maximum is %d)", maxOptions)
	}
	for n := range list {
		var o struct {
			Label    string `yaml:"label"`
			Required bool   `yaml:"required"`
		}
		switch node := &list[n]; {
		case e.Type == "dropdown" && node.Tag == "!!bool":
			return errors.New("options must not be booleans: put quotes around words like yes and true")
		case e.Type == "dropdown":
			if err := node.Decode(&o.Label); err != nil {
				return fmt.Errorf("options[%d] is not a text", n)
			}
		default:
			if err := node.Decode(&o); err != nil {
				return fmt.Errorf("options[%d] has no label", n)
			}
		}
		o.Label = oneLine(o.Label)
		if o.Label == "" {
			return fmt.Errorf("options[%d] is empty", n)
		}
		if slices.ContainsFunc(out.Options, func(other Option) bool { return other.Label == o.Label }) {
			return fmt.Errorf("option %q is not unique", o.Label)
		}
		out.Options = append(out.Options, Option{o.Label, o.Required})
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
