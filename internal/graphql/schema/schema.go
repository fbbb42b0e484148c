// Package schema is the GraphQL schema of Arbor: a part of GitHub's own, with the same names, types,
// nullability and arguments. schema.graphql has what has long been there, newer.graphql what newer clients
// ask for.
package schema

import (
	_ "embed"
	"slices"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

//go:embed schema.graphql
var text string

//go:embed newer.graphql
var newer string

// WithNewer reads another text of GitHub's schema, with what newer.graphql has besides. A field that GitHub's
// text has twice counts once.
func WithNewer(text string) (*ast.Schema, error) {
	document, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "github.graphql", Input: text},
		&ast.Source{Name: "newer.graphql", Input: newer})
	if err != nil {
		return nil, err
	}
	for _, d := range document.Definitions {
		seen := map[string]bool{}
		d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool {
			again := seen[f.Name]
			seen[f.Name] = true
			return again
		})
	}
	return validator.ValidateSchemaDocument(document)
}

// Load reads the schema. It panics where the file is wrong, which each test sees.
func Load() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: text},
		&ast.Source{Name: "newer.graphql", Input: newer})
}
