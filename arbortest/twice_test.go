//go:build long

package arbortest_test

import "arbor/internal/db"

func init() { db.Twice = true }
