package graphql

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/cache"
)

// introspectedBytes bounds the answers about the schema that are kept, and half of it one of these.
const introspectedBytes = 16 << 20

// schemaKey names what a request asks for.
type schemaKey [sha256.Size]byte

// introspected keeps answers to queries for the schema alone. Everybody gets the same, megabytes at a time.
type introspected = *cache.Recent[schemaKey, json.RawMessage]

func newIntrospected() introspected {
	return cache.NewRecent[schemaKey](introspectedBytes, func(data json.RawMessage) int { return len(data) })
}

// asksSchema reports an operation that asks for the schema alone.
func asksSchema(op *ast.OperationDefinition) bool {
	for _, s := range op.SelectionSet {
		if f, ok := s.(*ast.Field); !ok || f.Name != "__schema" && f.Name != "__type" {
			return false
		}
	}
	return op.Operation == ast.Query
}

// key returns the name of what a request asks for.
func (b *body) key() (schemaKey, error) {
	all, err := json.Marshal([]any{b.query, b.operation, b.variables})
	return sha256.Sum256(all), err
}
