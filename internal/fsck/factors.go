package fsck

import (
	"context"

	"arbor/internal/db"
)

// factors looks for second factors that cannot work, and recovery codes that no factor goes with. Nothing is repaired:
// without the factor, anyone with the password could sign in.
func (c *checker) factors(ctx context.Context) (err error) {
	problems, err := db.Get(ctx, c.DB, func(tx *db.Tx) ([]string, error) {
		return db.QueryTexts(tx, `SELECT a.login || ' has an authenticator app without a key' FROM totps f
				JOIN accounts a ON a.id = f.account_id WHERE length(f.secret) <> 20 OR a.kind <> 1
			UNION ALL SELECT a.login || ' has a passkey without a key' FROM passkeys f JOIN accounts a ON a.id = f.account_id
				WHERE length(f.public_key) = 0 OR length(f.credential_id) = 0 OR a.kind <> 1
			UNION ALL SELECT DISTINCT a.login || ' has recovery codes, but no factor' FROM recovery_codes f
				JOIN accounts a ON a.id = f.account_id
				WHERE NOT EXISTS (SELECT 1 FROM totps t WHERE t.account_id = a.id)
				AND NOT EXISTS (SELECT 1 FROM passkeys p WHERE p.account_id = a.id)
			UNION ALL SELECT a.login || ' is no organization, and requires second factors' FROM factor_rules f
				JOIN accounts a ON a.id = f.org_id
				WHERE a.kind <> 2`)
	})
	for _, problem := range problems {
		c.find(Finding{Part: "factors", Problem: problem})
	}
	return err
}
