package account

import (
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/db"
)

// noReply ends the addresses of those who gave none.
const noReply = "@users.noreply.arbor"

// NoReply is an address that leads nowhere and stands for the account in its
// commits when it has no other.
func NoReply(a *Account) string { return fmt.Sprintf("%d+%s%s", a.ID, a.Login, noReply) }

// ByEmails finds the accounts that have one of the addresses, in one query,
// under Fold of the address; of several with one address the oldest. Addresses
// that nobody has are missing from the map, and so are those that are not
// ASCII. Those of NoReply count, with a second query when there are any. It is
// how the people of commits get their logins (decision 28).
func ByEmails(tx *db.Tx, emails []string) (map[string]*Account, error) {
	found, err := byNoReply(tx, emails)
	if err != nil {
		return nil, err
	}
	args := foldedEmails(emails)
	for len(args) > 0 {
		part := args[:min(len(args), maxEmails)]
		args = args[len(part):]
		list, err := queryAccounts(tx, ` WHERE lower(a.email) IN `+db.Values(1, len(part))+` ORDER BY a.id DESC`, part...)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			if a.Email != nil && a.Kind == User {
				found[Fold(*a.Email)] = a
			}
		}
	}
	return found, nil
}

// byNoReply finds the accounts whose NoReply is among the addresses.
func byNoReply(tx *db.Tx, emails []string) (map[string]*Account, error) {
	found := map[string]*Account{}
	var ids []int64
	for _, e := range emails {
		name, ok := strings.CutSuffix(Fold(e), noReply)
		number, _, plus := strings.Cut(name, "+")
		if id, err := strconv.ParseInt(number, 10, 64); ok && plus && err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	accounts, err := ByIDs(tx, ids)
	for _, a := range accounts {
		found[Fold(NoReply(a))] = a
	}
	return found, err
}

// maxEmails is how many addresses one query asks for.
const maxEmails = 256

// foldedEmails folds the addresses and drops repeated ones and those that
// cannot be an account's: too long for the index, or not printable ASCII, where
// the engines differ. It fills up to a power of two, as distinct does.
func foldedEmails(emails []string) []any {
	seen := map[string]bool{}
	var args []any
	for _, e := range emails {
		if e = Fold(e); e == "" || len(e) > 320 || seen[e] || !printable(e) {
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

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
