package account

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/key"
	"arbor/internal/web"
)

// KeyOwner is whose a key is: a user's, or as a deploy key a repository's. One of both is 0.
type KeyOwner struct {
	Account ID
	Repo    int64
}

// Key is a public SSH key that may sign in.
type Key struct {
	ID         int64
	Owner      KeyOwner
	AddedBy    ID     // the account of a deploy key; of a user's key the user
	AddedLogin string // its login
	Title      string
	PublicKey  string // type and base64
	// Fingerprint is how people compare keys: "SHA256:...".
	Fingerprint string
	ReadOnly    bool // a deploy key that does not push
	CreatedAt   db.Time
	LastUsedAt  db.Time // zero: never; up to an hour late
}

const keyResource = "PublicKey"

// NewKey holds the fields of a new key. An empty Title means the key's comment.
type NewKey struct {
	Owner    KeyOwner
	AddedBy  ID
	Title    string
	Text     string // as a person pasted it
	ReadOnly bool
}

// MaxKeys is how many keys a user or a repository may have.
const MaxKeys = 100

// ReadKey reads the body of a request for a new key: title and key. Errors: 400, 422.
func ReadKey(o *web.Object) NewKey {
	o.Require("key")
	return NewKey{Title: o.String("title", maxLine).Or(""), Text: o.String("key", 0).Or("")}
}

// Check is the 422 for fields that are missing or too long, or nil.
func (n *NewKey) Check() error {
	f := web.Faults{Resource: keyResource}
	if n.Text == "" {
		f.Wrong("key", errs.MissingField, "")
	}
	f.CheckText("title", n.Title, maxLine)
	f.CheckText("key", n.Text, 0)
	return f.Err()
}

// AddKey adds a key, within the transaction of a change that the caller may make. Errors: 422 for
// an invalid or weak key, for one that somebody has, and past MaxKeys.
func AddKey(tx *db.Tx, n NewKey) (*Key, error) {
	parsed, err := key.Parse(n.Text)
	if err != nil {
		return nil, keyError("key", err.Error())
	}
	if n.Title == "" && utf8.ValidString(parsed.Comment) && !hasControl(parsed.Comment) {
		n.Title = shorten(parsed.Comment)
	}
	if err := checkLine("title", n.Title); err != nil {
		return nil, keyError("title", err.Error())
	}
	n.Text = parsed.Text
	held, err := countKeys(tx, n.Owner)
	if err != nil {
		return nil, err
	}
	if held >= MaxKeys {
		return nil, keyError("key", "there are "+strconv.Itoa(MaxKeys)+" keys already, which is the most")
	}
	k, err := insertKey(tx, &n, parsed.Fingerprint)
	if errs.Is(err, errs.Conflict) {
		return nil, keyError("key", "key is already in use")
	}
	return k, err
}

// shorten cuts a comment to the length of a title.
func shorten(s string) string {
	if runes := []rune(s); len(runes) > maxLine {
		return string(runes[:maxLine])
	}
	return s
}

func keyError(field, message string) error {
	return errs.Validation(errs.Field{Resource: keyResource, Field: field, Code: errs.Custom,
		Message: message})
}

// AddUserKey adds a key of a user. Errors: 404 and 422 for the user, 422 as of AddKey.
func (s *Service) AddUserKey(ctx context.Context, login string, n NewKey) (k *Key, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := keyHolder(tx, login)
		if err != nil {
			return err
		}
		if err := lockAccount(tx, a.ID); err != nil {
			return err
		}
		n := n
		n.Owner, n.AddedBy, n.ReadOnly = KeyOwner{Account: a.ID}, a.ID, false
		k, err = AddKey(tx, n)
		return err
	})
	return k, err
}

// keyHolder returns the user who owns a key.
func keyHolder(tx *db.Tx, login string) (*Account, error) {
	a, err := ByLogin(tx, login)
	if errs.Is(err, errs.NotFound) {
		return nil, errs.Newf(errs.NotFound, "user %q not found", login)
	}
	if err == nil && a.Kind != User {
		return nil, errs.Newf(errs.Invalid, "%q is an organization: only users have keys", a.Login)
	}
	return a, err
}

// UserKeys lists the keys of a user, the first that was added first. Errors: 404, 422.
func (s *Service) UserKeys(ctx context.Context, login string) (list []Key, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := keyHolder(tx, login)
		if err == nil {
			list, err = KeysOf(tx, KeyOwner{Account: a.ID})
		}
		return err
	})
	return list, err
}

// PublicKeys lists the keys of an account, which everybody may know: none of an organization, and none while it is
// suspended. Error: 404.
func (s *Service) PublicKeys(ctx context.Context, login string) (list []Key, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, err := ByLogin(tx, login)
		if err == nil && of.SuspendedAt == 0 {
			list, err = KeysOf(tx, KeyOwner{Account: of.ID})
		}
		return err
	})
	return list, err
}

// AddOwnKey is AddUserKey of the caller. Error: 422 as of Check and AddKey.
func (s *Service) AddOwnKey(ctx context.Context, caller *Caller, n NewKey) (*Key, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	return s.AddUserKey(ctx, caller.Login, n)
}

// RemoveOwnKey ends a key of the caller's, at once. Error: 404.
func (s *Service) RemoveOwnKey(ctx context.Context, caller *Caller, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error { return DeleteKey(tx, KeyOwner{Account: caller.ID}, id) })
}

// RemoveUserKey ends a key of a user, with the next request that it would make. Errors: 404, 422.
func (s *Service) RemoveUserKey(ctx context.Context, login string, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := keyHolder(tx, login)
		if err == nil {
			err = DeleteKey(tx, KeyOwner{Account: a.ID}, id)
		}
		if errs.Is(err, errs.NotFound) && a != nil {
			return errs.Newf(errs.NotFound, "%q has no key %d", a.Login, id)
		}
		return err
	})
}

// CallerOfKey finds the user who signs in with a key. A user's key may do with git all that an ordinary user may:
// nobody administers the site by it, since it has no scopes. A deploy key reaches its repository
// alone, and acts as who added it. Errors: 401 for a key that nobody has, 403 when the account is
// suspended.
func (s *Service) CallerOfKey(ctx context.Context, fingerprint string) (*Caller, error) {
	generation, err := s.db.Generation(ctx, Topic)
	if err != nil {
		return nil, err
	}
	c, err := s.keys.Read(cache.Generations(generation), fingerprint, func() (c *Caller, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
			c, err = callerOfKey(tx, `k.fingerprint = $1`, fingerprint)
			return err
		})
		return c, err
	})
	if errs.Is(err, errs.NotFound) {
		return nil, badCredentials()
	}
	return c, err
}

// NoteKeyUse records a use of the key.
func (s *Service) NoteKeyUse(c *Caller) { s.keyUses.note(c.KeyID, s.now()) }

// newKeyCaller returns the caller of a key.
func newKeyCaller(k *Key) *Caller {
	c := &Caller{ID: k.AddedBy, Login: k.AddedLogin, KeyID: k.ID}
	if k.Owner.Repo != 0 {
		c.Reach, c.HidesMembers = OneRepo, true
		c.Grant = &Grant{Fine: true, Changes: !k.ReadOnly, chosen: []int64{k.Owner.Repo}}
	}
	return c
}

// ParseKeyIDs reads ids between commas. Error: 404.
func ParseKeyIDs(text string) ([]int64, error) {
	var ids []int64
	for word := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil || id <= 0 || len(ids) == MaxKeys {
			return nil, errs.Absent()
		}
		ids = append(ids, id)
	}
	return ids, nil
}
