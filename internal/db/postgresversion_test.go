package db

import (
	"strings"
	"testing"
)

// Whoever points Arbor at a database that only looks like PostgreSQL reads which one it is, before anything is
// written. The texts are what such servers answer to version().
func TestOtherServersAreRefused(t *testing.T) {
	t.Parallel()
	for _, version := range []string{
		"PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit",
		"PostgreSQL 13.0 on aarch64-apple-darwin, compiled by Apple clang, 64-bit",
		"PostgreSQL 19beta1 on x86_64-pc-linux-gnu",
		"PostgreSQL 17.4 - Percona Server for PostgreSQL 17.4.1 on x86_64-pc-linux-gnu",
	} {
		if err := checkServer(version); err != nil {
			t.Errorf("%q: %v", version, err)
		}
	}
	for version, name := range map[string]string{
		"PostgreSQL 12.22 on x86_64-pc-linux-gnu":                                        "PostgreSQL 12.22",
		"PostgreSQL 9.6.24 on x86_64-pc-linux-gnu":                                       "PostgreSQL 9.6.24",
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.1":                          "PostgreSQL 8.0.2",
		"CockroachDB CCL v26.1.0 (x86_64-pc-linux-gnu, built 2026/02/02 00:00:00, go1)":  "CockroachDB CCL v26.1.0",
		"PostgreSQL 15.12-YB-2025.2.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang 19": "PostgreSQL 15.12-YB-2025.2.0.0-b0",
		"PostgreSQL 11.2-YB-2.18.0.1-b0 on x86_64-pc-linux-gnu, compiled by clang 15":    "PostgreSQL 11.2-YB-2.18.0.1-b0",
		"CrateDB 5.9.0 (built 0/NA, Linux)":                                              "CrateDB 5.9.0",
		"PostgreSQL":                                                                     "PostgreSQL",
		"":                                                                               "",
	} {
		err := checkServer(version)
		if err == nil {
			t.Errorf("%q is served", version)
		} else if want := `server "` + name + `": want PostgreSQL 13`; !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the operator reads %q", version, err)
		}
	}
}
