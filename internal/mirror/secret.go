package mirror

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"

	"arbor/internal/db"
	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// sealer returns AES-256-GCM with a key.
func sealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// purpose is what a secret is for. A secret sealed for one purpose cannot be decrypted for another.
type purpose string

const (
	forPassword purpose = ""
	forHook     purpose = " webhook"
	forSSH      purpose = " ssh"
)

func (p purpose) of(id repo.ID) []byte { return []byte(id.String() + string(p)) }

// seal encrypts a secret for one repository and one purpose. It creates a missing key.
func (s *Service) seal(id repo.ID, p purpose, secret string) (string, error) {
	if secret == "" {
		return "", nil
	}
	key, err := durable.Key(s.keys)
	if err != nil {
		return "", err
	}
	c, err := sealer(key)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, c.NonceSize())
	rand.Read(nonce)
	return base64.RawStdEncoding.EncodeToString(c.Seal(nonce, nonce, []byte(secret), p.of(id))), nil
}

// Why a secret cannot be decrypted.
var (
	errKey = &git.RemoteError{Reason: "its password was encrypted with another key than the one in this server's data " +
		"folder: enter the password again"}
	errNoKey = &git.RemoteError{Reason: "the key that encrypted its password is missing in this server's data folder: " +
		"enter the password again"}
)

// open decrypts a secret of a mirror of a repository. Errors: errKey, errNoKey.
func (s *Service) open(id repo.ID, p purpose, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	key, err := durable.ReadKey(s.keys)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errNoKey
	}
	if err != nil {
		return "", err
	}
	return openWith(key, id, p, text)
}

// openWith is open with the key. Error: errKey.
func openWith(key []byte, id repo.ID, p purpose, text string) (string, error) {
	c, err := sealer(key)
	if err != nil {
		return "", err
	}
	sealed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(sealed) < c.NonceSize() {
		return "", errors.Join(errKey, err)
	}
	secret, err := c.Open(nil, sealed[:c.NonceSize()], sealed[c.NonceSize():], p.of(id))
	if err != nil {
		return "", errKey
	}
	return string(secret), nil
}

// Locked is a secret that the key in the data folder cannot decrypt.
type Locked struct {
	RepoID repo.ID
	Mirror int64 // the mirror whose password or key pair it is; 0: it is the secret of a webhook
	SSH    bool  // it is a key pair
}

// Locked returns the secrets that the key in the data folder cannot decrypt.
func (s *Service) Locked(tx *db.Tx) (list []Locked, err error) {
	key, err := durable.ReadKey(s.keys)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var l Locked
		var text string
		if err := row.Scan(&l.RepoID, &l.Mirror, &l.SSH, &text); err != nil {
			return err
		}
		p := forPassword
		switch {
		case l.SSH:
			p = forSSH
		case l.Mirror == 0:
			p = forHook
		}
		if key == nil {
			list = append(list, l)
			return nil
		}
		_, err := openWith(key, l.RepoID, p, text)
		if errors.Is(err, errKey) {
			list = append(list, l)
			err = nil
		}
		return err
	}, `SELECT repo_id, id, FALSE, secret FROM mirrors WHERE secret <> ''
		UNION ALL SELECT repo_id, 0, FALSE, secret FROM mirror_secrets
		UNION ALL SELECT repo_id, mirror_id, TRUE, secret FROM mirror_ssh ORDER BY 1, 2`)
	return list, err
}
