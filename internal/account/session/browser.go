package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
)

// BrowserCookie is the name of the cookie that shows that an account has signed in with the browser before.
// It grants nothing; it only exempts the browser from delays caused by strangers who guess passwords.
const BrowserCookie = "arbor_browser"

// BrowserAge is how long that cookie is good for.
const BrowserAge = 180 * 24 * time.Hour

// The cookie's value is a random name of the browser, its expiry, and a MAC of both and the account. The
// key is the stored password hash: its salt is secret, so others cannot create one, and a new password
// invalidates all. Of an account without a password it is the secret of its identity at a directory.
const (
	browserName = 16 // bytes
	browserTime = 8
	browserSize = browserName + browserTime + sha256.Size
)

func browserMAC(kept string, of account.ID, nameAndTime []byte) []byte {
	mac := hmac.New(sha256.New, []byte(kept))
	mac.Write([]byte("arbor browser\x00"))
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(of)))
	mac.Write(nameAndTime)
	return mac.Sum(nil)
}

// newBrowser returns the cookie's value.
func newBrowser(kept string, of account.ID, now db.Time) string {
	value := make([]byte, browserName, browserSize)
	rand.Read(value)
	value = binary.BigEndian.AppendUint64(value, uint64(now+db.Time(BrowserAge.Microseconds())))
	return base64.RawURLEncoding.EncodeToString(append(value, browserMAC(kept, of, value)...))
}

// knownBrowser returns the name of the browser if its cookie is valid for the account, else "".
func knownBrowser(cookie, kept string, of account.ID, now db.Time) string {
	value, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(value) != browserSize {
		return ""
	}
	signed, mac := value[:browserName+browserTime], value[browserName+browserTime:]
	ends := db.Time(binary.BigEndian.Uint64(signed[browserName:]))
	if !hmac.Equal(mac, browserMAC(kept, of, signed)) || now >= ends {
		return ""
	}
	return "browser " + base64.RawURLEncoding.EncodeToString(signed[:browserName])
}

// KnownBrowser returns the value of [BrowserCookie] for a browser that has just signed in, or "" if the
// account has no password, neither here nor at a directory.
func (s *Service) KnownBrowser(ctx context.Context, login string) (value string, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, _, key, err := passwordAndKey(tx, login)
		if err == nil && key != "" {
			value = newBrowser(key, of, s.now())
		}
		return err
	})
	return value, err
}

// newAccount is the age up to which an account gets no notice of sign-ins from new places: its first sign-in is one.
const newAccount = time.Hour

// isNewPlace reports whether a user signs in from a browser and a network that the account does not know: by neither a
// cookie nor a session, also one that has ended and whose row is still there.
func (s *Service) isNewPlace(tx *db.Tx, a *account.Account, from Origin) (bool, error) {
	if !from.Address.IsValid() || tx.Now-a.CreatedAt < db.Time(newAccount.Microseconds()) {
		return false, nil
	}
	key, addresses, err := placesOf(tx, a.ID)
	if err != nil || key != "" && knownBrowser(from.Browser, key, a.ID, s.now()) != "" {
		return false, err
	}
	for _, text := range addresses {
		address, err := netip.ParseAddr(text)
		if err == nil && admission.NetworkOf(address) == admission.NetworkOf(from.Address) {
			return false, nil
		}
	}
	return true, nil
}

// knock reads a user's stored password hash, or "" if there is none, and determines the place of the
// attempt. It does the same for an unknown account.
func (s *Service) knock(ctx context.Context, login string, from Origin) (kept string, at source, err error) {
	at = placeOf(from)
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, found, key, err := passwordAndKey(tx, login)
		if err != nil {
			return err
		}
		kept = found
		addresses, err := sessionAddresses(tx, of)
		for _, text := range addresses {
			address, err := netip.ParseAddr(text)
			if err == nil && from.Address.IsValid() && admission.NetworkOf(address) == at.network {
				at.trusted = true
			}
		}
		held := key
		if held == "" {
			held = noPassword
		}
		if at.known = knownBrowser(from.Browser, held, of, s.now()); held == noPassword {
			at.known = ""
		}
		return err
	})
	return kept, at, err
}
