package graphql

import (
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
