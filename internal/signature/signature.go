// Package signature verifies the signatures of commits and annotated tags, and signs commits that the server makes.
//
//   - signature.go: what a verification says, with GitHub's reasons
//   - parse.go: the text of a signature, which anybody can write into an object
//   - verify.go: many signatures at once, with a fixed number of statements
//   - serverkey.go: the server's own OpenPGP key, kept in the data folder; api.go publishes it at /web-flow.gpg
//
// A verification is a function of the object, the keys of accounts, their verified addresses and the time. The first
// never changes, and each change of the others raises the generation of the accounts: answers are kept under that, and
// no verification is stored. Keys that end with time are in Turn, which such answers also have in their state.
//
// The expensive part, one operation with a public key, depends on the object and the key alone, and its result is
// kept in memory. A signature is checked with the bytes of the key before a reason tells anything about accounts: so
// only the owner of a key learns what depends on whose key it is.
package signature

import (
	"crypto/sha256"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/signkey"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/git"
)

// Reason says why a signature is verified or is not, in GitHub's words.
type Reason string

// Reasons. A revoked key counts as expired, since GitHub has no word for it.
const (
	Valid           Reason = "valid"
	Unsigned        Reason = "unsigned"
	UnknownType     Reason = "unknown_signature_type" // neither OpenPGP nor SSH
	Malformed       Reason = "malformed_signature"
	UnknownKey      Reason = "unknown_key"      // nobody has added it
	Invalid         Reason = "invalid"          // of other bytes, or not to be trusted
	NotSigningKey   Reason = "not_signing_key"  // its owner did not make it for signing
	ExpiredKey      Reason = "expired_key"      // or revoked
	NoUser          Reason = "no_user"          // the committer's address is nobody's
	UnverifiedEmail Reason = "unverified_email" // the key's owner claims the address, which is not verified
	BadEmail        Reason = "bad_email"        // the address is another account's, or of no identity of the key
)

// Signed is an object that may have a signature.
type Signed struct {
	Object    git.SHA
	Signature string // in ASCII armor; empty without one
	Payload   string // the bytes that were signed
	Email     string // of the committer or tagger
	At        time.Time
}

// OfCommit returns what a commit's signature says.
func OfCommit(c *git.Commit) Signed {
	return Signed{c.SHA, c.Signed, c.Payload, c.Committer.Email, c.Committer.When}
}

// OfTag returns what a tag's signature says.
func OfTag(t *git.Tag) Signed {
	s := Signed{Object: t.SHA, Signature: t.Signed, Payload: t.Payload}
	if t.Tagger != nil {
		s.Email, s.At = t.Tagger.Email, t.Tagger.When
	}
	return s
}

// Verification is the result for one object. The zero value is for an object without a signature.
type Verification struct {
	Reason   Reason
	Kind     signkey.Kind
	Handle   string           // of the key that the signature names: a key id, or SHA256:...; empty if it names none
	Signer   *account.Account // whose key it is; nil: nobody's, or the server's
	ByServer bool             // verified by the server's key
	At       db.Time          // since when it counts: the later one of the date and the key; zero unless valid
}

// Valid reports whether the signature is verified.
func (v Verification) Valid() bool { return v.Reason == Valid }

// Service verifies signatures and makes the server's. Safe for concurrent use.
type Service struct {
	db      *db.DB
	dir     string                      // of the server's key
	checked *cache.Cache[checked, bool] // which signatures are of a key
	turns   *cache.Cache[string, signkey.Turn]
	mu      sync.Mutex
	own     *serverKey // once it is read
	silent  bool       // Sign makes no signature
	now     func() time.Time
}

// checked is a signature with a key, neither of which changes.
type checked struct {
	object git.SHA
	key    [sha256.Size]byte // of the public key
}

const maxChecked = 50_000 // about 150 bytes each

// New returns a service whose key is in a folder, where it is created when it is first needed.
func New(d *db.DB, dir string) *Service {
	return &Service{db: d, dir: dir, checked: cache.NewCount[checked, bool](maxChecked),
		turns: cache.NewCount[string, signkey.Turn](1), now: time.Now}
}

// Caches returns statistics of the caches.
func (s *Service) Caches() []cache.Stats { return []cache.Stats{s.checked.Stats("signatures")} }
