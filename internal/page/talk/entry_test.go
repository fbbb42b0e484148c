package talk

import (
	"slices"
	"testing"
)

// A merge is one entry, though it closes the pull request, too; what is closed otherwise is shown.
func TestMergeIsOneEntry(t *testing.T) {
	t.Parallel()
	var list []*Entry
	for _, kind := range []string{"closed", "reopened", "merged", "closed", "referenced"} {
		list = append(list, &Entry{Event: kind})
	}
	var got []string
	for _, e := range gathered(list) {
		got = append(got, e.Event)
	}
	if want := []string{"closed", "reopened", "merged", "referenced"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
