package mail

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// Link is a link in a mail, with a secret, that does something once for an account.
type Link struct {
	Kind    Kind
	Account int64
	Address string // to which it was sent
}

// mostLinks is how many links of one kind to one address of an account hold at one time.
const mostLinks = 3

// maxSecret is longer than any secret.
const maxSecret = 64

// NewLink stores a link, and returns its secret. It is made when the mail is sent, so no queue or backup has it.
func NewLink(tx *db.Tx, l Link, lasts time.Duration) (secret string, err error) {
	secret = rand.Text()
	return secret, insertLink(tx, &l, digest(secret), lasts)
}

// FindLink returns a link that holds. Error: 404.
func FindLink(tx *db.Tx, kind Kind, secret string) (*Link, error) {
	if len(secret) > maxSecret {
		return nil, errs.Absent()
	}
	l, err := findLink(tx, kind, digest(secret))
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return l, err
}

// EndLinks ends the links of a kind that an account has, those to one address or, if that is empty, all.
func EndLinks(tx *db.Tx, kind Kind, account int64, address string) error {
	return tx.Run(`DELETE FROM mail_links WHERE account_id = $1 AND kind = $2 AND ($3 = '' OR address = $3)`,
		account, string(kind), address)
}

func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Limit counts what somebody asks for, and refuses it beyond a number within a time. Error: 429.
func Limit(tx *db.Tx, name string, most int64, within time.Duration) error {
	n, err := count(tx, name, within)
	if err == nil && n > most {
		err = errs.New(errs.TooManyRequests, "This was asked for too often. Try again later.")
	}
	return err
}

// OfAddress is the name under which an address is counted: strangers' addresses are not kept.
func OfAddress(what, address string) string { return what + " " + hex.EncodeToString(digest(address)) }
