//go:build long

package schema_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shurcooL/githubv4"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"arbor/internal/graphql/schema"
	"arbor/internal/test/npm"
)

var updateSchema = flag.Bool("update-schema", false, "write schema.graphql anew")

// Programs that were written for GitHub know its types: schema.graphql is GitHub's schema, and newer.graphql has
// nothing of it.
func TestSchemaIsGitHubs(t *testing.T) {
	t.Parallel()
	folder := npm.Install(t, "testdata/github", "@octokit/graphql-schema")
	theirs, err := os.ReadFile(filepath.Join(folder, "node_modules/@octokit/graphql-schema/schema.graphql"))
	if err != nil {
		t.Fatal(err)
	}
	want := names(t, string(theirs))
	if *updateSchema {
		if err := os.WriteFile("schema.graphql", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if ours, err := os.ReadFile("schema.graphql"); err != nil || string(ours) != want {
		t.Errorf("schema.graphql is not GitHub's schema, write it by make schema: %v", err)
	}
}

// replacement finds the field that the reason of a deprecation names.
var replacement = regexp.MustCompile("(?i)\\buse (?:the )?`?([A-Za-z.]+)`?")

// names returns the facts of a schema: names, types, arguments, defaults and what is deprecated, without its texts.
// GitHub's schema has some fields twice, which is invalid.
func names(t *testing.T, text string) string {
	t.Helper()
	document, err := parser.ParseSchema(&ast.Source{Input: text})
	if err != nil {
		t.Fatal(err)
	}
	document.Directives = nil
	for _, d := range document.Definitions {
		d.Description, d.Directives = "", nil
		seen := map[string]bool{}
		d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool {
			twice := seen[f.Name]
			seen[f.Name] = true
			return twice
		})
		// As messages list them: what must be given first, and OPEN before CLOSED.
		if d.Kind == ast.InputObject {
			slices.SortStableFunc(d.Fields, func(a, b *ast.FieldDefinition) int {
				switch {
				case a.Type.NonNull && !b.Type.NonNull:
					return -1
				case b.Type.NonNull && !a.Type.NonNull:
					return 1
				}
				return 0
			})
		}
		slices.SortStableFunc(d.EnumValues, func(a, b *ast.EnumValueDefinition) int {
			switch {
			case a.Name == "OPEN" && b.Name != "OPEN":
				return -1
			case b.Name == "OPEN" && a.Name != "OPEN":
				return 1
			}
			return 0
		})
		for _, f := range d.Fields {
			f.Description, f.Directives = "", deprecated(f.Directives)
			// As messages name those that are missing.
			slices.SortStableFunc(f.Arguments, func(a, b *ast.ArgumentDefinition) int {
				if a.Name == "owner" && b.Name == "name" {
					return -1
				}
				if a.Name == "name" && b.Name == "owner" {
					return 1
				}
				return 0
			})
			for _, a := range f.Arguments {
				a.Description, a.Directives = "", deprecated(a.Directives)
			}
		}
		for _, v := range d.EnumValues {
			v.Description, v.Directives = "", deprecated(v.Directives)
		}
	}
	var out bytes.Buffer
	out.WriteString("# GitHub's GraphQL schema. Written by make schema.\n\n")
	formatter.NewFormatter(&out, formatter.WithIndent("  ")).FormatSchemaDocument(document)
	return out.String()
}

// deprecated returns the directive of what is deprecated, with a reason of our own words, and no others.
func deprecated(list ast.DirectiveList) ast.DirectiveList {
	d := list.ForName("deprecated")
	if d == nil {
		return nil
	}
	reason := ""
	if a := d.Arguments.ForName("reason"); a != nil {
		reason = a.Value.Raw
	}
	d.Arguments = nil
	if m := replacement.FindStringSubmatch(reason); m != nil {
		d.Arguments = ast.ArgumentList{{Name: "reason", Value: &ast.Value{Kind: ast.StringValue,
			Raw: "Use " + strings.Trim(m[1], ".") + " instead."}}}
	}
	return ast.DirectiveList{d}
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
