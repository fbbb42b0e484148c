// Package factor holds the second factors of accounts: codes of an authenticator app, recovery codes and passkeys.
//
//   - factor.go: what an account has, and a proof of it
//   - totp.go: codes of an app, of table totps; recovery.go: recovery codes, of table recovery_codes
//   - passkey.go: passkeys (WebAuthn), of table passkeys; challenge.go: what browsers sign, of table
//     passkey_challenges
//   - store.go: the SQL
//
// Everything works in a transaction of package session, which signs in, asks for confirmations, bounds guesses and
// ends sessions. A user handle of a passkey is the account's id, so passkeys outlast another login.
//
// What becomes of factors and sessions:
//
//	the first factor is added      recovery codes are made; all other sessions end
//	another factor is added        nothing
//	a factor is removed            all other sessions end; with the last one, the recovery codes go
//	the password is changed        all sessions end, as do sign-ins that wait for a factor; the factors stay
//	the account is suspended       nobody signs in, by no factor; the factors count again afterwards
//	the account is renamed         nothing
//	the account is deleted         all of it goes
//	an administrator removes all   all sessions end; the password alone signs in again
package factor

import (
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// State is which factors an account has.
type State struct {
	TOTP     bool
	Passkeys int
	Codes    int // recovery codes that are left
}

// On reports that the account needs a second factor to sign in.
func (s State) On() bool { return s.TOTP || s.Passkeys > 0 }

// Proof is what somebody shows to be the owner of an account: one of the two.
type Proof struct {
	Code    string // of an app, or a recovery code
	Passkey string // the browser's answer to a challenge, in JSON
	Site    string // scheme and host of the pages
}

// Ways are how a proof was made.
const (
	ByTOTP     = "totp"
	ByRecovery = "recovery"
	ByPasskey  = "passkey"
)

// WrongCode is the error for a code that does not count.
func WrongCode() error {
	return errs.New(errs.Invalid, "That code is wrong, or was used before.")
}

// Use takes a proof of an account's second factor, once, and returns its way. Recovery codes count only if recovery
// is set. Error: 422.
func Use(tx *db.Tx, of account.ID, p Proof, recovery bool) (way string, err error) {
	if p.Passkey != "" {
		return ByPasskey, usePasskey(tx, of, p, false)
	}
	code := strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, p.Code))
	switch {
	case len(code) == totpDigits:
		return ByTOTP, useTOTP(tx, of, code)
	case recovery && len(code) == recoverySize:
		return ByRecovery, useRecovery(tx, of, code)
	}
	return "", WrongCode()
}
