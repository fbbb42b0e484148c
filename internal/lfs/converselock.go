package lfs

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// lockArgs are the arguments that tell of a lock.
func lockArgs(l *Lock) []string {
	j := newLock(l)
	return []string{"id=" + j.ID, "path=" + j.Path, "locked-at=" + j.LockedAt, "ownername=" + j.Owner.Name}
}

// lock locks a path. One that is locked is answered with its lock, and 409.
func (t *talk) lock(ctx context.Context, a *repo.Access, m *message) error {
	l, err := t.s.CreateLock(ctx, a, m.args["path"])
	if locked, ok := errors.AsType[*errLocked](err); ok {
		return t.status(409, lockArgs(&locked.by), locked.Error())
	}
	if err != nil {
		return err
	}
	return t.status(201, lockArgs(l))
}

// unlock removes a lock.
func (t *talk) unlock(ctx context.Context, a *repo.Access, m *message) error {
	id, err := strconv.ParseInt(m.word, 10, 64)
	if err != nil {
		return errs.Absent()
	}
	l, err := t.s.Unlock(ctx, a, id, m.args["force"] == "true")
	if err != nil {
		return err
	}
	return t.status(200, lockArgs(l))
}

// list lists locks, in pages.
func (t *talk) list(ctx context.Context, a *repo.Access, m *message) (err error) {
	f := lockFilter{Path: m.args["path"]}
	if f.ID, err = number("id", m.args["id"]); err != nil {
		return err
	}
	if f.Limit, err = number("limit", m.args["limit"]); err != nil {
		return err
	}
	list, next, err := t.s.page(ctx, a, f, m.args["cursor"])
	if err != nil {
		return err
	}
	var args, lines []string
	if next != "" {
		args = append(args, "next-cursor="+next)
	}
	for n := range list {
		j, whose := newLock(&list[n]), "theirs"
		if list[n].OwnerID == account.IDOf(a.Caller) {
			whose = "ours"
		}
		lines = append(lines, "lock "+j.ID, "path "+j.ID+" "+j.Path, "locked-at "+j.ID+" "+j.LockedAt,
			"ownername "+j.ID+" "+j.Owner.Name, "owner "+j.ID+" "+whose)
	}
	return t.status(200, args, lines...)
}
