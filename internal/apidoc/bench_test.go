package apidoc_test

import (
	"testing"

	"arbor/internal/apidoc"
)

// The page is made when somebody first asks for it, and must not keep them
// waiting.
func BenchmarkNewPage(b *testing.B) {
	for b.Loop() {
		if _, err := apidoc.NewPage(nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
