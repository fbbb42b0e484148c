//go:build long

package schema_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/shurcooL/githubv4"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"arbor/internal/graphql/schema"
	"arbor/internal/test/npm"
)

// Programs that were written for GitHub know its types: a field of another type, or an enum without a value
// that they send, would break them.
func TestSchemaIsAPartOfGitHubs(t *testing.T) {
	t.Parallel()
	folder := npm.Install(t, "testdata/github", "@octokit/graphql-schema")
	text, err := os.ReadFile(filepath.Join(folder, "node_modules/@octokit/graphql-schema/schema.graphql"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := parser.ParseSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]*ast.Definition{}
	for _, d := range document.Definitions {
		theirs[d.Name] = d
	}
	addNewer(t, theirs)
	for name, ours := range schema.Load().Types {
		if strings.HasPrefix(name, "__") || ours.BuiltIn {
			continue
		}
		d := theirs[name]
		if d == nil || d.Kind != ours.Kind {
			t.Errorf("GitHub has no %s %s", ours.Kind, name)
			continue
		}
		compare(t, ours, d)
	}
}

// addNewer adds what newer.graphql has, which GitHub's text must not have.
func addNewer(t *testing.T, theirs map[string]*ast.Definition) {
	t.Helper()
	text, err := os.ReadFile("newer.graphql")
	if err != nil {
		t.Fatal(err)
	}
	document, err := parser.ParseSchema(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range document.Definitions {
		if theirs[d.Name] != nil {
			t.Errorf("GitHub's schema has %s by now: move it to schema.graphql", d.Name)
		}
		theirs[d.Name] = d
	}
	for _, d := range document.Extensions {
		of := theirs[d.Name]
		for _, f := range d.Fields {
			if of.Fields.ForName(f.Name) != nil {
				t.Errorf("GitHub's schema has %s.%s by now: move it to schema.graphql", d.Name, f.Name)
			}
			of.Fields = append(of.Fields, f)
		}
		of.Interfaces = append(of.Interfaces, d.Interfaces...)
		of.Types = append(of.Types, d.Types...)
	}
}

// Inputs that are newer than GitHub's text are those of githubv4, which is generated from a newer one.
func TestNewerInputsAreGitHubs(t *testing.T) {
	t.Parallel()
	s := schema.Load()
	for name, of := range map[string]any{
		"ReplaceActorsForAssignableInput": githubv4.ReplaceActorsForAssignableInput{},
		"RequestReviewsByLoginInput":      githubv4.RequestReviewsByLoginInput{},
		"RequestReviewsInput":             githubv4.RequestReviewsInput{},
		"UpdateIssueIssueTypeInput":       githubv4.UpdateIssueIssueTypeInput{},
		"AddBlockedByInput":               githubv4.AddBlockedByInput{},
		"RemoveBlockedByInput":            githubv4.RemoveBlockedByInput{},
		"AgentAssignmentInput":            githubv4.AgentAssignmentInput{},
		"IssueTypeOrder":                  githubv4.IssueTypeOrder{},
		"IssueDependencyOrder":            githubv4.IssueDependencyOrder{},
	} {
		kind, theirs := reflect.TypeOf(of), map[string]bool{}
		for n := range kind.NumField() {
			tag, rest, _ := strings.Cut(kind.Field(n).Tag.Get("json"), ",")
			theirs[tag] = rest == "" // it must be given
		}
		for _, f := range s.Types[name].Fields {
			must, there := theirs[f.Name]
			if !there || must != f.Type.NonNull {
				t.Errorf("%s.%s %s is another in githubv4", name, f.Name, f.Type)
			}
		}
	}
}

// compare holds a type against GitHub's.
func compare(t *testing.T, ours, theirs *ast.Definition) {
	t.Helper()
	within := func(what string, ours, theirs []string) {
		for _, name := range ours {
			if !contains(theirs, name) {
				t.Errorf("%s: GitHub has no %s", what, name)
			}
		}
	}
	within(ours.Name+" implements", ours.Interfaces, theirs.Interfaces)
	within(ours.Name+" is one of", ours.Types, theirs.Types)
	if ours.Kind == ast.Enum && len(ours.EnumValues) != len(theirs.EnumValues) {
		t.Errorf("%s has %d values, at GitHub %d", ours.Name, len(ours.EnumValues), len(theirs.EnumValues))
	}
	for _, v := range ours.EnumValues {
		if theirs.EnumValues.ForName(v.Name) == nil {
			t.Errorf("GitHub's %s has no value %s", ours.Name, v.Name)
		}
	}
	for _, f := range ours.Fields {
		if strings.HasPrefix(f.Name, "__") {
			continue
		}
		d := theirs.Fields.ForName(f.Name)
		if d == nil {
			t.Errorf("GitHub has no %s.%s", ours.Name, f.Name)
			continue
		}
		if f.Type.String() != d.Type.String() {
			t.Errorf("%s.%s is %s, at GitHub %s", ours.Name, f.Name, f.Type, d.Type)
		}
		for _, a := range f.Arguments {
			if at := d.Arguments.ForName(a.Name); at == nil || at.Type.String() != a.Type.String() ||
				at.DefaultValue.String() != a.DefaultValue.String() {
				t.Errorf("%s.%s(%s: %s) is another at GitHub", ours.Name, f.Name, a.Name, a.Type)
			}
		}
		for _, a := range d.Arguments {
			if a.Type.NonNull && a.DefaultValue == nil && f.Arguments.ForName(a.Name) == nil {
				t.Errorf("%s.%s lacks the argument %s, which GitHub wants", ours.Name, f.Name, a.Name)
			}
		}
	}
	for _, f := range theirs.Fields {
		if ours.Kind == ast.InputObject && f.Type.NonNull && ours.Fields.ForName(f.Name) == nil {
			t.Errorf("%s lacks %s, which GitHub wants", ours.Name, f.Name)
		}
	}
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}
