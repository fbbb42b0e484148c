package mirror

import (
	"context"
	"slices"
	"time"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Edit holds the settings of a mirror that somebody creates or changes.
type Edit struct {
	URL        string
	Username   string
	Password   web.Opt[string] // not set: keep the present one, if URL and username are unchanged
	Every      time.Duration   // of a pull mirror; 0: DefaultEvery
	FollowHead bool
	Once       bool // of a pull mirror: it ends with its first success
}

// Check reports what is wrong with a pull mirror that is to be set up. Error: 422; 410 where mirrors are switched off.
func (s *Service) Check(e Edit) error { return s.check(&e, false) }

// check reports what is wrong with the values. Error: 422; 410 where mirrors are switched off.
func (s *Service) check(e *Edit, push bool) error {
	if s.Off {
		return errs.New(errs.Gone, "Mirrors are switched off on this server.")
	}
	f := web.Faults{Resource: Resource}
	f.CheckFilled("remote_url", e.URL)
	f.CheckText("remote_url", e.URL, maxURL)
	f.CheckText("username", e.Username, maxUsername)
	f.CheckText("password", e.Password.Value, maxPassword)
	if IsSSH(e.URL) && (e.Username != "" || e.Password.Value != "") {
		f.Wrong("username", errs.Custom, "for SSH, put the user into remote_url, and leave username and password out")
	}
	if e.URL != "" {
		stored, err := s.checkURL(e.URL)
		if err != nil {
			f.Wrong("remote_url", errs.Custom, repo.ErrText(err))
		}
		e.URL = stored
	}
	if e.Every == 0 && !push {
		e.Every = max(DefaultEvery, s.MinInterval)
	}
	if !push && (e.Every < s.MinInterval || e.Every > maxEvery) {
		f.Wrong("interval", errs.Custom, "interval must be from "+s.MinInterval.String()+" to "+maxEvery.String())
	}
	return f.Err()
}

// mirror returns the mirror that an edit sets up.
func (s *Service) mirror(a *repo.Access, e Edit, push bool) (*Mirror, error) {
	if a.Caller != nil && a.Caller.App != 0 {
		return nil, errs.New(errs.Forbidden, "An App cannot set up mirrors: an administrator of the repository can.")
	}
	secret, err := s.seal(a.ID, forPassword, e.Password.Value)
	m := &Mirror{RepoID: a.ID, Push: push, URL: e.URL, Username: e.Username, Every: e.Every, Active: true,
		FollowHead: e.FollowHead && !push, Once: e.Once && !push, secret: secret, byOperator: a.Caller == nil || a.Caller.ID == 0}
	if !m.byOperator {
		m.CreatedBy = a.Caller.ID
	}
	if err == nil && IsSSH(m.URL) {
		m.SSH, err = s.newSSH(m)
	}
	return m, err
}

// Get reads the pull mirror of a repository. Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access) (m *Mirror, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := of(tx, a.ID, false)
		if err == nil && len(list) == 0 {
			err = errs.Absent()
		}
		if err == nil {
			m = list[0]
		}
		return err
	})
	return m, err
}

// Set makes a repository a pull mirror, or changes what it mirrors. made reports that it was none. Errors: 410, 422.
func (s *Service) Set(ctx context.Context, a *repo.Access, e Edit) (m *Mirror, made bool, err error) {
	if err := s.check(&e, false); err != nil {
		return nil, false, err
	}
	n, err := s.mirror(a, e, false)
	if err != nil {
		return nil, false, err
	}
	usable, err := s.usableKey(ctx, a)
	if err != nil {
		return nil, false, err
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		list, err := of(tx, a.ID, false)
		if err != nil {
			return err
		}
		next := *n
		next.wasPrivate, made = now.Private, len(list) == 0
		if !made {
			was := list[0]
			if next.ID = was.ID; !e.Password.Set && was.URL == next.URL && was.Username == next.Username {
				next.secret = was.secret
			}
			if was.SSH != nil && was.URL == next.URL && was.SSH.PublicKey == usable {
				next.SSH = was.SSH
			}
			if err = update(tx, &next); err == nil && was.URL != next.URL {
				err = setSecret(tx, a.ID, "")
			}
		} else {
			err = insert(tx, &next)
		}
		if err != nil {
			return err
		}
		tx.Ring(Topic)
		if m, err = byID(tx, next.ID); err != nil {
			return err
		}
		return record(tx, a, m, audit.RepoSetMirror)
	})
	return m, made, err
}

// usableKey returns the public key of the pull mirror of a repository, if the server can use the pair.
func (s *Service) usableKey(ctx context.Context, a *repo.Access) (string, error) {
	m, err := s.Get(ctx, a)
	if errs.Is(err, errs.NotFound) || err == nil && m.SSH == nil {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := s.signer(m); err != nil {
		return "", nil
	}
	return m.SSH.PublicKey, nil
}

// Remove makes a pull mirror an ordinary repository. Error: 404.
func (s *Service) Remove(ctx context.Context, a *repo.Access) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		list, err := of(tx, a.ID, false)
		if err == nil && len(list) == 0 {
			err = errs.Absent()
		}
		if err != nil {
			return err
		}
		if err := remove(tx, list[0]); err != nil {
			return err
		}
		return record(tx, a, list[0], audit.RepoRemoveMirror)
	})
}

// ListPush lists the push mirrors of a repository.
func (s *Service) ListPush(ctx context.Context, a *repo.Access) (list []*Mirror, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Mirror, error) { return of(tx, a.ID, true) })
}

// GetPush reads a push mirror. Error: 404.
func (s *Service) GetPush(ctx context.Context, a *repo.Access, id int64) (m *Mirror, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Mirror, error) { return get(tx, a.ID, id) })
}

// AddPush adds a push mirror. Errors: 410; 422, also for an address that there is already, and for too many.
func (s *Service) AddPush(ctx context.Context, a *repo.Access, e Edit) (m *Mirror, err error) {
	if err := s.check(&e, true); err != nil {
		return nil, err
	}
	n, err := s.mirror(a, e, true)
	if err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := repo.ByID(tx, a.Caller, a.ID)
		if err != nil {
			return err
		}
		list, err := of(tx, a.ID, true)
		if err != nil {
			return err
		}
		if len(list) >= maxPushed {
			return errs.Newf(errs.Invalid, "A repository has %d push mirrors at most.", maxPushed)
		}
		if slices.ContainsFunc(list, func(m *Mirror) bool { return m.URL == n.URL }) {
			return errs.Validation(errs.Field{Resource: Resource, Field: "remote_url", Code: errs.AlreadyExists})
		}
		next := *n
		next.wasPrivate = now.Private
		if err := insert(tx, &next); err != nil {
			return err
		}
		tx.Ring(Topic)
		if m, err = byID(tx, next.ID); err != nil {
			return err
		}
		return record(tx, a, m, audit.RepoAddPushMirror)
	})
	return m, err
}

// RemovePush removes a push mirror. Error: 404.
func (s *Service) RemovePush(ctx context.Context, a *repo.Access, id int64) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		m, err := get(tx, a.ID, id)
		if err != nil {
			return err
		}
		if err := remove(tx, m); err != nil {
			return err
		}
		return record(tx, a, m, audit.RepoRemovePushMirror)
	})
}

// Ask schedules a run of the repository's pull mirror, or of its push mirrors, at most one per AskEvery. Errors:
// 404 if the repository has no mirror; 422 if all its mirrors are stopped.
func (s *Service) Ask(ctx context.Context, a *repo.Access, push bool) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		return s.askIn(tx, a.ID, push)
	})
}

// askIn is Ask in a transaction that has locked the repository.
func (s *Service) askIn(tx *db.Tx, id repo.ID, push bool) error {
	list, err := of(tx, id, push)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errs.Absent()
	}
	n, err := ask(tx, id, push, s.AskEvery)
	if err == nil && n == 0 {
		err = errs.New(errs.Invalid, "The mirror was stopped. An administrator of the repository can set it up again.")
	}
	return err
}

// record writes the audit log, without credentials.
func record(tx *db.Tx, a *repo.Access, m *Mirror, action audit.Action) error {
	return audit.Record(tx, a.Audited(action, map[string]any{"url": m.URL}))
}
