package payloads

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// fork renders a fork. Like every other repository it is shown if it is public.
func (t *teller) fork() error {
	list, err := repo.VisibleByID(t.tx, t.repo.Caller, []repo.ID{repo.ID(t.About.ID)})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errs.Absent()
	}
	t.out["forkee"] = repo.NewPayload(list[0], t.info)
	return nil
}

func (t *teller) star() error {
	t.out["starred_at"] = t.About.At
	return nil
}

func (t *teller) repository() error {
	if t.Action != "transferred" {
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

func (t *teller) member() error {
	if t.user == nil {
		return errs.Absent()
	}
	t.out["member"] = account.NewSimple(t.user, t.info)
	return nil
}

func (t *teller) release() error {
	return t.putOnce("release", "release "+strconv.FormatInt(t.About.ID, 10), func() (any, error) {
		return t.from.Releases.ForHook(t.ctx, t.tx, t.repo, t.About.ID)
	})
}

func (t *teller) dispatch() error {
	t.out["branch"] = t.About.Ref
	return nil
}
