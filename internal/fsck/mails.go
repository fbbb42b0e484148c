package fsck

import (
	"context"

	"arbor/internal/db"
)

// farAway is longer than any mail is put off, in microseconds: that of a week's notifications is due on the next Monday.
const farAway = 8 * 24 * 3600_000_000

// mails looks for mails and links of what gets none, for mails that wait too long, and for a key that signs nothing. Nothing
// is repaired: a mail that cannot be sent is dropped after some days, and a link ends.
func (c *checker) mails(ctx context.Context) (err error) {
	problems, err := db.Get(ctx, c.DB, func(tx *db.Tx) ([]string, error) {
		return db.QueryTexts(tx, `SELECT 'the mail ' || m.id || ' is of ' || a.login || ', no user' FROM mails m
				JOIN accounts a ON a.id = m.account_id WHERE a.kind <> 1
			UNION ALL SELECT 'the mail ' || m.id || ' goes to nobody' FROM mails m
				WHERE m.account_id IS NULL AND m.address = ''
			UNION ALL SELECT 'the mail ' || m.id || ' is put off for too long' FROM mails m
				WHERE m.due_at > `+tx.Engine().Clock()+` + $1
			UNION ALL SELECT 'a link of kind ' || l.kind || ' is of ' || a.login || ', no user' FROM mail_links l
				JOIN accounts a ON a.id = l.account_id WHERE a.kind <> 1
			UNION ALL SELECT 'a link of kind ' || l.kind || ' has no secret' FROM mail_links l WHERE length(l.digest) <> 32
			UNION ALL SELECT 'the invitation ' || x.invitation_id || ' to an address is to no organization'
				FROM invited_addresses x JOIN invitations i ON i.id = x.invitation_id
				WHERE i.org_id IS NULL OR x.address = ''
			UNION ALL SELECT 'the key of signed addresses is not of 32 bytes' FROM mail_keys k WHERE length(k.secret) <> 32`,
			farAway)
	})
	for _, problem := range problems {
		c.find(Finding{Part: "mails", Problem: problem})
	}
	return err
}
