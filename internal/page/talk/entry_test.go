package talk

import (
	"slices"
	"testing"
	"time"

	"arbor/internal/page"
)

// A merge is one entry, though it closes the pull request and its commit refers to it; what is closed or refers to
// it otherwise is shown.
func TestMergeIsOneEntry(t *testing.T) {
	t.Parallel()
	entry := func(kind, commit string, at time.Time) *Entry {
		return &Entry{Event: kind, CommitID: commit, Comment: page.Comment{CreatedAt: at}}
	}
	now := time.Now()
	before := now.Add(-time.Hour)
	list := []*Entry{entry("closed", "", before), entry("reopened", "", before), entry("referenced", "a", now),
		entry("merged", "b", now), entry("closed", "", now), entry("referenced", "b", now)}
	var got []string
	for _, e := range gathered(list) {
		got = append(got, e.Event)
	}
	if want := []string{"closed", "reopened", "referenced", "merged"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
