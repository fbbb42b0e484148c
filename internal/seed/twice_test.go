//go:build long

package seed_test

import "arbor/internal/db"

func init() { db.Twice = true }
