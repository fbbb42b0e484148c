package graphql

import (
	"os"
	"testing"
)

// BenchmarkNewQuery parses and validates the largest query that gh 2.23 sends, gh pr list with every field of
// --json, as one that was not met before: a millisecond at most.
func BenchmarkNewQuery(b *testing.B) {
	text, err := os.ReadFile("testdata/prlist.graphql")
	if err != nil {
		b.Fatal(err)
	}
	api := NewAPI(nil, Handlers{}, nil, nil)
	if d := api.newDocument(string(text)); len(d.errors) > 0 {
		b.Fatal(d.errors[0])
	}
	for b.Loop() {
		api.newDocument(string(text))
	}
}
