// Package session signs people in to the pages: by a password and a second factor, by a passkey, or by a token.
//
//   - session.go: signing in, the sessions of an account, the first user of a server
//   - second.go: the second step of signing in, and signing in with a passkey alone
//   - confirm.go: a session's user confirms again who it is, before what is dangerous
//   - factors.go: the factors of an account: adding, removing, by the operator, too; package factor has them
//   - password.go, common.go: passwords, and which are refused since attackers try them first
//   - attempts.go: wrong passwords; hashing.go: how many are compared at one time
//   - browser.go: places that an account knows
//   - shown.go: when and how the user of a session last authenticated, for ID tokens
//   - reset.go: another password by a link in a mail
//   - store.go: the SQL
//
// Sessions are rows of the table tokens with an agent. Package token finds them as it does tokens; only pages,
// and the files that they link to, accept them.
package session

import (
	"cmp"
	"context"
	"net/netip"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Cookie is the name of a browser's session cookie. Behind TLS it has the prefix "__Host-".
const Cookie = "arbor_session"

// prefix begins the value of each session, so that it cannot be taken for a token: the API accepts
// none.
const prefix = "arbs_"

// Age is how long a session lasts.
const Age = 30 * 24 * time.Hour

// maxSessions is how many sessions an account may have; a new one ends the oldest.
const maxSessions = 50

// Service signs in, and changes passwords. Safe for concurrent use.
type Service struct {
	db     *db.DB
	tokens *token.Service
	clock  func() time.Time // tests in this package set it

	// RefusesPassword reports whether a user may not sign in with a password, but must with an identity of another
	// server (package oidc); set before the service is used. nil: nobody must.
	RefusesPassword func(login string) bool

	// Directory checks names and passwords that are not of this server (package ldap); set before the service is
	// used. nil: there is none.
	Directory Directory

	attempts              attempts // to sign in
	codes                 attempts // of second factors
	strangers, acquainted hashing  // passwords that are compared
}

// New returns the service.
func New(d *db.DB, tokens *token.Service) *Service {
	return &Service{db: d, tokens: tokens, clock: time.Now, strangers: newHashing(), acquainted: newHashing(),
		codes: attempts{strict: true}}
}

func (s *Service) now() db.Time { return db.FromTime(s.clock()) }

// Origin is the origin of a sign-in.
type Origin struct {
	Address netip.Addr // invalid: over a socket in the file system
	Agent   string     // what the browser calls itself
	Browser string     // its BrowserCookie; empty: none
}

// Session describes a session without its secret.
type Session struct {
	ID          int64
	Agent       string // what the browser called itself
	Address     string // from where it was begun; empty: not known
	CreatedAt   db.Time
	ExpiresAt   db.Time
	LastUsedAt  db.Time // zero: not since it was begun; up to half a minute late
	ConfirmedAt db.Time // when its user last showed a password or a factor
	MadeWith    string  // one of the ways below; empty: not known, by a version before
}

// Ways are how a session is made. A password with a second factor is withPassword and the factor's way, with "+".
const (
	withPassword = "password"
	withPasskey  = "passkey"
	withToken    = "token"
	withSetup    = "setup"

	// WithSignup is the way of the first session of an account that a person began (package signup).
	WithSignup = "signup"

	// WithProvider begins the way of a session that an identity of another server made (package oidc); the name of
	// the provider follows.
	WithProvider = "oidc:"
)

// AuthenticateSession returns the user of a session given the cookie's value, or nil if the session is
// unknown or has ended.
func (s *Service) AuthenticateSession(ctx context.Context, session string) (*account.Caller, error) {
	if !strings.HasPrefix(session, prefix) || !token.WellFormed(token.Prefix+session[len(prefix):]) {
		return nil, nil
	}
	caller, expires, err := s.tokens.Find(ctx, session)
	if errs.Is(err, errs.Unauthenticated) || errs.Is(err, errs.Forbidden) { // revoked, or suspended
		return nil, nil
	}
	now := s.now()
	if err != nil || !caller.Session || now >= expires {
		return nil, err
	}
	s.tokens.NoteUse(caller, now)
	return caller, nil
}

// MadeWith returns how the session of a caller was made, one of the ways; empty: not known. Error: 404.
func (s *Service) MadeWith(ctx context.Context, of *account.Caller) (how string, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (string, error) { return madeWith(tx, of.TokenID) })
}

// EndAll ends all sessions of an account but one; 0: all. The account's row is locked.
func EndAll(tx *db.Tx, of account.ID, but int64) error { return endSessions(tx, of, but) }

// WaysOf reports whether a user has a password, and a passkey.
func WaysOf(tx *db.Tx, of account.ID) (password, passkey bool, err error) {
	_, kept, err := loginAndPassword(tx, of)
	if err != nil {
		return false, false, err
	}
	has, err := factor.Of(tx, of)
	return kept != "", has.Passkeys > 0, err
}

// newSession is whose session is begun, and by what.
type newSession struct {
	account  *account.Account
	token    int64   // it was started with, which limits its rights; 0: a password
	expires  db.Time // of the token; zero: never
	how      string  // it was made, see the ways
	shown    db.Time // when the user showed who it is; zero: now
	provider string  // the session of the identity provider; empty: none
}

// begin stores a session of the user with a login.
func (s *Service) begin(
	ctx context.Context, login string, from Origin, whose func(tx *db.Tx) (*newSession, error),
) (string, error) {
	value := token.NewSecret(prefix)
	actor := audit.Actor{Login: login, Right: audit.Self}
	if from.Address.IsValid() {
		actor.Address = from.Address.String()
	}
	err := s.db.WriteAs(audit.With(ctx, actor), db.Server, func(tx *db.Tx) error {
		n, err := whose(tx)
		if err != nil {
			return err
		}
		if !n.account.SuspendedAt.IsZero() {
			return account.Suspended()
		}
		expires := tx.Now + db.Time(Age.Microseconds())
		if !n.expires.IsZero() {
			expires = min(expires, n.expires)
		}
		isNew, err := s.isNewPlace(tx, n.account, from)
		if err != nil {
			return err
		}
		id, err := insertSession(tx, n, token.Digest(value), from, expires)
		if err != nil {
			return err
		}
		told := map[string]any{"token_id": id, "by": n.how}
		if isNew {
			told[audit.NewPlace] = true
		}
		return account.Record(tx, audit.UserLogin, n.account, "", told)
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// setupLock is held while the first user is made.
const setupLock = "first user"

// FirstUser creates the site's administrator, with a password, on a server without users, and signs in as
// that user. Errors: 404 when users exist; those of CreateUser and SetPassword.
func (s *Service) FirstUser(ctx context.Context, login, password string, from Origin) (string, error) {
	if err := CheckPassword(login, password); err != nil {
		return "", err
	}
	kept, err := hashPassword(ctx, password)
	if err != nil {
		return "", err
	}
	return s.begin(ctx, login, from, func(tx *db.Tx) (*newSession, error) {
		if err := tx.Lock(setupLock); err != nil { // of visitors at the same time one is the first
			return nil, err
		}
		if some, err := hasUsers(tx); err != nil || some {
			return nil, cmp.Or[error](err, errs.Absent())
		}
		a := &account.Account{Login: login, Kind: account.User, SiteAdmin: true}
		if err := account.Register(tx, a); err != nil {
			return nil, err
		}
		if err := account.Record(tx, audit.UserCreate, a, "", map[string]any{"site_admin": true}); err != nil {
			return nil, err
		}
		return &newSession{account: a, how: withSetup}, storePassword(tx, a.ID, kept)
	})
}

// HasUsers reports whether any user exists.
func (s *Service) HasUsers(ctx context.Context) (some bool, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (bool, error) { return hasUsers(tx) })
}
