package git_test

import (
	"testing"
	"time"

	"arbor/internal/git"
)

func mustDate(t testing.TB, s string) time.Time {
	t.Helper()
	when, err := git.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return when
}
