package external

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// shown is what the identity is called at its provider.
func (i *Identity) shown() string { return line(orElse(i.Login, i.Name)) }

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// line is a text of a provider as one line of a profile; empty if it cannot be one.
func line(text string) string {
	if account.CheckLine("name", text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// Enter returns the account of an identity, which is made first where its source says so, after the account got
// what its groups give it, and lost the rest. The transaction that signs in calls again, which finds the account
// once more and notes the use. Errors, also of again: 403 for an identity without an account, and for a suspended
// account; 422 for a login that cannot be used.
func (s *Service) Enter(ctx context.Context, i *Identity, from session.Origin) (
	a *account.Account, again func(tx *db.Tx) (*account.Account, error), err error,
) {
	if a, err = s.resolve(ctx, i, from); err != nil {
		return nil, nil, err
	}
	if !a.SuspendedAt.IsZero() {
		return nil, nil, account.Suspended()
	}
	provisioned, err := s.asProvisioned(ctx, i)
	if err != nil {
		return nil, nil, err
	}
	if provisioned {
		if err := s.follow(ctx, i, a, from, nil); err != nil {
			return nil, nil, err
		}
	}
	return a, func(tx *db.Tx) (*account.Account, error) {
		id, err := accountOf(tx, i)
		if err != nil || id != a.ID {
			return nil, cmp.Or[error](err, unknown(i)) // unlinked in the meantime
		}
		if err := noteUse(tx, i); err != nil {
			return nil, err
		}
		return account.ByID(tx, id)
	}, nil
}

func unknown(i *Identity) error {
	return errs.Newf(errs.Forbidden, "No account here is linked with this identity. If you have one, sign in another "+
		"way and link %s at Settings > Linked identities; else ask an administrator.", i.Source.Label)
}

// resolve finds or makes the account of an identity.
func (s *Service) resolve(ctx context.Context, i *Identity, from session.Origin) (a *account.Account, err error) {
	find := func(tx *db.Tx) error {
		id, err := accountOf(tx, i)
		if err != nil || id == 0 {
			a = nil
			return err
		}
		a, err = account.ByID(tx, id)
		return err
	}
	if err := s.o.DB.Read(ctx, find); err != nil || a != nil {
		return a, err
	}
	if i.Source.Accounts != Create {
		return nil, unknown(i)
	}
	login, err := i.login()
	if err != nil {
		return nil, err
	}
	actor := audit.Actor{Login: login, Right: audit.Self}
	if from.Address.IsValid() {
		actor.Address = from.Address.String()
	}
	err = s.o.DB.WriteAs(audit.With(ctx, actor), db.Server, func(tx *db.Tx) error {
		if err := find(tx); err != nil || a != nil { // another request was faster
			return err
		}
		if err := mayEnter(tx, i); err != nil {
			return err
		}
		a, err = s.register(tx, i, login, audit.Self)
		return taken(i, err)
	})
	return a, err
}

// register makes the account of an identity, with an address that no other account verified. Error: 422 for a login
// that is taken.
func (s *Service) register(tx *db.Tx, i *Identity, login, right string) (*account.Account, error) {
	made := &account.Account{Login: login, Kind: account.User, Name: web.OrNil(line(i.Name))}
	if err := account.Register(tx, made); err != nil {
		return nil, err
	}
	if err := account.Record(tx, audit.UserCreate, made, "", map[string]any{"site_admin": false,
		"provider": i.Source.Name}); err != nil {
		return nil, err
	}
	if err := s.link(tx, made, i, right); err != nil {
		return nil, err
	}
	if err := account.VerifyIfFree(tx, made, i.Email); err != nil {
		return nil, err
	}
	return account.ByID(tx, made.ID)
}

// login is the login of a new account: what the provider says, without the domain of an address, and with hyphens for
// what logins do not have. Error: 422.
func (i *Identity) login() (string, error) {
	text, _, _ := strings.Cut(i.Login, "@")
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= utf8.RuneSelf:
			return "", errs.Newf(errs.Invalid, "%s calls you %q, which cannot be a login here. Ask an administrator.",
				i.Source.Label, errs.Clip(i.Login))
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	login := strings.TrimSuffix(b.String(), "-")
	if err := account.CheckLogin(login); err != nil {
		return "", errs.Newf(errs.Invalid, "%s calls you %q, which cannot be a login here. Ask an administrator.",
			i.Source.Label, errs.Clip(i.Login))
	}
	return login, nil
}

// taken explains a login that is not free: the account that has it is never linked by its name.
func taken(i *Identity, err error) error {
	if !errs.Is(err, errs.Invalid) {
		return err
	}
	return errs.Newf(errs.Invalid, "%s. If that account is yours, sign in another way and link %s at "+
		"Settings > Linked identities; else ask an administrator.", err.Error(), i.Source.Label)
}

// link links an identity with an account, and records it.
func (s *Service) link(tx *db.Tx, a *account.Account, i *Identity, right string) error {
	id, err := insertIdentity(tx, a.ID, i)
	if err != nil {
		return err
	}
	return account.Record(tx, audit.IdentityLink, a, right,
		map[string]any{"provider": i.Source.Name, "subject": i.Subject, "identity_id": id})
}

// Link links an identity with the caller's account. Error: 422 if it is another account's, or the account has one of
// the provider.
func (s *Service) Link(ctx context.Context, by *account.Caller, i *Identity) error {
	if err := own(by); err != nil {
		return err
	}
	return s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := account.HoldID(tx, by.ID); err != nil {
			return err
		}
		a, err := account.ByID(tx, by.ID)
		if err != nil {
			return err
		}
		if err := mayEnter(tx, i); err != nil {
			return err
		}
		if err := markLinked(tx, i); err != nil {
			return err
		}
		return s.link(tx, a, i, audit.Self)
	})
}

// own refuses callers who act by a token.
func own(by *account.Caller) error {
	if !by.Session || by.ByToken {
		return errs.New(errs.Forbidden, "Sign in without a token to change your identities.")
	}
	return nil
}

// Identities lists those of the caller.
func (s *Service) Identities(ctx context.Context, of *account.Caller) (list []Linked, err error) {
	return db.Get(ctx, s.o.DB, func(tx *db.Tx) ([]Linked, error) { return identitiesOf(tx, of.ID) })
}

// Unlink takes an identity from the caller's account, and ends the other sessions. Errors: 404; 422 if nobody could
// sign in any more, or the account is provisioned: a leaver would not be suspended.
func (s *Service) Unlink(ctx context.Context, by *account.Caller, id int64) error {
	if err := own(by); err != nil {
		return err
	}
	return account.ChangeSelf(ctx, s.o.DB, by, func(tx *db.Tx, a *account.Account) error {
		if is, err := isProvisioned(tx, a.ID, id); err != nil || is {
			return cmp.Or[error](err, errs.New(errs.Invalid, "An identity provider manages your account: ask an administrator to unlink it."))
		}
		if err := unlink(tx, a, id, by.TokenID); err != nil {
			return err
		}
		list, err := identitiesOf(tx, a.ID)
		works := slices.ContainsFunc(list, func(i Linked) bool { return s.sources[i.Issuer] != nil })
		if err != nil || works {
			return err
		}
		return s.otherWay(tx, a)
	})
}

// otherWay returns a 422 for an account without an identity with which nobody can sign in.
func (s *Service) otherWay(tx *db.Tx, a *account.Account) error {
	password, passkey, err := session.WaysOf(tx, a.ID)
	if err == nil && !passkey && (!password || s.refusesPassword(a.Login)) {
		err = errs.New(errs.Invalid, "Nobody could sign in to your account: set a password or add a passkey first.")
	}
	return err
}

// unlink takes an identity from an account whose row is held, and ends its sessions but one.
func unlink(tx *db.Tx, a *account.Account, id, but int64) error {
	provider, err := deleteIdentity(tx, a.ID, id)
	if err != nil {
		return err
	}
	if err := session.EndAll(tx, a.ID, but); err != nil {
		return err
	}
	return account.Record(tx, audit.IdentityUnlink, a, audit.Self,
		map[string]any{"provider": provider, "identity_id": id})
}

// IdentitiesNamed lists those of a user, for the operator. Errors: 404, 422.
func IdentitiesNamed(ctx context.Context, d *db.DB, login string) (list []Linked, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		a, err := account.Holder(tx, login)
		if err == nil {
			list, err = identitiesOf(tx, a.ID)
		}
		return err
	})
	return list, err
}

// RemoveNamed unlinks an identity of a user, for the operator, and ends the user's sessions. Errors: 404, 422.
func RemoveNamed(ctx context.Context, d *db.DB, login string, id int64) error {
	return d.WriteAs(ctx, (*account.Caller)(nil), func(tx *db.Tx) error {
		a, err := account.Holder(tx, login)
		if err != nil {
			return err
		}
		if err := account.HoldID(tx, a.ID); err != nil {
			return err
		}
		return unlink(tx, a, id, 0)
	})
}
