//go:build long

package clients

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/schema"
	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
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
		if err != nil {
			t.Fatal(err)
		}
		if described.Schema, err = schema.WithNewer(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	s.Against(described.Schema)
}
