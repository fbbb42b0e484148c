package account

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/web"
)

// mannequinOf returns the mannequin of somebody; 0: there is none.
func mannequinOf(tx *db.Tx, o Origin) (id ID, err error) {
	err = tx.QueryRow(`SELECT account_id FROM mannequins WHERE host = $1 AND login = $2`, o.Host, Fold(o.Login)).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return id, err
}

// insertMannequin inserts a mannequin. Logins that differ only in characters that were replaced get a number.
func insertMannequin(tx *db.Tx, a *Account, o Origin) error {
	a.CreatedAt, a.UpdatedAt = tx.Now, tx.Now
	id, err := tx.NextID("accounts")
	if err != nil {
		return err
	}
	var taken bool
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts WHERE login_folded = $1)
		OR EXISTS (SELECT 1 FROM former_logins WHERE login_folded = $1)`, Fold(a.Login)).Scan(&taken)
	if err != nil {
		return err
	}
	if taken {
		a.Login = Origin{Host: o.Host, Login: numbered(o.Login, id)}.login()
	}
	err = tx.QueryRow(`INSERT INTO accounts (id, login, login_folded, kind, name, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id`, id, a.Login, Fold(a.Login), int64(a.Kind), a.Name,
		tx.Now).Scan(&a.ID)
	if err != nil {
		return err
	}
	if err := tx.Run(`INSERT INTO mannequins (account_id, host, login) VALUES ($1, $2, $3)`, a.ID, o.Host,
		Fold(o.Login)); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// NameMannequin notes that an import named an account in a repository, if it is a mannequin.
func NameMannequin(tx *db.Tx, id ID, repo int64) error {
	return tx.Run(`INSERT INTO mannequin_repos (account_id, repo_id) SELECT id, CAST($2 AS BIGINT) FROM accounts
		WHERE id = $1 AND kind = $3 ON CONFLICT DO NOTHING`, id, repo, int64(Mannequin))
}

// MannequinList chooses and sorts mannequins of organizations.
type MannequinList struct {
	Login   string // here or on the other server; empty: all
	ByLogin bool   // sorted by login, else by when they were made
	Desc    bool
}

// mannequinsOfEach reads a page of the mannequins in repositories of each organization.
func mannequinsOfEach(tx *db.Tx, orgs []ID, l MannequinList, p web.Page) (map[ID]*db.ListPage[ID], error) {
	order, only, args := `a.id`, ``, []any(nil)
	if l.ByLogin {
		order = `a.login_folded`
	}
	if l.Desc {
		order += ` DESC`
	}
	if l.Login != "" {
		args = []any{Fold(l.Login)}
		only = ` AND (a.login_folded = $1 OR EXISTS (SELECT 1 FROM mannequins o WHERE o.account_id = a.id AND o.login = $1))`
	}
	return db.PageOfEach[ID, ID](tx, orgs, db.Lists[ID]{Columns: `a.id, 0`, Order: order,
		From: func(_ ID, param string) string {
			return ` FROM accounts a WHERE a.id IN (SELECT m.account_id FROM repos r
				JOIN mannequin_repos m ON m.repo_id = r.id WHERE r.owner_id = ` + param + ` AND r.withdrawn = FALSE)` + only
		}}, p.Offset(), p.Size, args...)
}

// ByVerified finds the accounts that verified addresses, which are folded.
func ByVerified(tx *db.Tx, addresses []string) (map[string]*Account, error) {
	found := map[string]*Account{}
	if len(addresses) == 0 {
		return found, nil
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var address string
		a, err := scanAccount(row, &address)
		found[address] = a
		return err
	}, `SELECT `+accountColumns+`, x.address FROM accounts a JOIN emails x ON x.account_id = a.id
		WHERE x.verified = TRUE AND x.address IN `+db.Values(1, len(addresses)), db.Args(addresses)...)
	return found, err
}

// ForgiveTexts resets the hourly text count of accounts whose texts were imported, since they did not write them
// within this hour. See TextLimits.
func ForgiveTexts(tx *db.Tx, ids []ID) error {
	return db.InParts(ids, func(part []ID) error {
		return tx.Run(`UPDATE text_counts SET hour_bytes = 0 WHERE account_id IN `+db.Values(1, len(part)), db.Args(part)...)
	})
}

// EndMannequin removes a mannequin whose rows belong to a user now, who stands for it in later imports.
func EndMannequin(tx *db.Tx, id, user ID) error {
	if err := tx.Run(`UPDATE mannequins SET account_id = $2 WHERE account_id = $1`, id, user); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM accounts WHERE id = $1`, id); err != nil {
		return err
	}
	return tx.Bump(Topic)
}
