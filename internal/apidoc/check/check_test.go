package check_test

import (
	"slices"
	"testing"

	"arbor/internal/apidoc/check"
)

func checker(t *testing.T) *check.Checker {
	t.Helper()
	c, err := check.Default()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Whoever copies an example from the documentation must be able to rely on it.
func TestExamplesAreAsDescribed(t *testing.T) {
	t.Parallel()
	wrong := checker(t).Examples()
	slices.Sort(wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}
