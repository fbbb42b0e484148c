package fsck

import (
	"context"
	"encoding/json"
	"fmt"

	"arbor/internal/db"
)

// provisioning looks for provisioned people whose attributes cannot be read, and for members of groups of another
// provider. Nothing is repaired: the provider sends its users and groups again.
func (c *checker) provisioning(ctx context.Context) (err error) {
	var problems []string
	err = c.DB.ReadLong(ctx, func(tx *db.Tx) error {
		problems, err = db.QueryTexts(tx, `SELECT 'the group ' || g.id || ' has a member of another provider, user ' || u.id
				FROM scim_members m JOIN scim_groups g ON g.id = m.group_id JOIN scim_users u ON u.id = m.person_id
				WHERE g.issuer <> u.issuer
			UNION ALL SELECT 'the user ' || u.id || ' is linked with ' || a.login || ', which is not a user' FROM scim_users u
				JOIN identities i ON i.issuer = u.issuer AND i.subject = u.subject
				JOIN accounts a ON a.id = i.account_id WHERE a.kind <> 1
			UNION ALL SELECT 'the user ' || id || ' has no userName or externalId' FROM scim_users
				WHERE user_name = '' OR subject = ''`)
		if err != nil {
			return err
		}
		return db.QueryEach(tx, func(row db.Scanner) error {
			var id int64
			var text string
			if err := row.Scan(&id, &text); err != nil {
				return err
			}
			if !json.Valid([]byte(text)) {
				problems = append(problems, fmt.Sprintf("the attributes of user %d cannot be read", id))
			}
			return nil
		}, `SELECT id, attributes FROM scim_users ORDER BY id`)
	})
	for _, problem := range problems {
		c.find(Finding{Part: "provisioning", Problem: problem})
	}
	return err
}
