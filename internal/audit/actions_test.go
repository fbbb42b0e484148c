package audit

import (
	"strings"
	"testing"
)

// A query for a category has a part for each of its actions: none is left out.
func TestCategoriesFitIntoAQuery(t *testing.T) {
	for _, a := range Actions {
		category, _, _ := strings.Cut(string(a), ".")
		if n := len(ActionsOf(category)); n == 0 || n > mostActions {
			t.Fatalf("%s has %d actions, want 1 to %d", category, n, mostActions)
		}
	}
}
