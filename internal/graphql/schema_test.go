package graphql

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"arbor/internal/graphql/schema"
)

// A resolver of a field that the schema does not have is a mistake in a name.
func TestResolversAreOfTheSchema(t *testing.T) {
	s := schema.Load()
	api := &API{}
	for name, fields := range api.tables() {
		for field := range fields {
			if d := s.Types[name]; d == nil || d.Fields.ForName(field) == nil {
				t.Errorf("the schema lacks %s.%s", name, field)
			}
		}
	}
}

var updateFields = flag.Bool("update-fields", false, "rewrite docs/graphql.md")

const fieldsFile = "../../docs/graphql.md"

// TestFieldsAreDocumented holds the document of GraphQL against what is answered.
func TestFieldsAreDocumented(t *testing.T) {
	want := describeFields()
	if *updateFields {
		if err := os.WriteFile(fieldsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(fieldsFile); err != nil || string(got) != want {
		t.Errorf("docs/graphql.md is out of date, write it by make schema: %v", err)
	}
}

// describeFields returns docs/graphql.md.
func describeFields() string {
	s := schema.Load()
	api := &API{}
	e := api.executable(s)
	var b strings.Builder
	b.WriteString(`# GraphQL

Arbor serves GitHub's published schema, whole, at ` + "`/graphql`" + ` and ` + "`/api/graphql`" + `. Fields of
features that Arbor lacks return what GitHub returns to users without any data: an empty list or
connection, ` + "`null`, `false`, `0` or `\"\"`" + `. Mutations of such features fail with an error that names the
feature. This page is generated from the code.

## Fields that are always empty

All fields of types that are not listed are supported, or the type belongs to a feature that Arbor lacks: discussions,
projects, sponsors, enterprises, packages, gists, security advisories, workflows.

| type | fields |
|---|---|
`)
	tables := api.tables()
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		var list []string
		for _, f := range s.Types[name].Fields {
			if name != "Mutation" && !strings.HasPrefix(f.Name, "__") && e.Resolvers[name+"."+f.Name] == nil {
				list = append(list, "`"+f.Name+"`")
			}
		}
		if slices.Sort(list); len(list) > 0 {
			fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(list, ", "))
		}
	}
	b.WriteString(`
## Arguments

Every argument is supported. A few values are not, and fail with an error that says so: orders and choices that
no index of Arbor answers, such as forks with the fewest stars first.
`)
	b.WriteString("\n## Unsupported mutations\n\n| because Arbor has no | mutations |\n|---|---|\n")
	groups := map[string][]string{}
	for _, f := range s.Mutation.Fields {
		if tables["Mutation"][f.Name] == nil && !strings.HasPrefix(f.Name, "__") {
			feature := cmp.Or(missingFeature(f.Name), "such mutation")
			groups[feature] = append(groups[feature], "`"+f.Name+"`")
		}
	}
	for _, feature := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[feature])
		fmt.Fprintf(&b, "| %s | %s |\n", feature, strings.Join(groups[feature], ", "))
	}
	return b.String()
}
