// Package schema is the GraphQL schema of Arbor: a part of GitHub's own, with the same names, types,
// nullability and arguments. schema.graphql has what has long been there, newer.graphql what newer clients
// ask for.
package schema

import (
	_ "embed"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed schema.graphql
var text string

//go:embed newer.graphql
var newer string

// Load reads the schema. It panics if the file is invalid, which any test would show.
func Load() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: text},
		&ast.Source{Name: "newer.graphql", Input: newer})
}
