//go:build long

package ephemeral

import "arbor/internal/db"

func init() { db.Twice = true }
