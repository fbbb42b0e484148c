package fsck

import (
	"context"
	"slices"

	"arbor/internal/db"
	"arbor/internal/signup"
)

// signup reports an unknown mode, invitations whose organization or team is not one, and requests that nobody could
// approve. Nothing is repaired: an administrator revokes or declines them.
func (c *checker) signup(ctx context.Context) (err error) {
	var problems []string
	err = c.DB.Read(ctx, func(tx *db.Tx) error {
		state, err := signup.StateIn(tx)
		if err != nil {
			return err
		}
		problems, err = db.QueryTexts(tx, `SELECT 'the invitation ' || l.id || ' is to ' || a.login || ', no organization'
				FROM signup_links l JOIN accounts a ON a.id = l.org_id WHERE a.kind <> 2
			UNION ALL SELECT 'the invitation ' || l.id || ' is to a team of another organization' FROM signup_links l
				JOIN teams t ON t.id = l.team_id WHERE l.org_id IS NULL OR t.org_id <> l.org_id
			UNION ALL SELECT 'nobody asked for the link ' || l.id || ', and it is not mailed' FROM signup_links l
				WHERE l.asked = TRUE AND (l.address = '' OR l.digest IS NULL)
			UNION ALL SELECT 'the request for ' || r.login || ' has no password' FROM signup_requests r
				WHERE r.password NOT LIKE '$argon2id$%'`)
		if !slices.Contains(signup.Modes, state.Mode) || state.Mode == signup.Domain && len(state.Domains) == 0 {
			problems = append(problems, "how accounts begin is not known: choose it with arbor signup --mode")
		}
		return err
	})
	for _, problem := range problems {
		c.find(Finding{Part: "sign-up", Problem: problem})
	}
	return err
}
