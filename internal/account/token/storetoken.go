package token

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// tokenTaken reports whether there is or was such a token.
func tokenTaken(tx *db.Tx, d digest) (taken bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM tokens WHERE digest = $1)`, d[:]).Scan(&taken)
	return taken, err
}

// insertToken stores a token by its digest; expires may be zero.
func insertToken(
	tx *db.Tx, accountID account.ID, d digest, hint string, n *NewToken, expires db.Time,
) (id int64, err error) {
	var scopes any // of one that may do everything: none
	if n.Scopes != scope.All {
		scopes = n.Scopes.String()
	}
	err = tx.QueryRow(`INSERT INTO tokens (account_id, digest, hint, note, scopes, permission, created_at,
		expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		accountID, d[:], hint, n.Note, scopes, n.permission(), tx.Now, expires).Scan(&id)
	if err != nil {
		return 0, err
	}
	if len(n.Repos) > 0 {
		args := []any{id}
		for _, repoID := range n.Repos {
			args = append(args, repoID)
		}
		_, err := tx.Exec(`INSERT INTO token_repos (token_id, repo_id)
			SELECT CAST($1 AS BIGINT), r.id FROM repos r
			WHERE r.id IN `+db.ValuesFrom(2, 1, len(n.Repos)), args...)
		if err != nil {
			return 0, err
		}
	}
	return id, tx.Bump(account.Topic)
}

// revokeByID ends a token, which may have ended before, and returns its id and its account.
// Error: errs.Absent.
func revokeByID(tx *db.Tx, id int64) (int64, *account.Account, error) { return revoke(tx, `id`, id) }

// revokeByDigest is revokeByID for a token itself.
func revokeByDigest(tx *db.Tx, d digest) (int64, *account.Account, error) {
	return revoke(tx, `digest`, d[:])
}

func revoke(tx *db.Tx, column string, key any) (id int64, of *account.Account, err error) {
	var holder account.ID
	err = tx.QueryRow(`UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE `+column+` = $1
		RETURNING id, account_id`, key, tx.Now).Scan(&id, &holder)
	if err != nil {
		return 0, nil, account.OrAbsent(err)
	}
	if of, err = account.ByID(tx, holder); err != nil {
		return 0, nil, err
	}
	// What was signed in with it ends, too.
	if err := endSessionsOf(tx, id); err != nil {
		return 0, nil, err
	}
	return id, of, tx.Bump(account.Topic)
}

// tokensOf lists the tokens of an account, 0 for those of all, by id.
func tokensOf(tx *db.Tx, accountID account.ID) ([]Token, error) {
	return queryTokens(tx, `WHERE (CAST($1 AS BIGINT) = 0 OR t.account_id = $1) AND t.installation_id IS NULL
		AND t.agent IS NULL ORDER BY t.id`, accountID)
}

// queryTokens reads tokens t of accounts a. rest follows FROM.
func queryTokens(tx *db.Tx, rest string, args ...any) ([]Token, error) {
	return db.QueryList(tx, func(row db.Scanner) (t Token, err error) {
		var scopes *string
		var permission int64
		if err := row.Scan(&t.ID, &t.Login, &t.Hint, &t.Note, &scopes, &permission,
			&t.CreatedAt, &t.ExpiresAt, &t.LastUsedAt, &t.RevokedAt); err != nil {
			return t, err
		}
		if t.Grant, err = account.NewGrant(scopes, permission, t.ExpiresAt, nil); err != nil {
			return t, err
		}
		return t, nil
	}, `SELECT t.id, a.login, t.hint, t.note, t.scopes, t.permission,
			t.created_at, t.expires_at, t.last_used_at, t.revoked_at
		FROM tokens t JOIN accounts a ON a.id = t.account_id `+rest, args...)
}

// nameRepos reads the names of the repositories for which fine-grained tokens were made.
func nameRepos(tx *db.Tx, accountID account.ID, list []Token) error {
	at := make(map[int64]*Token, len(list))
	for i := range list {
		at[list[i].ID] = &list[i]
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var id int64
		var owner, name string
		if err := row.Scan(&id, &owner, &name); err != nil {
			return err
		}
		if t := at[id]; t != nil {
			t.Repos = append(t.Repos, owner+"/"+name)
		}
		return nil
	}, `SELECT x.token_id, o.login, r.name FROM tokens t JOIN token_repos x ON x.token_id = t.id
		JOIN repos r ON r.id = x.repo_id JOIN accounts o ON o.id = r.owner_id
		WHERE CAST($1 AS BIGINT) = 0 OR t.account_id = $1 ORDER BY x.token_id, x.repo_id`, accountID)
}

// storeLastUses writes when tokens or keys, the rows of a table, were used, in the order of their ids so that
// two nodes that do so together cannot deadlock. It bumps nothing.
func storeLastUses(tx *db.Tx, table string, uses map[int64]db.Time) error {
	ids := make([]int64, 0, len(uses))
	for id := range uses {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		_, err := tx.Exec(`UPDATE `+table+` SET last_used_at = $2
			WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`, id, uses[id])
		if err != nil {
			return err
		}
	}
	return nil
}

// mostOwnTokens is the length of a list of a user's own tokens.
const mostOwnTokens = 500

// mostChosenRepos is how many repositories of all these tokens it has.
const mostChosenRepos = 2000

// ownTokens lists the tokens of an account that were not revoked, the newest first.
func ownTokens(tx *db.Tx, accountID account.ID) ([]Token, error) {
	return queryTokens(tx, `WHERE t.account_id = $1 AND t.installation_id IS NULL AND t.agent IS NULL
		AND t.grant_id IS NULL AND t.revoked_at IS NULL
		ORDER BY t.id DESC LIMIT $2`, accountID, mostOwnTokens)
}

// countTokens counts the tokens of an account that are in force.
func countTokens(tx *db.Tx, accountID account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM tokens WHERE account_id = $1 AND installation_id IS NULL
		AND agent IS NULL AND grant_id IS NULL AND revoked_at IS NULL AND (expires_at IS NULL
		OR expires_at > $2)`, accountID, tx.Now).Scan(&n)
	return n, err
}

// revokeOf ends a token of an account, and the sessions that were begun with it. Error: errs.Absent for one
// that is not there, or ended before.
func revokeOf(tx *db.Tx, accountID account.ID, id int64) error {
	changed, err := tx.Exec(`UPDATE tokens SET revoked_at = $3 WHERE id = $2 AND account_id = $1
		AND installation_id IS NULL AND agent IS NULL AND grant_id IS NULL AND revoked_at IS NULL`, accountID, id, tx.Now)
	if err != nil {
		return err
	}
	if changed == 0 {
		return errs.Absent()
	}
	if err := endSessionsOf(tx, id); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// endSessionsOf ends the sessions that were begun with a token.
func endSessionsOf(tx *db.Tx, tokenID int64) error {
	return tx.Run(`UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE begun_with = $1`,
		tokenID, tx.Now)
}

// choseRepos reads the ids of the repositories for which an account's fine-grained tokens were made.
func choseRepos(tx *db.Tx, accountID account.ID, list []Token) error {
	at := make(map[int64]*Token, len(list))
	for i := range list {
		at[list[i].ID] = &list[i]
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var id, repoID int64
		if err := row.Scan(&id, &repoID); err != nil {
			return err
		}
		if t := at[id]; t != nil {
			t.RepoIDs = append(t.RepoIDs, repoID)
		}
		return nil
	}, `SELECT x.token_id, x.repo_id FROM tokens t JOIN token_repos x ON x.token_id = t.id
		WHERE t.account_id = $1 AND t.agent IS NULL AND t.revoked_at IS NULL ORDER BY x.token_id, x.repo_id
		LIMIT $2`,
		accountID, mostChosenRepos)
}
