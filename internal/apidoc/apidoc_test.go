package apidoc_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"arbor/internal/apidoc"
	"arbor/internal/test/testkit"
)

var documents = map[string]func(apidoc.Rights) ([]byte, error){"code-hosting": apidoc.CodeHosting,
	"plants": apidoc.Plants}

// anyRight is a table of routes that has all operations.
func anyRight(_, _ string) string { return "push" }

func eachRef(v any, fn func(string)) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			fn(ref)
		}
		for _, child := range v {
			eachRef(child, fn)
		}
	case []any:
		for _, child := range v {
			eachRef(child, fn)
		}
	}
}

// What nothing refers to is a description of nothing.
func TestEachComponentIsUsed(t *testing.T) {
	t.Parallel()
	for name, load := range documents {
		text, err := load(anyRight)
		testkit.NoError(t, err)
		document := parsed(t, text)
		used := map[string]bool{}
		eachRef(document, func(ref string) { used[ref] = true })
		components := document.(map[string]any)["components"].(map[string]any)
		for kind, list := range components {
			if kind == "securitySchemes" {
				continue
			}
			for key := range list.(map[string]any) {
				if !used["#/components/"+kind+"/"+key] {
					t.Errorf("%s: nothing uses %s of the %s", name, key, kind)
				}
			}
		}
	}
}

// No shorthand of the source may be left in what is served.
func TestShorthandsAreWrittenOut(t *testing.T) {
	t.Parallel()
	for name, load := range documents {
		text, err := load(anyRight)
		testkit.NoError(t, err)
		for _, word := range []string{`"x-payload"`, `"x-optional"`, `"x-list"`} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%s: %s is left", name, word)
			}
		}
	}
}

// The address of the reader's server stands in examples, whatever it sent.
func TestAddressesAreTheReaders(t *testing.T) {
	t.Parallel()
	got := apidoc.At([]byte(`{"url":"https://arbor.example/x"}`), `http://"<host>`)
	var v struct{ URL string }
	if err := json.Unmarshal(got, &v); err != nil || v.URL != `http://"<host>/x` {
		t.Errorf("%s: %v", got, err)
	}
}
