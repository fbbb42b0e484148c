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

Arbor serves GitHub's whole published schema at ` + "`/graphql`" + ` and ` + "`/api/graphql`" + `, so no query is refused for a field or an argument that
Arbor lacks. A field of something that Arbor does not have is answered as GitHub answers for somebody who has none of
it: an empty list or connection, ` + "`null`, `false`, `0` or `\"\"`" + `. Mutations of it are refused with an error that names what is
missing. This list is made of the code.

## Fields that are always empty

Types that are not listed are answered whole, or belong to what Arbor does not have: discussions, projects, sponsors,
enterprises, packages, gists, security advisories, workflows.

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
## Arguments that are refused

Values other than ` + "`null`" + ` and the default are refused with an error.

| field | arguments |
|---|---|
`)
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		fmt.Fprintf(&b, "| %s | `%s` |\n", name, strings.Join(unread[name], "`, `"))
	}
	b.WriteString("\n## Mutations that are refused\n\n| because Arbor has no | mutations |\n|---|---|\n")
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
