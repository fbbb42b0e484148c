package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"
)

// issueForm is an issue form as GitHub defines it. Fields that it does not have are errors.
type issueForm struct {
	Name, Description string
	Labels            []string
	Body              []struct {
		Type, ID   string
		Attributes struct {
			Label, Description, Value, Placeholder, Render string
			Multiple                                       bool
			Options                                        []yaml.Node
		}
		Validations struct{ Required bool }
	}
}

// The issue forms of this repository, and those that the demo shows as an example, are forms that GitHub takes:
// known keys only, each field with a label of its own and an id.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	types := []string{"markdown", "input", "textarea", "dropdown", "checkboxes"}
	for _, folder := range []string{"../../.github/ISSUE_TEMPLATE", "demo/ISSUE_TEMPLATE"} {
		for _, name := range []string{"bug_report.yml", "feature_request.yml"} {
			var form issueForm
			readYAML(t, filepath.Join(folder, name), &form)
			var ids, labels []string
			for _, field := range form.Body {
				a := field.Attributes
				switch {
				case !slices.Contains(types, field.Type):
					t.Errorf("%s/%s: unknown type %q", folder, name, field.Type)
				case field.Type == "markdown":
					if a.Value == "" {
						t.Errorf("%s/%s: markdown without a value", folder, name)
					}
					continue
				case field.ID == "" || slices.Contains(ids, field.ID):
					t.Errorf("%s/%s: id %q is missing or repeated", folder, name, field.ID)
				case a.Label == "" && field.Type != "checkboxes" || slices.Contains(labels, a.Label):
					t.Errorf("%s/%s: label %q is missing or repeated", folder, name, a.Label)
				case (len(a.Options) > 0) != (field.Type == "dropdown" || field.Type == "checkboxes"):
					t.Errorf("%s/%s: options of %s", folder, name, field.ID)
				}
				ids, labels = append(ids, field.ID), append(labels, a.Label)
			}
			if form.Name == "" || form.Description == "" || len(ids) == 0 || len(form.Labels) == 0 {
				t.Errorf("%s/%s: no name, description, label or field", folder, name)
			}
		}
		var settings struct {
			BlankIssues bool                                `yaml:"blank_issues_enabled"`
			Links       []struct{ Name, URL, About string } `yaml:"contact_links"`
		}
		readYAML(t, filepath.Join(folder, "config.yml"), &settings)
		for _, l := range settings.Links {
			if l.Name == "" || l.URL == "" || l.About == "" {
				t.Errorf("%s/config.yml: %+v", folder, l)
			}
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Load(text, into, yaml.WithKnownFields())
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
}
