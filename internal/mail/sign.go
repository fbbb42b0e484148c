package mail

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"

	"arbor/internal/db"
)

// Signed is what an address in a mail names, with a signature: whose mail it was, and what it was about. It needs no row,
// and does what it does as often as it is used.
type Signed struct {
	Account int64
	Kind    byte
	ID      int64

	mac []byte
}

// macSize is that of a signature in bytes: nobody finds one by trying.
const macSize = 15

// tokens are letters and digits in lower case, since mail servers may change it.
var tokens = base32.StdEncoding.WithPadding(base32.NoPadding)

func (s *Signed) data() []byte {
	b := binary.AppendUvarint([]byte{s.Kind}, uint64(s.Account))
	return binary.AppendUvarint(b, uint64(s.ID))
}

func (s *Signed) sum(key []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("arbor mail " + purpose + "\x00"))
	mac.Write(s.data())
	return mac.Sum(nil)[:macSize]
}

// Sign returns the text of an address for a purpose.
func (s *Signed) Sign(key []byte, purpose string) string {
	return strings.ToLower(tokens.EncodeToString(append(s.data(), s.sum(key, purpose)...)))
}

// Is reports whether the signature is for the purpose.
func (s *Signed) Is(key []byte, purpose string) bool { return hmac.Equal(s.mac, s.sum(key, purpose)) }

// ReadSigned reads what [Signed.Sign] returns; the signature is not checked yet.
func ReadSigned(text string) (*Signed, bool) {
	if len(text) > maxSecret {
		return nil, false
	}
	b, err := tokens.DecodeString(strings.ToUpper(text))
	if err != nil || len(b) < 3+macSize {
		return nil, false
	}
	s := &Signed{Kind: b[0], mac: b[len(b)-macSize:]}
	rest := b[1 : len(b)-macSize]
	account, n := binary.Uvarint(rest)
	if n <= 0 {
		return nil, false
	}
	id, m := binary.Uvarint(rest[n:])
	if m <= 0 || n+m != len(rest) {
		return nil, false
	}
	s.Account, s.ID = int64(account), int64(id)
	return s, true
}

// Key returns the key that signs addresses in the mails of this database. The first call makes it.
func Key(ctx context.Context, d *db.DB) (key []byte, err error) {
	find := func(tx *db.Tx) (err error) {
		key, err = signingKey(tx)
		return err
	}
	if err = d.Read(ctx, find); err != nil || key != nil {
		return key, err
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		made := make([]byte, sha256.Size)
		rand.Read(made)
		if err := putSigningKey(tx, made); err != nil {
			return err
		}
		return find(tx)
	})
	return key, err
}
