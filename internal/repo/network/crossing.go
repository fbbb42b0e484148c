package network

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Crossing is a copy of objects from one repository to another, on behalf of a person:
// the author of a pull request, or somebody who forks or updates a branch.
type Crossing struct {
	From, To repo.ID
	UserID   account.ID
}

// ErrNoCrossing says that objects may not be copied, see MayCross.
var ErrNoCrossing = errs.New(errs.Invalid, "The head repository was deleted or is no longer a fork of this one.")

// MayCross reports for each crossing whether it is allowed now: both repositories are in
// one network, and the person sees both (decision 61). It is asked before objects are
// copied, and again in the transaction that makes them reachable.
func MayCross(tx *db.Tx, list ...Crossing) ([]bool, error) {
	may := make([]bool, len(list))
	if len(list) == 0 {
		return may, nil
	}
	args := make([]any, 0, 4*len(list))
	for n, c := range list {
		args = append(args, n, c.From, c.To, c.UserID)
	}
	values := `(CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT))`
	if len(list) > 1 {
		values += `, ` + db.ValuesFrom(5, len(list)-1, 4)
	}
	found, err := db.QueryIDs[int64](tx, `WITH x (n, source, target, person) AS (VALUES `+values+`)
		SELECT x.n FROM x WHERE `+Crosses("x.source", "x.target", "x.person"), args...)
	for _, n := range found {
		may[n] = true
	}
	return may, err
}

// Crosses is MayCross as a condition in SQL, on the ids of the repositories and of
// the person. They are columns of other tables than f, t, u, r, o, m and w.
func Crosses(from, to, person string) string {
	return `EXISTS (SELECT 1 FROM repos f
		JOIN repos t ON COALESCE(t.root_id, t.id) = COALESCE(f.root_id, f.id)
		JOIN accounts u ON u.id = ` + person + ` WHERE f.id = ` + from + ` AND t.id = ` + to + `
		AND (u.site_admin = TRUE AND ` + repo.NotDeleted("f") + ` AND ` + repo.NotDeleted("t") + ` OR ` + seenBy("u.id", "f.id") + ` AND ` + seenBy("u.id", "t.id") + `))`
}

// seenBy is the condition that a person, other than a site administrator, sees a repository.
func seenBy(person, id string) string {
	return `EXISTS (SELECT 1 FROM repos r JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ` + person + `
		WHERE r.id = ` + id + ` AND ` + repo.VisibleTo(person) + `)`
}

// Bring copies the history of a commit if the crossing is allowed; have are the tips of
// the target's refs; right is the right of the request. What comes counts in the person's quota. Objects come
// from one repository into another existing one in no other way. The transaction that makes them reachable
// asks MayCross again. Errors: ErrNoCrossing; those of git.CopyObjects.
func (s *Service) Bring(
	ctx context.Context, right db.Right, c Crossing, tip git.SHA, have ...git.SHA,
) error {
	if c.From == c.To {
		return nil
	}
	may, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]bool, error) { return MayCross(tx, c) })
	switch {
	case err != nil:
		return err
	case !may[0]:
		return ErrNoCrossing
	}
	if err := s.repos.MarkUnreached(ctx, c.To); err != nil { // perhaps no ref ever leads to them
		return err
	}
	from, release, err := s.repos.GitOf(ctx, c.From)
	if err != nil {
		return err
	}
	defer release()
	to, release, err := s.repos.GitOf(ctx, c.To)
	if err != nil {
		return err
	}
	defer release()
	err = git.CopyObjects(ctx, from, to, tip, have, func(size int64) error {
		return s.db.WriteAs(ctx, right, func(tx *db.Tx) error { return s.chargeBrought(tx, c, (size+1023)/1024) })
	})
	if err != nil {
		return err
	}
	return s.repos.FollowObjects(ctx, right, repo.Brought{From: c.From, To: c.To, UserID: c.UserID, Tip: tip, Have: have})
}

// chargeBrought adds what is brought to what the person's quota pays for. Error: 403.
func (s *Service) chargeBrought(tx *db.Tx, c Crossing, kb int64) error {
	person, err := account.ByID(tx, c.UserID)
	if err != nil {
		return err
	}
	if err := s.repos.CheckQuota(tx, person, repo.Growth{KB: kb, Hold: true}); err != nil {
		return err
	}
	return tx.Run(`INSERT INTO brought (user_id, repo_id, kb)
		SELECT u.id, r.id, $3 FROM accounts u, repos r WHERE u.id = $1 AND r.id = $2
		ON CONFLICT (user_id, repo_id) DO UPDATE SET kb = brought.kb + excluded.kb`, c.UserID, c.To, kb)
}
