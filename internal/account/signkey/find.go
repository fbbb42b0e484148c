package signkey

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Found are the keys that signatures name.
type Found struct {
	Of  map[Name]Key   // the key of an account
	Any map[string]Key // the first that somebody added, by handle
}

// Name names the key of an account in a signature.
type Name struct {
	Account account.ID
	Handle  string
}

// Find finds the keys of signatures, with two statements however many there are.
func Find(tx *db.Tx, names []Name) (Found, error) {
	f := Found{map[Name]Key{}, map[string]Key{}}
	var handles []any
	var accounts []account.ID
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n.Handle] {
			seen[n.Handle] = true
			handles = append(handles, n.Handle)
		}
		accounts = append(accounts, n.Account)
	}
	if len(names) == 0 {
		return f, nil
	}
	args := slices.Clone(handles)
	accounts = db.Unique(accounts)
	for _, id := range accounts {
		args = append(args, id)
	}
	list, err := query(tx, `WHERE k.handle IN `+db.Values(1, len(handles))+` AND k.account_id IN `+
		db.ValuesFrom(1+len(handles), 1, len(accounts)), args...)
	if err != nil {
		return f, err
	}
	for _, k := range list {
		f.Of[Name{k.Account, k.Handle}] = k
	}
	list, err = query(tx, `JOIN (SELECT min(id) AS id FROM signing_keys WHERE handle IN `+
		db.Values(1, len(handles))+` GROUP BY handle) first ON first.id = k.id`, handles...)
	for _, k := range list {
		f.Any[k.Handle] = k
	}
	return f, err
}

// Claims returns those pairs of an address and a handle whose key an account has that claims the address and has not
// verified it. Addresses are folded.
func Claims(tx *db.Tx, emails, handles []string) (map[[2]string]bool, error) {
	found := map[[2]string]bool{}
	if len(emails) == 0 || len(handles) == 0 {
		return found, nil
	}
	args := make([]any, 0, len(emails)+len(handles))
	for _, text := range slices.Concat(emails, handles) {
		args = append(args, text)
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var pair [2]string
		err := row.Scan(&pair[0], &pair[1])
		found[pair] = true
		return err
	}, `SELECT DISTINCT e.address, k.handle FROM emails e JOIN signing_keys k ON k.account_id = e.account_id
		WHERE e.verified = FALSE AND e.address IN `+db.Values(1, len(emails))+` AND k.handle IN `+
		db.ValuesFrom(1+len(emails), 1, len(handles)), args...)
	return found, err
}

// Turn is a moment at which keys expire.
type Turn struct {
	Last, Next db.Time // the last until now, and the next; zero: none
}

// TurnAt returns the moments around now.
func TurnAt(tx *db.Tx, now db.Time) (t Turn, err error) {
	err = tx.QueryRow(`SELECT (SELECT max(expires_at) FROM signing_keys WHERE expires_at <= $1),
		(SELECT min(expires_at) FROM signing_keys WHERE expires_at > $2)`, now, now).Scan(&t.Last, &t.Next)
	return t, err
}
