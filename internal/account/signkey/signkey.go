// Package signkey has the public keys with which users sign commits and tags: OpenPGP keys, and SSH keys that sign.
//
//   - signkey.go: keys, and what their owners do with them
//   - openpgp.go: OpenPGP keys as people paste them
//   - store.go: the SQL, of table signing_keys
//   - find.go: the keys that signatures name
//   - api.go, apissh.go: /user/gpg_keys, /user/ssh_signing_keys, the same of other users, /{username}.gpg
//
// A key is read once, when it is added: then the library checks which identities and subkeys its owner certified,
// and the rows keep the result. So verifying a signature costs one operation with one public key, however many
// subkeys and identities its owner has (package signature).
//
// Several accounts may have the same key, since anybody can add a key that is public. A signature counts for the
// account of the committer's address alone. Each change of keys increments the generation of the accounts.
package signkey

import (
	"context"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Service adds and removes keys. Safe for concurrent use.
type Service struct {
	db *db.DB

	// OnAdded is called in the transaction that adds a key: commits of the account may be verified now. nil: nothing
	// follows. Set before the service is used.
	OnAdded func(tx *db.Tx, who account.ID) error
}

// New returns the service.
func New(d *db.DB) *Service { return &Service{db: d} }

// ID is the id of a key or a subkey.
type ID int64

// Kind is the form of a key.
type Kind int64

// Kinds of keys.
const (
	OpenPGP Kind = 1
	SSH     Kind = 2
)

// Capability is a set of what an OpenPGP key may be used for. An SSH key signs.
type Capability int64

// Capabilities.
const (
	Sign Capability = 1 << iota
	EncryptMessages
	EncryptStorage
	Certify
)

// Key is a public key that signs, or a subkey of an OpenPGP key.
type Key struct {
	ID        ID
	Account   account.ID
	Kind      Kind
	PrimaryID ID     // of a subkey; else 0
	Handle    string // what signatures name: a key id in 16 hexadecimal digits, or SHA256:...
	Name      string
	PublicKey string   // the packet in base64; of SSH type and base64
	Armor     string   // the whole OpenPGP key without other people's signatures; empty in subkeys
	Emails    []string // folded, of the identities that the owner certified; none of SSH
	Can       Capability
	Revoked   bool
	MadeAt    db.Time // by its owner
	ExpiresAt db.Time // zero: never
	CreatedAt db.Time // when it was added
	Subkeys   []Key   // of an OpenPGP key that List or Get returns
}

// Keys are keys of an account, with those of their addresses that make a commit the account's.
type Keys struct {
	List     []Key
	Verified map[string]bool
}

// Max is the number of keys of each kind that a user may have.
const Max = 50

// maxSSH bounds the text of an SSH key, in bytes: RSA with 8192 bits takes 1,404.
const maxSSH = 1500

// NewKey holds the fields of a new key.
type NewKey struct {
	Kind Kind
	Name string // empty: the comment of an SSH key
	Text string // as a person pasted it
}

// KindOf returns the kind of a key by its text.
func KindOf(text string) Kind {
	if strings.Contains(text, "-----BEGIN PGP ") {
		return OpenPGP
	}
	return SSH
}

// Check returns the handle of a key, or why it cannot be added. Error: 422.
func (n NewKey) Check() (handle string, err error) {
	list, err := n.read()
	if err != nil {
		return "", err
	}
	return list[0].Handle, nil
}

func (k Kind) resource() string {
	if k == SSH {
		return "SshSigningKey"
	}
	return "GpgKey"
}

// field is the name of the text in requests.
func (k Kind) field() string {
	if k == SSH {
		return "key"
	}
	return "armored_public_key"
}

// nameField is the name of the name in requests.
func (k Kind) nameField() string {
	if k == SSH {
		return "title"
	}
	return "name"
}

// actions of the audit log.
func (k Kind) created() audit.Action {
	if k == SSH {
		return audit.SigningKeyCreate
	}
	return audit.GPGKeyCreate
}

func (k Kind) deleted() audit.Action {
	if k == SSH {
		return audit.SigningKeyDelete
	}
	return audit.GPGKeyDelete
}

func (k Kind) wrong(field, message string) error {
	return errs.Validation(errs.Field{Resource: k.resource(), Field: field, Code: errs.Custom, Message: message})
}

// Add adds a key of the caller's. Errors: 422 for an invalid or weak key, for one that the caller has, and past Max.
func (s *Service) Add(ctx context.Context, caller *account.Caller, n NewKey) (keys *Keys, err error) {
	f := web.Faults{Resource: n.Kind.resource()}
	if n.Text == "" {
		f.Wrong(n.Kind.field(), errs.MissingField, "")
	}
	f.CheckText(n.Kind.nameField(), n.Name, account.MaxLine)
	if err := f.Err(); err != nil {
		return nil, err
	}
	list, err := n.read()
	if err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		held, err := count(tx, caller.ID, n.Kind)
		if err != nil {
			return err
		}
		if held >= Max {
			return n.Kind.wrong(n.Kind.field(), "there are "+strconv.Itoa(Max)+" keys already, which is the most")
		}
		k, err := insert(tx, caller, list)
		if err == nil {
			keys, err = withEmails(tx, caller.ID, []Key{*k})
		}
		if err == nil && s.OnAdded != nil {
			err = s.OnAdded(tx, caller.ID)
		}
		return err
	})
	return keys, err
}

// read returns the key and its subkeys. It needs no database, since it may take some milliseconds.
func (n NewKey) read() ([]Key, error) {
	if n.Kind == OpenPGP {
		list, err := readOpenPGP(n.Text)
		if err != nil {
			return nil, n.Kind.wrong(n.Kind.field(), err.Error())
		}
		list[0].Name = n.Name
		return list, n.checkName(n.Name)
	}
	parsed, err := key.Parse(n.Text)
	if err != nil {
		return nil, n.Kind.wrong(n.Kind.field(), err.Error())
	}
	if len(parsed.Text) > maxSSH {
		return nil, n.Kind.wrong(n.Kind.field(), "key is too long. RSA keys that sign have 8192 bits at most")
	}
	if n.Name == "" && len(parsed.Comment) <= account.MaxLine && account.CheckLine("title", parsed.Comment) == nil {
		n.Name = parsed.Comment
	}
	return []Key{{Kind: SSH, Handle: parsed.Fingerprint, Name: n.Name, PublicKey: parsed.Text, Can: Sign}},
		n.checkName(n.Name)
}

func (n NewKey) checkName(name string) error {
	if err := account.CheckLine(n.Kind.nameField(), name); err != nil {
		return n.Kind.wrong(n.Kind.nameField(), err.Error())
	}
	return nil
}

// Own lists the caller's keys of a kind, the first that was added first.
func (s *Service) Own(ctx context.Context, caller *account.Caller, kind Kind) (*Keys, error) {
	return s.Public(ctx, caller.Login, kind)
}

// OwnKey returns a key of the caller's. Error: 404.
func (s *Service) OwnKey(ctx context.Context, caller *account.Caller, kind Kind, id ID) (keys *Keys, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		k, err := Get(tx, caller.ID, kind, id)
		if err == nil {
			keys, err = withEmails(tx, caller.ID, []Key{*k})
		}
		return err
	})
	return keys, err
}

// Public lists the keys of an account, which everybody may know. An organization has none; a suspended account keeps
// its keys, since what it signed stays signed. Error: 404.
func (s *Service) Public(ctx context.Context, login string, kind Kind) (keys *Keys, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		list, err := List(tx, of.ID, kind)
		if err == nil {
			keys, err = withEmails(tx, of.ID, list)
		}
		return err
	})
	return keys, err
}

// withEmails finds the verified addresses of keys. SSH keys have none.
func withEmails(tx *db.Tx, id account.ID, list []Key) (*Keys, error) {
	keys := &Keys{List: list, Verified: map[string]bool{}}
	if len(list) == 0 || list[0].Kind == SSH {
		return keys, nil
	}
	of, err := account.ByID(tx, id)
	if err != nil {
		return nil, err
	}
	emails, err := account.CommitEmails(tx, of)
	for _, address := range emails {
		keys.Verified[account.Fold(address)] = true
	}
	return keys, err
}

// Remove deletes a key of the caller with its subkeys. Commits and tags that they signed immediately become unverified.
// Error: 404.
func (s *Service) Remove(ctx context.Context, caller *account.Caller, kind Kind, id ID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return remove(tx, caller, kind, id) })
}

// Armored returns OpenPGP keys one after the other, as a file that gpg imports.
func Armored(list []Key) string {
	var b strings.Builder
	for _, k := range list {
		b.WriteString(k.Armor)
	}
	return b.String()
}
