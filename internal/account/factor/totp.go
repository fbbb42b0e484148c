package factor

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"image/png"
	"strings"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Codes are those that all apps know: RFC 6238 with SHA-1, six digits and 30 seconds.
const (
	totpDigits = 6
	totpPeriod = 30 // seconds
	totpSkew   = 1  // steps that a clock may be off, either way
	secretSize = 20 // bytes
	qrSize     = 240
)

var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret is the secret of a new app, in the letters that people type.
func NewSecret() string {
	secret := make([]byte, secretSize)
	rand.Read(secret)
	return base32Plain.EncodeToString(secret)
}

// CheckSecret returns a 422 for what NewSecret cannot have returned.
func CheckSecret(text string) error {
	_, err := parseSecret(text)
	return err
}

// parseSecret reads what NewSecret returned. Error: 422.
func parseSecret(text string) ([]byte, error) {
	secret, err := base32Plain.DecodeString(strings.ToUpper(strings.ReplaceAll(text, " ", "")))
	if err != nil || len(secret) != secretSize {
		return nil, errs.New(errs.Invalid,
			"This is not the secret of an authenticator app, 32 letters and digits. Start over.")
	}
	return secret, nil
}

// QRCode is an address of a picture (data:image/png) that an app scans to get a secret. issuer is the site's host.
// Error: 422 for a secret that is none.
func QRCode(issuer, login, text string) (string, error) {
	secret, err := parseSecret(text)
	if err != nil {
		return "", err
	}
	key, err := totp.Generate(totp.GenerateOpts{Issuer: issuer, AccountName: login, Secret: secret,
		Period: totpPeriod, Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "", err
	}
	picture, err := key.Image(qrSize, qrSize)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return "", err
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// stepOf returns the time step of a code after the last one that was used; ok is false if it is a code of none.
func stepOf(secret []byte, code string, last int64, now db.Time) (step int64, ok bool) {
	current := int64(now) / 1e6 / totpPeriod
	for step := max(current-totpSkew, last+1); step <= current+totpSkew; step++ {
		want, err := hotp.GenerateCodeCustom(base32Plain.EncodeToString(secret), uint64(step),
			hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, true
		}
	}
	return 0, false
}

// SeedTOTP adds an authenticator app to an account without verifying a code. Seeds use it. Error: 422.
func SeedTOTP(tx *db.Tx, of account.ID, text string) error {
	secret, err := parseSecret(text)
	if err != nil {
		return err
	}
	return storeTOTP(tx, of, secret, 0)
}

// AddTOTP replaces the authenticator app of an account, if the code is one of the new app's. The code counts as used.
// Error: 422.
func AddTOTP(tx *db.Tx, of account.ID, text, code string) error {
	secret, err := parseSecret(text)
	if err != nil {
		return err
	}
	step, ok := stepOf(secret, strings.ReplaceAll(code, " ", ""), 0, tx.Now)
	if !ok {
		return errs.New(errs.Invalid, "That code is wrong. Is the clock of the device right?")
	}
	return storeTOTP(tx, of, secret, step)
}

// useTOTP takes a code of the account's app. Error: 422.
func useTOTP(tx *db.Tx, of account.ID, code string) error {
	secret, last, err := totpOf(tx, of)
	if err != nil {
		return err
	}
	step, ok := stepOf(secret, code, last, tx.Now)
	if !ok || secret == nil {
		return WrongCode()
	}
	return noteStep(tx, of, step)
}
