// Package schema is GitHub's GraphQL schema: schema.graphql is the published one without its descriptions, and
// newer.graphql has what clients request of later versions.
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
