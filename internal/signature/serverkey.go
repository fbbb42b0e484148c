package signature

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"arbor/internal/account/signkey"
	"arbor/internal/durable"
)

// Folder is the folder below the data folder with the server's key, which nodes share and backups have.
const Folder = "signing"

// keyFile is the private key in ASCII armor.
const keyFile = "web-flow.key"

// Name and address of the server's key.
const (
	keyName  = "Arbor"
	keyEmail = "noreply@users.noreply.arbor"
)

// serverKey is the OpenPGP key with which the server signs what it commits for people.
type serverKey struct {
	entity *openpgp.Entity
	handle string
	public string // as in signkey.Key
	armor  string // of the public key
}

var keyConfig = &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Curve: packet.Curve25519, DefaultHash: crypto.SHA512}

// serverKey reads the key, and durably creates it if it is missing. If several nodes do so concurrently, all get the
// key of the fastest.
func (s *Service) serverKey() (*serverKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		return s.own, nil
	}
	file := filepath.Join(s.dir, keyFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeKey(); err == nil {
			text, err = os.ReadFile(file)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("key for signing: %w", err)
	}
	if s.own, err = readKey(string(text)); err != nil {
		return nil, fmt.Errorf("key for signing %s: %w", file, err)
	}
	return s.own, nil
}

func (s *Service) makeKey() error {
	entity, err := openpgp.NewEntity(keyName, "", keyEmail, keyConfig)
	if err != nil {
		return err
	}
	entity.Subkeys = nil // which would encrypt
	text, err := armored(openpgp.PrivateKeyType, func(b *bytes.Buffer) error {
		return entity.SerializePrivate(b, keyConfig)
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return durable.Create(filepath.Join(s.dir, keyFile), []byte(text))
}

func readKey(text string) (*serverKey, error) {
	list, err := openpgp.ReadArmoredKeyRing(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || list[0].PrivateKey == nil || list[0].PrivateKey.Encrypted {
		return nil, errors.New("not one private key without a passphrase")
	}
	k := &serverKey{entity: list[0], handle: signkey.Handle(list[0].PrimaryKey.KeyId)}
	var packets bytes.Buffer
	if err := k.entity.PrimaryKey.Serialize(&packets); err != nil {
		return nil, err
	}
	k.public = base64.StdEncoding.EncodeToString(packets.Bytes())
	k.armor, err = armored(openpgp.PublicKeyType, func(b *bytes.Buffer) error { return k.entity.Serialize(b) })
	return k, err
}

// armored returns packets in ASCII armor, with a newline at the end.
func armored(kind string, write func(*bytes.Buffer) error) (string, error) {
	var packets bytes.Buffer
	if err := write(&packets); err != nil {
		return "", err
	}
	var b strings.Builder
	w, err := armor.Encode(&b, kind, nil)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(packets.Bytes()); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}

// SignNothing makes Sign return no signatures. It is called before anything is signed, for a seed, whose commits are
// the same on every server.
func (s *Service) SignNothing() { s.silent = true }

// Sign returns the server's signature of a commit that it makes for somebody who signed in.
func (s *Service) Sign(payload []byte) (string, error) {
	if s.silent {
		return "", nil
	}
	k, err := s.serverKey()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = openpgp.ArmoredDetachSign(&b, k.entity, bytes.NewReader(payload), keyConfig)
	return b.String(), err
}

// PublicKey returns the public key of the server in ASCII armor, and the id by which signatures name it.
func (s *Service) PublicKey() (text, id string, err error) {
	k, err := s.serverKey()
	if err != nil {
		return "", "", err
	}
	return k.armor, k.handle, nil
}
