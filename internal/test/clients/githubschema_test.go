//go:build long

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// described is GitHub's own schema, once it was read.
var described struct {
	sync.Mutex
	*ast.Schema
}

// againstGitHubs holds all answers of GraphQL that a server gives against GitHub's own schema.
func againstGitHubs(t *testing.T, s *apitest.Server) {
	t.Helper()
	described.Lock()
	defer described.Unlock()
	if described.Schema == nil {
		folder := npm.Install(t, filepath.Join("..", "..", "graphql", "schema", "testdata", "github"),
			"@octokit/graphql-schema")
		text, err := os.ReadFile(filepath.Join(folder, "node_modules/@octokit/graphql-schema/schema.graphql"))
		testkit.NoError(t, err)
		newer, err := os.ReadFile("../../graphql/schema/newer.graphql")
		testkit.NoError(t, err)
		if described.Schema, err = withNewer(string(text), string(newer)); err != nil {
			t.Fatal(err)
		}
	}
	s.Against(described.Schema)
}

// withNewer reads GitHub's schema together with newer.graphql. A field that both have counts once.
func withNewer(text, newer string) (*ast.Schema, error) {
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
