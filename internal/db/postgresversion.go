package db

import (
	"fmt"
	"strconv"
	"strings"
)

// oldestPostgres is the first version with pg_current_snapshot.
const oldestPostgres = 13

// checkServer refuses a server that speaks PostgreSQL's protocol and is another database, by its version().
// CockroachDB lacks statements that migrations need. YugabyteDB has PostgreSQL's parser, but not its
// transactions: pg_current_snapshot would not move with a commit, and nodes would answer from old caches.
func checkServer(version string) error {
	number, postgres := strings.CutPrefix(version, "PostgreSQL ")
	digits := len(number) - len(strings.TrimLeft(number, "0123456789"))
	major, _ := strconv.Atoi(number[:digits])
	if postgres && major >= oldestPostgres && !strings.Contains(version, "-YB-") {
		return nil
	}
	name := version // without its platform
	for _, end := range []string{" (", " on ", ","} {
		name, _, _ = strings.Cut(name, end)
	}
	return fmt.Errorf("unsupported database server %.60q: want PostgreSQL %d or newer itself, see docs/scaling.md",
		name, oldestPostgres)
}
