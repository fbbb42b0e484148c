package mirror

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"

	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// sealer returns AES-256-GCM with the key in the data folder.
func (s *Service) sealer() (cipher.AEAD, error) {
	key, err := durable.Key(s.keys)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// HasKey reports whether the data folder has the key of passwords.
func (s *Service) HasKey() bool {
	_, err := os.Stat(filepath.Join(s.keys, "key"))
	return err == nil
}

// seal encrypts a password of a mirror of a repository. It opens for no other repository.
func (s *Service) seal(id repo.ID, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	c, err := s.sealer()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, c.NonceSize())
	rand.Read(nonce)
	return base64.RawStdEncoding.EncodeToString(c.Seal(nonce, nonce, []byte(password), []byte(id.String()))), nil
}

var errKey = &git.RemoteError{Reason: "its password was encrypted with another key than the one in this server's data folder: " +
	"enter the password again"}

// open decrypts the password of a mirror. Error: errKey.
func (s *Service) open(m *Mirror) (string, error) {
	if m.secret == "" {
		return "", nil
	}
	c, err := s.sealer()
	if err != nil {
		return "", err
	}
	sealed, err := base64.RawStdEncoding.DecodeString(m.secret)
	if err != nil || len(sealed) < c.NonceSize() {
		return "", errors.Join(errKey, err)
	}
	password, err := c.Open(nil, sealed[:c.NonceSize()], sealed[c.NonceSize():], []byte(m.RepoID.String()))
	if err != nil {
		return "", errKey
	}
	return string(password), nil
}
