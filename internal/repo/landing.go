package repo

import (
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Landing is the outcome of checking a push in the transaction that moves the refs.
type Landing struct {
	Moved   []RefUpdate // the updates that can happen
	Refused []error     // the reason for each update of the push; nil: it can happen

	push   Push
	branch branchState
}

// Judge adds the reasons why rules, or locks of files, refuse updates of a push.
type Judge func(tx *db.Tx, p *Push, refused []error) error

// Judges are called by Check: Rules if there are rules about refs, Locks if there are locks of files.
type Judges struct{ Rules, Locks Judge }

// Lock locks the repository's row, as [db.Tx.Send] does. It comes before Check; what is sent after it reads the state
// that the push changes.
func (p Push) Lock(tx *db.Tx) error { return sendLockForRefs(tx, p.RepoID) }

// Check compares each update with the current ref, after Lock. The judges add the reasons why they refuse updates.
// Errors: 404 for a deleted repository; 503 if objects have been purged; the condition's and the judge's.
func (p Push) Check(tx *db.Tx, judges Judges) (*Landing, error) {
	current, err := sendRefsNear(tx, p.RepoID, p.Updates)
	if err != nil {
		return nil, err
	}
	branch, err := stateForRefs(tx, p.RepoID)
	if err != nil {
		return nil, err
	}
	if branch.purges != p.Purges {
		return nil, errPurged()
	}
	branch.mirror, branch.imports = branch.mirror && !p.Mirrored, branch.imports && !p.Imported
	refused := current.refusals(branch, p.Queue, p.Updates)
	if p.If != nil {
		more, err := p.If(tx, p.Updates)
		if err != nil {
			return nil, err
		}
		for i, err := range more {
			if refused[i] == nil {
				refused[i] = err
			}
		}
	}
	if branch.ruled && !p.First {
		if err := judges.Rules(tx, &p, refused); err != nil {
			return nil, err
		}
	}
	if branch.locked {
		if err := judges.Locks(tx, &p, refused); err != nil {
			return nil, err
		}
	}
	current.refuseClashes(p.Updates, refused)
	l := &Landing{Refused: refused, push: p, branch: branch}
	for i, u := range p.Updates {
		if refused[i] == nil {
			l.Moved = append(l.Moved, u)
		}
	}
	if p.Atomic && len(l.Moved) < len(p.Updates) {
		l.refuseRest(errs.New(errs.Conflict, "atomic push failed"))
	}
	if len(l.Moved) == 0 || p.grow == nil {
		return l, nil
	}
	switch err := p.grow(tx); {
	case errs.Is(err, errs.Forbidden):
		l.refuseRest(err)
	case err != nil:
		return nil, err
	}
	return l, nil
}

// refuseRest rejects all updates that are not yet rejected.
func (l *Landing) refuseRest(why error) {
	l.Moved = nil
	for i := range l.Refused {
		if l.Refused[i] == nil {
			l.Refused[i] = why
		}
	}
}

// Numbered reports whether the repository has, or had, any issue.
func (l *Landing) Numbered() bool { return l.branch.numbered }

// WriteRefs writes the push's ref updates.
func (l *Landing) WriteRefs(tx *db.Tx) error { return writeRefs(tx, l.push.RepoID, l.Moved) }

// NoteUnreached records the objects that may have lost their last ref.
func (l *Landing) NoteUnreached(tx *db.Tx) error {
	var list []git.SHA
	for _, u := range l.Moved {
		if u.Leaves() {
			list = append(list, u.Old)
		}
	}
	return noteUnreached(tx, l.push.RepoID, list)
}

// UpdateRepo sets the time of the push, adds to the size, and chooses a default branch if there was none.
func (l *Landing) UpdateRepo(tx *db.Tx) error {
	return touchPushed(tx, l.push.RepoID, newDefault(l.branch, l.Moved), l.push.GrownKB)
}
