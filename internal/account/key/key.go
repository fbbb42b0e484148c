// Package key has the public SSH keys of users, and the deploy keys of repositories.
//
//   - key.go: keys and the right to add them; parse.go: the text that people paste
//   - store.go: the SQL, of table ssh_keys
//   - api.go: /user/keys, /users/{username}/keys, /{username}.keys, /admin/keys
//
// Who signs in with a key, package token finds.
package key

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Service adds and removes keys. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *account.Service
}

// New returns the service.
func New(d *db.DB, accounts *account.Service) *Service { return &Service{db: d, accounts: accounts} }

// Owner is whose a key is: a user's, or as a deploy key a repository's. One of both is 0.
type Owner struct {
	Account account.ID
	Repo    int64
}

// Key is a public SSH key that may sign in.
type Key struct {
	ID         int64
	Owner      Owner
	AddedBy    account.ID // the account of a deploy key; of a user's key the user
	AddedLogin string     // its login
	Title      string
	PublicKey  string // type and base64
	// Fingerprint is how people compare keys: "SHA256:...".
	Fingerprint string
	ReadOnly    bool // a deploy key that does not push
	CreatedAt   db.Time
	LastUsedAt  db.Time // zero: never; up to an hour late
}

const resource = "PublicKey"

// NewKey holds the fields of a new key. An empty Title means the key's comment.
type NewKey struct {
	Owner    Owner
	AddedBy  account.ID
	Title    string
	Text     string // as a person pasted it
	ReadOnly bool
}

// Max is how many keys a user or a repository may have.
const Max = 100

// Read reads the body of a request for a new key: title and key. Errors: 400, 422.
func Read(o *web.Object) NewKey {
	o.Require("key")
	return NewKey{Title: o.String("title", account.MaxLine).Or(""), Text: o.String("key", 0).Or("")}
}

// Check is the 422 for fields that are missing or too long, or nil.
func (n *NewKey) Check() error {
	f := web.Faults{Resource: resource}
	if n.Text == "" {
		f.Wrong("key", errs.MissingField, "")
	}
	f.CheckText("title", n.Title, account.MaxLine)
	f.CheckText("key", n.Text, 0)
	return f.Err()
}

// Add adds a key, within the transaction of a change that the caller may make. Errors: 422 for
// an invalid or weak key, for one that somebody has, and past Max.
func Add(tx *db.Tx, n NewKey) (*Key, error) {
	parsed, err := Parse(n.Text)
	if err != nil {
		return nil, keyError("key", err.Error())
	}
	if n.Title == "" && utf8.ValidString(parsed.Comment) && !account.HasControl(parsed.Comment) {
		n.Title = shorten(parsed.Comment)
	}
	if err := account.CheckLine("title", n.Title); err != nil {
		return nil, keyError("title", err.Error())
	}
	n.Text = parsed.Text
	held, err := countKeys(tx, n.Owner)
	if err != nil {
		return nil, err
	}
	if held >= Max {
		return nil, keyError("key", "there are "+strconv.Itoa(Max)+" keys already, which is the most")
	}
	k, err := insertKey(tx, &n, parsed.Fingerprint)
	if errs.Is(err, errs.Conflict) {
		return nil, keyError("key", "key is already in use")
	}
	return k, err
}

// shorten cuts a comment to the length of a title.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > account.MaxLine {
		return string(runes[:account.MaxLine])
	}
	return s
}

func keyError(field, message string) error {
	return errs.Validation(errs.Field{Resource: resource, Field: field, Code: errs.Custom,
		Message: message})
}

// AddUserKey adds a key of a user, for the operator. Errors: 404 and 422 for the user, 422 as of Add.
func (s *Service) AddUserKey(ctx context.Context, login string, n NewKey) (*Key, error) {
	return s.addKey(ctx, nil, login, n)
}

func (s *Service) addKey(ctx context.Context, by *account.Caller, login string, n NewKey) (k *Key, err error) {
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		a, err := holder(tx, login)
		if err != nil {
			return err
		}
		if err := account.HoldID(tx, a.ID); err != nil {
			return err
		}
		n := n
		n.Owner, n.AddedBy, n.ReadOnly = Owner{Account: a.ID}, a.ID, false
		k, err = Add(tx, n)
		return err
	})
	return k, err
}

// holder returns the user who owns a key.
func holder(tx *db.Tx, login string) (*account.Account, error) {
	a, err := account.ByLogin(tx, login)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user %q not found", login)
	}
	if err == nil && a.Kind != account.User {
		return nil, errs.Newf(errs.Invalid, "%q is an organization: only users have keys", a.Login)
	}
	return a, err
}

// UserKeys lists the keys of a user, the first that was added first. Errors: 404, 422.
func (s *Service) UserKeys(ctx context.Context, login string) (list []Key, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := holder(tx, login)
		if err == nil {
			list, err = List(tx, Owner{Account: a.ID})
		}
		return err
	})
	return list, err
}

// PublicKeys lists the keys of an account, which everybody may know: none of an organization, and none while it is
// suspended. Error: 404.
func (s *Service) PublicKeys(ctx context.Context, login string) (list []Key, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, err := account.ByLogin(tx, login)
		if err == nil && of.SuspendedAt == 0 {
			list, err = List(tx, Owner{Account: of.ID})
		}
		return err
	})
	return list, err
}

// AddOwnKey is AddUserKey of the caller. Error: 422 as of Check and Add.
func (s *Service) AddOwnKey(ctx context.Context, caller *account.Caller, n NewKey) (*Key, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	return s.addKey(ctx, caller, caller.Login, n)
}

// RemoveOwnKey ends a key of the caller's, at once. Error: 404.
func (s *Service) RemoveOwnKey(ctx context.Context, caller *account.Caller, id int64) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return Delete(tx, Owner{Account: caller.ID}, id) })
}

// RemoveUserKey ends a key of a user, with the next request that it would make. Errors: 404, 422.
func (s *Service) RemoveUserKey(ctx context.Context, login string, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := holder(tx, login)
		if err == nil {
			err = Delete(tx, Owner{Account: a.ID}, id)
		}
		if errs.Is(err, errs.NotFound) && a != nil {
			return errs.Newf(errs.NotFound, "%q has no key %d", a.Login, id)
		}
		return err
	})
}

// ParseIDs reads ids between commas. Error: 404.
func ParseIDs(text string) ([]int64, error) {
	var ids []int64
	for word := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil || id <= 0 || len(ids) == Max {
			return nil, errs.Absent()
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// OfMany lists the keys of users, or else of repositories, by the owners' ids, with one statement.
func (s *Service) OfMany(ctx context.Context, repos bool, owners []int64) (map[int64][]Key, error) {
	found := map[int64][]Key{}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		clear(found)
		list, err := ofMany(tx, repos, owners)
		for _, k := range list {
			owner := int64(k.Owner.Account)
			if repos {
				owner = k.Owner.Repo
			}
			found[owner] = append(found[owner], k)
		}
		return err
	})
	return found, err
}
