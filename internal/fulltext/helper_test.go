package fulltext_test

import "arbor/internal/test/dbtest"

// The short names of what tests do all the time.
var (
	stmt      = dbtest.Statement
	mustWrite = dbtest.MustWrite
	number    = dbtest.Number
)
