package factor

import (
	"crypto/rand"
	"crypto/sha256"

	"arbor/internal/account"
	"arbor/internal/db"
)

// Recovery codes have 80 random bits, so that their hashes tell nothing.
const (
	recoveryCodes = 10
	recoverySize  = 16 // letters and digits, in four groups
)

// NewCodes replaces the recovery codes of an account, and returns the new ones: they are kept nowhere else.
func NewCodes(tx *db.Tx, of account.ID) ([]string, error) {
	list := make([]string, recoveryCodes)
	digests := make([][sha256.Size]byte, recoveryCodes)
	for n := range list {
		code := rand.Text()[:recoverySize]
		list[n] = code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:]
		digests[n] = sha256.Sum256([]byte(code))
	}
	return list, storeCodes(tx, of, digests)
}

// useRecovery takes a recovery code, once. Error: 422.
func useRecovery(tx *db.Tx, of account.ID, code string) error {
	return takeCode(tx, of, sha256.Sum256([]byte(code)))
}
