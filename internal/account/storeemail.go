package account

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
)

// Email is an address that an account claims.
type Email struct {
	Address  string // folded
	Verified bool   // it counts for commits
}

// ByEmails finds the accounts of the addresses of commits, under Fold of the address
// (decisions 28, 64). Verified addresses take one query, and reserved ones another for
// each of their two forms. Addresses of nobody are missing from the map.
func ByEmails(tx *db.Tx, emails []string) (map[string]*Account, error) {
	found, err := byReserved(tx, emails)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(foldedEmails(emails), maxEmails) {
		if err := byVerified(tx, part, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// byVerified adds the accounts for which the addresses were verified.
func byVerified(tx *db.Tx, folded []any, found map[string]*Account) error {
	return db.QueryEach(tx, func(row db.Scanner) error {
		var address string
		a, err := scanAccount(row, &address)
		if err != nil {
			return err
		}
		if _, is := parseReserved(address); !is {
			found[address] = a
		}
		return nil
	}, `SELECT `+accountColumns+`, e.address
		FROM emails e JOIN accounts a ON a.id = e.account_id
		WHERE e.verified = TRUE AND e.address IN `+db.Values(1, len(folded)), folded...)
}

// byReserved returns the accounts with reserved addresses.
func byReserved(tx *db.Tx, emails []string) (map[string]*Account, error) {
	found := map[string]*Account{}
	var ids []ID
	var logins []string
	for _, e := range emails {
		switch r, is := parseReserved(e); {
		case !is:
		case r.id != 0:
			ids = append(ids, r.id)
		case r.login != "":
			logins = append(logins, r.login)
		}
	}
	if len(ids)+len(logins) == 0 {
		return found, nil
	}
	byID, err := ByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	byLogin, err := ByLogins(tx, logins)
	if err != nil {
		return nil, err
	}
	if err := byFormerLogins(tx, logins, byLogin); err != nil {
		return nil, err
	}
	for _, e := range emails {
		if r, is := parseReserved(e); is {
			a := byID[r.id]
			if r.id == 0 {
				a = byLogin[r.login]
			}
			if a != nil && a.Kind == User {
				found[Fold(e)] = a
			}
		}
	}
	return found, nil
}

// noReply ends the addresses that are reserved for accounts; noReplyHost is their host.
const (
	noReplyHost = "users.noreply.arbor"
	noReply     = "@" + noReplyHost
)

// NoReply is an address that leads nowhere and stands for the account in its
// commits when it has no other.
func NoReply(a *Account) string { return a.ID.String() + "+" + a.Login + noReply }

// reservation names the account for which an address is reserved: by id (ID+LOGIN@, which
// outlives the login), or by login (LOGIN@). With neither it is reserved for nobody.
type reservation struct {
	id    ID
	login string // folded
}

// machine is the login in the address of server-made merges, see package git.
const machine = "noreply"

// parseReserved reads an address that only its own account may have.
func parseReserved(email string) (r reservation, is bool) {
	name, ok := strings.CutSuffix(Fold(email), noReply)
	if !ok {
		return reservation{}, false
	}
	number, _, plus := strings.Cut(name, "+")
	switch id, err := strconv.ParseInt(number, 10, 64); {
	case plus && err == nil && id > 0 && strconv.FormatInt(id, 10) == number:
		r.id = ID(id)
	case !plus && name != machine:
		r.login = name
	}
	return r, true
}

// mayHave reports whether an account may claim an address.
func mayHave(a *Account, email string) bool {
	r, is := parseReserved(email)
	return !is || r.id == a.ID && a.ID != 0 || r.login != "" && r.login == Fold(a.Login)
}

// maxEmails is the number of addresses in one query.
const maxEmails = 256

// foldedEmails folds the addresses and drops repeated ones and those that cannot
// be an account's: too long for the index, or no text. It fills up to a power of
// two, as distinct does.
func foldedEmails(emails []string) []any {
	seen := map[string]bool{}
	var args []any
	for _, e := range emails {
		if e = Fold(e); e == "" || len(e) > 320 || seen[e] || !utf8.ValidString(e) || HasControl(e) {
			continue
		}
		seen[e] = true
		args = append(args, e)
	}
	for len(args)&(len(args)-1) != 0 {
		args = append(args, args[len(args)-1])
	}
	return args
}

// emailsOf lists the addresses that an account claims.
func emailsOf(tx *db.Tx, accountID ID) ([]Email, error) {
	return db.QueryList(tx, func(row db.Scanner) (e Email, err error) {
		err = row.Scan(&e.Address, &e.Verified)
		return e, err
	}, `SELECT address, verified FROM emails WHERE account_id = $1
		ORDER BY created_at, address`, accountID)
}

// IsVerified reports whether an address was verified for an account.
func IsVerified(tx *db.Tx, accountID ID, address string) (verified bool, err error) {
	err = tx.QueryRow(`SELECT verified FROM emails WHERE account_id = $1 AND address = $2`,
		accountID, Fold(address)).Scan(&verified)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return verified, err
}

// insertEmail claims an address, unless it is claimed.
func insertEmail(tx *db.Tx, accountID ID, address string) error {
	_, err := tx.Exec(`INSERT INTO emails (account_id, address, verified, created_at)
		VALUES ($1, $2, FALSE, $3)
		ON CONFLICT (account_id, address) DO NOTHING`, accountID, Fold(address), tx.Now)
	if err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// deleteEmail ends a claim that is not verified, or any with force. It reports whether it
// did.
func deleteEmail(tx *db.Tx, accountID ID, address string, force bool) (bool, error) {
	n, err := tx.Exec(`DELETE FROM emails
		WHERE account_id = $1 AND address = $2 AND (verified = FALSE OR CAST($3 AS BOOLEAN))`,
		accountID, Fold(address), force)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(Topic)
}

// verifier is the login for which an address was verified, or empty.
func verifier(tx *db.Tx, address string) (login string, err error) {
	err = tx.QueryRow(`SELECT a.login FROM emails e JOIN accounts a ON a.id = e.account_id
		WHERE e.verified = TRUE AND e.address = $1`, Fold(address)).Scan(&login)
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	return login, err
}

// setVerified verifies a claimed address. It reports whether the account claims it.
func setVerified(tx *db.Tx, accountID ID, address string) (bool, error) {
	n, err := tx.Exec(`UPDATE emails SET verified = TRUE WHERE account_id = $1 AND address = $2`,
		accountID, Fold(address))
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(Topic)
}
