package db

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// CheckURL returns an error for an address that is neither a URL of PostgreSQL nor the path of a SQLite file.
// Other forms that PostgreSQL's programs take would be the names of files, with a password in them.
func CheckURL(url string) error {
	scheme, _, address := strings.Cut(url, "://")
	switch {
	case isPostgres(url):
		return nil
	case address:
		return fmt.Errorf("unsupported database %q: want postgres://USER:PASSWORD@HOST/NAME or the path of a SQLite file", scheme)
	case keywords.MatchString(url):
		return errors.New("invalid database address: want postgres://USER:PASSWORD@HOST/NAME or the path of a SQLite file")
	}
	return nil
}

// keywords begin an address of PostgreSQL that is no URL, such as host=db password=..., or one that lacks //.
var keywords = regexp.MustCompile(
	`^\s*(postgres(ql)?:|(host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=)`)
