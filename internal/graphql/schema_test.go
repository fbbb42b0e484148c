package graphql

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/schema"
)

// A field without a resolver would end the server's answer with a panic.
func TestEveryFieldHasAResolver(t *testing.T) {
	s := schema.Load()
	have := (&API{}).resolvers(s)
	known := map[string]bool{}
	for name, d := range s.Types {
		if d.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		for _, f := range d.Fields {
			key := name + "." + f.Name
			known[key] = true
			if have[key] == nil && !strings.HasPrefix(f.Name, "__") {
				t.Errorf("%s has no resolver", key)
			}
		}
	}
	for key := range have {
		if !known[key] {
			t.Errorf("the schema lacks %s", key)
		}
	}
}
