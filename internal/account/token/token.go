// Package token finds who calls: from a token, a session or an SSH key to an [account.Caller]. It creates and
// revokes tokens.
//
//   - auth.go, credentials.go: from an Authorization header to a Caller (decisions 10, 11), and last uses
//   - token.go, storetoken.go: tokens and their life, of table tokens; owntoken.go: a user's own ones in a browser
//   - installation.go: tokens of installations of GitHub Apps
//   - oauth.go, storeoauth.go: tokens of OAuth Apps, and what users allowed these, of table oauth_grants; the web
//     flow is in package oauth
//   - device.go, storedevice.go: tokens by OAuth's device flow, of tables device_requests and device_misses
//
// Tokens are stored only as SHA-256 digests, and never appear in logs or errors. What a token takes from its
// account's rights is in account ([account.Grant]); sessions are rows of the same table (package session).
package token

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// Prefix begins every token, so that scanners of leaked secrets know it.
const Prefix = "arb_"

// tokenRandom is how many base32 digits follow: 200 random bits, and the
// hint reveals 20 of them (decision 11 wants 160).
const (
	tokenRandom = 40
	hintLength  = len(Prefix) + 4
)

// maxExpiry is the longest life that a token may be given.
const maxExpiry = 100 * 365 * 24 * time.Hour

// NewSecret returns a new random text with a prefix: the value of a token or a session.
func NewSecret(prefix string) string { return prefix + (rand.Text() + rand.Text())[:tokenRandom] }

// NewToken holds the fields of a new token.
type NewToken struct {
	Login   string        // of a user
	Note    string        // its purpose; may be empty
	Expires time.Duration // from now; zero: never
	Scopes  scope.Set     // of a classic token

	// Repos, if set, creates a fine-grained token, without scopes: the ids of the repositories that it
	// sees, if its account does, and with Changes may change.
	Repos   []int64
	Changes bool

	// Value is the token itself, for seeds of tests; empty: a random one.
	Value string

	By *account.Caller // who creates it; nil: the operator
}

// Token describes a token without its secret.
type Token struct {
	ID         int64
	Login      string
	Hint       string // how it begins
	Note       string
	CreatedAt  db.Time
	ExpiresAt  db.Time // zero: never
	LastUsedAt db.Time // zero: never; up to half a minute late
	RevokedAt  db.Time // zero: it is not
	Grant      *account.Grant
	Repos      []string // OWNER/NAME of a fine-grained token's repositories
	RepoIDs    []int64  // their ids, where the names are not read
}

// May says in a few words what the token may do.
func (t *Token) May() string {
	switch {
	case t.Grant.ByApp():
		return "what its GitHub App may"
	case t.Grant.Fine && t.Grant.Changes:
		return "write " + strings.Join(t.Repos, ", ")
	case t.Grant.Fine:
		return "read " + strings.Join(t.Repos, ", ")
	case !t.Grant.Limited():
		return "everything"
	case t.Grant.Scopes == 0:
		return "read what is public"
	default:
		return t.Grant.Scopes.String()
	}
}

// maxChosen is how many repositories one fine-grained token may be made for.
const maxChosen = 500

// permission is how a token's kind is stored.
func (n *NewToken) permission() int64 {
	switch {
	case n.Repos == nil:
		return account.Classic
	case n.Changes:
		return account.FineWrite
	default:
		return account.FineRead
	}
}

// check validates a new token. Errors: 422.
func (n *NewToken) check() error {
	switch {
	case n.Expires < 0 || n.Expires > maxExpiry:
		return errs.New(errs.Invalid, "a token expires within 100 years, and not in the past")
	case n.Repos != nil && n.Scopes != 0:
		return errs.New(errs.Invalid, "a token has scopes or repositories, not both")
	case n.Repos == nil && n.Changes:
		return errs.New(errs.Invalid, "a permission goes with repositories: name some")
	case len(n.Repos) > maxChosen:
		return errs.Newf(errs.Invalid, "a token is for %d repositories at most", maxChosen)
	}
	return account.CheckLine("note", n.Note)
}

// CreateToken creates a token for a user and returns it: this is the only time
// that anyone sees it (decision 11). Errors: 404 when the user does not exist, 422
// for an organization, for an impossible note or expiry, and for a given value
// that is not a token or is taken.
func (s *Service) CreateToken(ctx context.Context, n NewToken) (token string, id int64, err error) {
	if err := n.check(); err != nil {
		return "", 0, err
	}
	token = n.Value
	if token == "" {
		token = NewSecret(Prefix)
	} else if err := CheckToken(token); err != nil {
		return "", 0, err
	}
	err = s.db.WriteAs(ctx, n.By, func(tx *db.Tx) error {
		a, err := account.Holder(tx, n.Login)
		if err != nil {
			return err
		}
		var expires db.Time
		if n.Expires > 0 {
			expires = tx.Now + db.Time(n.Expires.Microseconds())
		}
		if n.Value != "" {
			taken, err := tokenTaken(tx, Digest(token))
			if err != nil {
				return err
			}
			if taken {
				return errs.New(errs.Invalid, "the token is taken")
			}
		}
		if id, err = insertToken(tx, a.ID, Digest(token), hintOf(token), &n, expires); err != nil {
			return err
		}
		return account.Record(tx, audit.TokenCreate, a, "", n.told(id, expires))
	})
	if err != nil {
		return "", 0, err
	}
	return token, id, nil
}

// told returns the data of a new token for the audit log.
func (n *NewToken) told(id int64, expires db.Time) map[string]any {
	told := map[string]any{"token_id": id}
	switch {
	case n.Repos != nil:
		told["repository_ids"], told["write"] = n.Repos, n.Changes
	case n.Scopes == scope.All:
		told["scopes"] = "everything"
	default:
		told["scopes"] = n.Scopes.String()
	}
	if !expires.IsZero() {
		told["expires_at"] = expires
	}
	return told
}

// minToken is the length of the shortest token that can be given.
const minToken = len(Prefix) + 4

// CheckToken reports why a text cannot be the value of a token. The error, 422,
// does not repeat it.
func CheckToken(token string) error {
	if len(token) < minToken || !strings.HasPrefix(token, Prefix) || !WellFormed(token) {
		return errs.Newf(errs.Invalid, "a token is %q and from %d to %d letters, digits or underscores",
			Prefix, minToken-len(Prefix), maxToken-len(Prefix))
	}
	return nil
}

// hintOf is how a token is recognized in lists: never more than its half, since
// a token that was given may be short.
func hintOf(token string) string { return token[:min(hintLength, len(token)/2)] }

// Tokens lists a user's tokens, or with an empty login those of all, in the order in which
// they were made, also the revoked ones. Errors: 404, 422 as for CreateToken.
func (s *Service) Tokens(ctx context.Context, login string) (list []Token, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		var of account.ID
		if login != "" {
			a, err := account.Holder(tx, login)
			if err != nil {
				return err
			}
			of = a.ID
		}
		if list, err = tokensOf(tx, of); err != nil {
			return err
		}
		return nameRepos(tx, of, list)
	})
	return list, err
}

// RevokeToken ends a token, given by its id or as the token: the next request with
// it fails, whichever process serves it. Revoking twice changes nothing.
// Errors: 404 when the token does not exist.
func (s *Service) RevokeToken(ctx context.Context, idOrToken string) error {
	id, err := strconv.ParseInt(idOrToken, 10, 64)
	byID := err == nil
	return s.db.Write(ctx, func(tx *db.Tx) error {
		var of *account.Account
		var err error
		if byID {
			id, of, err = revokeByID(tx, id)
		} else {
			id, of, err = revokeByDigest(tx, Digest(idOrToken))
		}
		if errs.Is(err, errs.NotFound) {
			// The text may be a token that was mistyped: it is not repeated.
			return errs.New(errs.NotFound, "token not found")
		}
		if err != nil {
			return err
		}
		return account.Record(tx, audit.TokenDestroy, of, "", map[string]any{"token_id": id})
	})
}

// CallerNamed is a user as a caller of this process, without a token. Errors: 404, 422 as for
// CreateToken.
func (s *Service) CallerNamed(ctx context.Context, login string) (c *account.Caller, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := account.Holder(tx, login)
		if err == nil {
			c = &account.Caller{ID: a.ID, Login: a.Login, SiteAdmin: a.SiteAdmin}
		}
		return err
	})
	return c, err
}

// ParseExpiry reads how long a token lives from now on: a whole number and one of the units
// w, d, h, m, s, such as 90d; or until a day of UTC begins, such as 2027-01-31. Empty is
// zero: for ever. Errors: 422.
func ParseExpiry(s string, now time.Time) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		if !day.After(now) || day.Sub(now) > maxExpiry {
			return 0, errs.Newf(errs.Invalid, "the expiry %q is past, or more than 100 years ahead", s)
		}
		return day.Sub(now), nil
	}
	units := map[byte]time.Duration{
		'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second,
	}
	unit, known := units[s[len(s)-1]]
	digits := s[:len(s)-1]
	if !known || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, errs.Newf(errs.Invalid, "invalid expiry %q: write it as 90d, 12h, 30s or 2027-01-31", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n == 0 || n > int64(maxExpiry/unit) {
		return 0, errs.Newf(errs.Invalid, "the expiry %q is not between 1s and %s", s,
			fmt.Sprintf("%dd", int64(maxExpiry.Hours()/24)))
	}
	return time.Duration(n) * unit, nil
}
