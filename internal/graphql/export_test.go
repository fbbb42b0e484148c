package graphql

import (
	"sync"

	"arbor/internal/graphql/schema"
)

// Lacks reports a field that is always empty, of a type that Arbor has.
func Lacks(kind, field string) bool {
	known := answered()
	return known[kind] != nil && !known[kind][field]
}

// answered are the fields of the types that have tables, and whether they have resolvers.
var answered = sync.OnceValue(func() map[string]map[string]bool {
	api := &API{}
	e, known := api.executable(schema.Load()), map[string]map[string]bool{}
	for name := range api.tables() {
		known[name] = map[string]bool{}
		for _, f := range e.Types[name].Fields {
			known[name][f.Name] = e.Resolvers[name+"."+f.Name] != nil
		}
	}
	return known
})
