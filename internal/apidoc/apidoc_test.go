package apidoc_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/apidoc"
)

// Both documents can be made, and are JSON.
func TestDocumentsAreMade(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() ([]byte, error){"code-hosting": apidoc.CodeHosting, "plants": apidoc.Plants} {
		text, err := make()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !json.Valid(text) {
			t.Errorf("%s is no JSON", name)
		}
	}
}
