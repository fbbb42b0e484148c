package git_test

import (
	"testing"
	"time"

	"arbor/internal/git"
	"arbor/internal/test/testkit"
)

func mustDate(t testing.TB, s string) time.Time {
	t.Helper()
	when, err := git.ParseDate(s)
	testkit.NoError(t, err)
	return when
}
