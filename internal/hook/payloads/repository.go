package payloads

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// fork tells of a fork: like every other repository it is shown if it is public.
func (t *told) fork() error {
	var found *repo.Access
	err := t.db.Read(t.ctx, func(tx *db.Tx) error {
		list, err := repo.VisibleByID(tx, t.repo.Caller, []repo.ID{repo.ID(t.about.ID)})
		if err == nil && len(list) == 0 {
			err = errs.Absent()
		}
		if err == nil {
			found = list[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	t.out["forkee"] = repo.NewPayload(found, t.info)
	return nil
}

func (t *told) star() error {
	t.out["starred_at"] = t.about.At
	return nil
}

func (t *told) repository() error {
	if t.d.Action != "transferred" {
		return nil
	}
	// Who had it is an account: people and organizations stand in different places.
	from := object{"user": nil}
	switch {
	case t.user == nil:
	case t.user.Kind == account.Organization:
		from = object{"organization": account.NewOrganization(t.user, t.info)}
	default:
		from["user"] = account.NewSimple(t.user, t.info)
	}
	t.out["changes"] = object{"owner": object{"from": from}}
	return nil
}

func (t *told) member() error {
	if t.user == nil {
		return errs.Absent()
	}
	t.out["member"] = account.NewSimple(t.user, t.info)
	return nil
}

func (t *told) release() error {
	id := itoa(t.about.ID)
	return t.put("release", t.from.Releases.Get, "/releases/"+id, "release_id", id)
}

func (t *told) dispatch() error {
	t.out["branch"] = t.about.Ref
	return nil
}
