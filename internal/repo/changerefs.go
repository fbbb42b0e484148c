package repo

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// RefChange is what should become of a ref.
type RefChange struct {
	Name   string  // full
	Before git.SHA // what it must lead to; ZeroSHA: it must not exist; empty: whatever it is
	After  git.SHA // ZeroSHA: it is deleted
	Force  bool    // also if After does not contain what was there
}

// maxRefChanges limits the refs of one call of ChangeRefs.
const maxRefChanges = 100

// ChangeRefs creates, updates and deletes refs: all of them, or none. Errors: those of CreateRef, UpdateRef and
// DeleteRef; 422 for a ref that does not lead to what it must, and for one that is named twice.
func (s *Service) ChangeRefs(ctx context.Context, a *Access, changes []RefChange) error {
	if len(changes) > maxRefChanges {
		return errs.Newf(errs.Invalid, "at most %d refs can be changed at one time", maxRefChanges)
	}
	names := map[string]bool{}
	for _, c := range changes {
		if names[c.Name] {
			return errs.Newf(errs.Invalid, "%q is named twice", errs.Clip(c.Name))
		}
		names[c.Name] = true
	}
	for try := 1; ; try++ {
		err := s.changeRefs(ctx, a, changes)
		if !errs.Is(err, errs.Conflict) || try == maxRefTries {
			return err
		}
	}
}

// changeRefs tries once. Error: 409 if another writer moved a ref.
func (s *Service) changeRefs(ctx context.Context, a *Access, changes []RefChange) error {
	var updates []RefUpdate
	for _, c := range changes {
		u, err := s.refUpdate(ctx, a, c)
		if err != nil {
			return err
		}
		if u.Old != u.New {
			updates = append(updates, u)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	refused, err := s.MoveRefs(ctx, Push{RepoID: a.ID, Purges: a.Purges, Updates: updates, Atomic: true, As: a})
	if err != nil {
		return err
	}
	for n, reason := range refused {
		if reason == nil {
			continue
		}
		if err := RuledOut(reason, errs.Invalid); err != nil {
			return err
		}
		now, err := s.refNow(ctx, a.ID, updates[n].Name)
		if err != nil {
			return err
		}
		if now != updates[n].Old && !(now == "" && updates[n].Old == git.ZeroSHA) {
			return errs.New(errs.Conflict, "Reference has changed. Review it and try again.")
		}
	}
	for n, reason := range refused { // the others are refused with it
		if reason != nil && ErrText(reason) != "failed" {
			return refError("ref", errs.InvalidField, updates[n].Name+": "+ErrText(reason))
		}
	}
	return nil
}

// refUpdate returns the update of a ref as it is now. Errors: 422.
func (s *Service) refUpdate(ctx context.Context, a *Access, c RefChange) (u RefUpdate, err error) {
	now, err := s.refNow(ctx, a.ID, c.Name)
	if err != nil {
		return u, err
	}
	u = RefUpdate{Name: c.Name, Old: now, New: c.After, By: a.Caller.ID}
	if now == "" {
		u.Old = git.ZeroSHA
		if c.After == git.ZeroSHA {
			return u, errNoRef()
		}
		err = CheckNewRef(c.Name)
	} else {
		err = checkOldRef(c.Name)
	}
	if err == nil && c.Before != "" && c.Before != u.Old {
		err = refError("ref", errs.InvalidField, c.Name+" is not at "+string(c.Before))
	}
	if err != nil || c.After == git.ZeroSHA || u.Old == u.New {
		return u, err
	}
	if err := s.CheckTarget(ctx, a, c.After); err != nil {
		return u, err
	}
	target, err := s.checkTip(ctx, a, &u)
	if err != nil || u.Old == git.ZeroSHA {
		return u, err
	}
	u.Forward, err = s.isForward(ctx, a, u.Old, target)
	if err == nil && !u.Forward && !c.Force {
		err = errs.New(errs.Invalid, "Update is not a fast forward")
	}
	return u, err
}
