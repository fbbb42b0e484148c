package mirror

import (
	"context"
	"regexp"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// fingerprint is that of a key, as ssh-keygen -l shows it.
var fingerprint = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)

// AcceptHostKey sets the fingerprint of the trusted host key of the other server, and schedules a run, even if the
// mirror was stopped. push is the id of a push mirror; 0: the pull mirror. Errors: 404; 422 for an invalid
// fingerprint, or if the mirror does not use SSH.
func (s *Service) AcceptHostKey(ctx context.Context, a *repo.Access, push int64, print string) (m *Mirror, err error) {
	if !fingerprint.MatchString(print) {
		return nil, errs.New(errs.Invalid, "invalid fingerprint: want that of a host key, as shown by ssh-keygen -l: "+
			"SHA256:...")
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		if m, err = one(tx, a.ID, push); err != nil {
			return err
		}
		if m.SSH == nil {
			return errs.New(errs.Invalid, "The mirror does not use SSH, so it has no host key.")
		}
		if err := acceptHostKey(tx, m, print); err != nil {
			return err
		}
		tx.Ring(Topic)
		if m, err = byID(tx, m.ID); err != nil {
			return err
		}
		action := audit.RepoSetMirror
		if m.Push {
			action = audit.RepoAddPushMirror
		}
		return audit.Record(tx, a.Audited(action, map[string]any{"url": m.URL, "host_key": print}))
	})
	return m, err
}

// one reads a push mirror of a repository, or with 0 its pull mirror. Error: 404.
func one(tx *db.Tx, id repo.ID, push int64) (*Mirror, error) {
	if push != 0 {
		return get(tx, id, push)
	}
	list, err := of(tx, id, false)
	if err == nil && len(list) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
