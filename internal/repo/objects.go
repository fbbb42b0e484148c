package repo

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// WriteObjects adds objects to the repository durably (decision 45), and schedules consolidating its packs.
// No ref refers to them yet: call MoveRefs, CreateRef or UpdateRef afterwards. It checks the right to write
// again before, because no transaction follows.
func (s *Service) WriteObjects(ctx context.Context, a *Access, list []git.NewObject) ([]git.SHA, error) {
	if err := s.db.Read(ctx, a.Holds); err != nil {
		return nil, err
	}
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	shas, err := objects.WriteObjects(ctx, list)
	s.Wrote(a.ID)
	return shas, err
}

// Identity returns the caller as author of a commit: the account's name, else its login, and its verified
// e-mail address, else its no-reply address.
func (s *Service) Identity(ctx context.Context, caller *account.Caller) (git.Signature, error) {
	var who git.Signature
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := account.ByID(tx, caller.ID)
		if err == nil {
			who, err = identity(tx, a)
		}
		return err
	})
	return who, err
}

func identity(tx *db.Tx, a *account.Account) (git.Signature, error) {
	who := git.Signature{Name: a.Login, Email: account.NoReply(a), When: tx.Now.Time()}
	if a.Name != nil {
		if name := plainName(*a.Name); name != "" {
			who.Name = name
		}
	}
	email, err := account.CommitEmail(tx, a)
	try := who
	if try.Email = email; err == nil && try.Check() == nil {
		who = try
	}
	return who, err
}

// plainName removes characters that are invalid in a commit's author line.
func plainName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '<' || c == '>' {
			return -1
		}
		return c
	}, name)
	return strings.TrimSpace(name)
}

// RefTarget is a ref with the type of its object.
type RefTarget struct {
	Name string // full
	SHA  git.SHA
	Type git.Type
}

// refError returns the 422 for a field of a reference.
func refError(field, code, message string) error {
	return &errs.Error{Kind: errs.Invalid, Message: message,
		Fields: []errs.Field{{Resource: "Reference", Field: field, Code: code, Message: message}}}
}

// CreateRef creates a ref, as a push would. Errors: 422 for a name that no
// push could use or that exists, for an object that is missing, that leads to
// missing ones, or that a branch cannot name.
func (s *Service) CreateRef(ctx context.Context, a *Access, name string, sha git.SHA) (RefTarget, error) {
	if err := CheckNewRef(name); err != nil {
		return RefTarget{}, err
	}
	return s.setRef(ctx, a, RefUpdate{Name: name, Old: git.ZeroSHA, New: sha}, nil)
}

// CreateRefWith is CreateRef, and calls with in the same transaction.
func (s *Service) CreateRefWith(
	ctx context.Context, a *Access, name string, sha git.SHA, with func(*db.Tx) error,
) (RefTarget, error) {
	if err := CheckNewRef(name); err != nil {
		return RefTarget{}, err
	}
	return s.setRef(ctx, a, RefUpdate{Name: name, Old: git.ZeroSHA, New: sha}, with)
}

// CheckNewRef checks that a full name is valid for a ref that callers may create. Error: 422.
func CheckNewRef(name string) error {
	if strings.Count(name, "/") < 2 || !strings.HasPrefix(name, "refs/") {
		return refError("ref", errs.InvalidField,
			"Reference name must start with 'refs/' and contain at least two slashes.")
	}
	if err := git.CheckRefName(name); err != nil {
		return refError("ref", errs.InvalidField, ErrText(err))
	}
	return checkMovable(name)
}

// checkOldRef is CheckNewRef for an existing ref.
func checkOldRef(name string) error {
	if git.CheckOldRefName(name) != nil {
		return errNoRef()
	}
	return checkMovable(name)
}

func errNoRef() error { return errs.New(errs.Invalid, "Reference does not exist") }

func checkMovable(name string) error {
	if strings.HasPrefix(name, PullRefs) {
		return refError("ref", errs.InvalidField, "refs/pull/* is read-only")
	}
	return nil
}

// setRef checks the new object and updates the ref.
func (s *Service) setRef(
	ctx context.Context, a *Access, u RefUpdate, with func(*db.Tx) error,
) (RefTarget, error) {
	target, err := s.checkTip(ctx, a, &u)
	if err != nil {
		return RefTarget{}, err
	}
	return target, s.moveOneWith(ctx, a, u, with)
}

func errNoTarget() error { return refError("sha", errs.Missing, "Object does not exist") }

// CheckTarget is CheckNamed for the object of a ref to be created or updated. Error: 422, as for CreateRef.
func (s *Service) CheckTarget(ctx context.Context, a *Access, sha git.SHA) error {
	err := s.CheckNamed(ctx, a, sha)
	if errs.Is(err, errs.NotFound) {
		err = errNoTarget()
	}
	return err
}

// checkTip determines the type of the update's new object, and checks that a push could set the ref to it.
func (s *Service) checkTip(ctx context.Context, a *Access, u *RefUpdate) (RefTarget, error) {
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return RefTarget{}, err
	}
	defer release()
	object, peeled, err := objects.Peel(ctx, u.New)
	switch {
	case errs.Is(err, errs.NotFound):
		return RefTarget{}, errNoTarget()
	case err != nil:
		return RefTarget{}, err
	case strings.HasPrefix(u.Name, git.Heads) && object.Type != git.TypeCommit:
		return RefTarget{}, refError("sha", errs.InvalidField, "Object is not a commit: a branch must be one")
	}
	refs, err := s.Refs(ctx, a)
	if err != nil {
		return RefTarget{}, err
	}
	tips := make([]git.SHA, len(refs.List))
	for i, ref := range refs.List {
		tips[i] = ref.SHA
	}
	err = objects.CheckConnected(ctx, u.New, tips)
	if errs.Is(err, errs.Invalid) {
		return RefTarget{}, refError("sha", errs.InvalidField, "Object leads to others that do not exist")
	}
	if peeled.SHA != object.SHA {
		u.Peeled = peeled.SHA
	}
	return RefTarget{Name: u.Name, SHA: u.New, Type: object.Type}, err
}

// moveOne updates one ref, and returns a rejection as an error of the API.
func (s *Service) moveOne(ctx context.Context, a *Access, u RefUpdate) error {
	return s.moveOneWith(ctx, a, u, nil)
}

// moveOneWith is moveOne, and calls with in the same transaction if it is not nil.
func (s *Service) moveOneWith(ctx context.Context, a *Access, u RefUpdate, with func(*db.Tx) error) error {
	u.By = a.Caller.ID
	refused, err := s.moveRefsWith(ctx, Push{RepoID: a.ID, Purges: a.Purges, Updates: []RefUpdate{u},
		Atomic: true, As: a}, with)
	if err != nil || refused[0] == nil {
		return err
	}
	if err := RuledOut(refused[0], errs.Invalid); err != nil {
		return err
	}
	now, err := s.refNow(ctx, a.ID, u.Name)
	switch {
	case err != nil:
		return err
	case u.Old == git.ZeroSHA && now != "":
		return errs.New(errs.Invalid, "Reference already exists")
	case u.Old != git.ZeroSHA && now == "":
		return errNoRef()
	case u.Old != git.ZeroSHA && now != u.Old:
		return errs.New(errs.Conflict, "Reference has changed. Review it and try again.")
	}
	return refError("ref", errs.InvalidField, ErrText(refused[0]))
}

// refNow returns the current object of a ref, or "".
func (s *Service) refNow(ctx context.Context, repoID ID, name string) (sha git.SHA, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := refsNamed(tx, repoID, []string{name})
		sha = found[name]
		return err
	})
	return sha, err
}

// maxRefTries is how often an update is repeated because another writer moved
// the ref.
const maxRefTries = 5

// UpdateRef sets an existing ref to another object. Without force that must be a commit whose history
// contains the current one. Errors: 422 as for CreateRef, for a missing ref and for an update that is not a
// fast-forward; 409 for a ref that other writers keep moving.
func (s *Service) UpdateRef(
	ctx context.Context, a *Access, name string, sha git.SHA, force bool,
) (RefTarget, error) {
	if err := checkOldRef(name); err != nil {
		return RefTarget{}, err
	}
	for try := 1; ; try++ {
		old, err := s.refNow(ctx, a.ID, name)
		if err != nil {
			return RefTarget{}, err
		}
		if old == "" {
			return RefTarget{}, errNoRef()
		}
		u := RefUpdate{Name: name, Old: old, New: sha}
		target, err := s.checkTip(ctx, a, &u)
		if err == nil {
			u.Forward, err = s.isForward(ctx, a, old, target)
		}
		if err == nil && !force && !u.Forward {
			err = errs.New(errs.Invalid, "Update is not a fast forward")
		}
		if err == nil && old != sha {
			err = s.moveOne(ctx, a, u)
		}
		if !errs.Is(err, errs.Conflict) || try == maxRefTries {
			return target, err
		}
	}
}

// isForward reports whether an update is a fast-forward.
func (s *Service) isForward(ctx context.Context, a *Access, old git.SHA, target RefTarget) (bool, error) {
	if old == target.SHA {
		return true, nil
	}
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return false, err
	}
	defer release()
	before, err := objects.Info(ctx, old)
	if err != nil || before.Type != git.TypeCommit || target.Type != git.TypeCommit {
		return false, err
	}
	return objects.IsAncestor(ctx, old, target.SHA)
}

// DeleteRef deletes a ref. Errors: 422 for an unknown one, for the default branch (decision 59) and below
// refs/pull/; 409 as for UpdateRef.
func (s *Service) DeleteRef(ctx context.Context, a *Access, name string) error {
	if err := checkOldRef(name); err != nil {
		return err
	}
	for try := 1; ; try++ {
		old, err := s.refNow(ctx, a.ID, name)
		if err != nil {
			return err
		}
		if old == "" {
			return errNoRef()
		}
		err = s.moveOne(ctx, a, RefUpdate{Name: name, Old: old, New: git.ZeroSHA})
		if !errs.Is(err, errs.Conflict) || try == maxRefTries {
			return err
		}
	}
}

// ErrText returns the part of an error that clients may read.
func ErrText(err error) string {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return e.Message
	}
	return "failed"
}

// NewTag returns the update that creates a tag of an object, for MoveRefsIn. Errors: 422, as for CreateRef.
func (s *Service) NewTag(ctx context.Context, a *Access, name string, sha git.SHA) (RefUpdate, error) {
	u := RefUpdate{Name: git.Tags + name, Old: git.ZeroSHA, New: sha, By: a.Caller.ID}
	if err := CheckNewRef(u.Name); err != nil {
		return u, err
	}
	_, err := s.checkTip(ctx, a, &u)
	return u, err
}
