package session

import (
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/db"
)

// Shown is when and how the user of a session last showed who it is.
type Shown struct {
	At   db.Time
	With string // one of the ways; empty: not known
}

// ShownIn returns how the user of a session last showed who it is. Error: errs.Absent.
func ShownIn(tx *db.Tx, id int64) (s Shown, err error) {
	err = tx.QueryRow(`SELECT COALESCE(confirmed_at, created_at), COALESCE(made_with, '')
		FROM tokens WHERE id = $1`, id).Scan(&s.At, &s.With)
	return s, account.OrAbsent(err)
}

// Methods are the authentication methods of the way by the names of RFC 8176, with which other servers are
// told how a user signed in; nil: this server does not know, because another one or a token vouched for the
// user.
func (s Shown) Methods() []string {
	var list []string
	first, second, two := strings.Cut(s.With, "+")
	switch {
	case first == withPasskey: // which verifies its user
		return []string{"pop", "user", "mfa"}
	case first == withPassword, first == withSetup, strings.HasPrefix(first, WithDirectory):
		list = append(list, "pwd")
	default:
		return nil
	}
	switch {
	case !two:
	case second == factor.ByPasskey:
		list = append(list, "pop", "mfa")
	default:
		list = append(list, "otp", "mfa")
	}
	return list
}

// Level is the assurance of the way: "2" for two factors or a passkey, "1" for one; empty: this server does
// not know.
func (s Shown) Level() string {
	switch list := s.Methods(); {
	case slices.Contains(list, "mfa"):
		return "2"
	case list != nil:
		return "1"
	}
	return ""
}
