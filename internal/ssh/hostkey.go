package ssh

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"arbor/internal/durable"
)

// hostKey is a kind of host key, with the name of its file, which is sshd's.
type hostKey struct {
	file     string
	generate func() (crypto.PrivateKey, error)
}

var hostKeys = [...]hostKey{
	{"ssh_host_ed25519_key", func() (crypto.PrivateKey, error) {
		_, k, err := ed25519.GenerateKey(rand.Reader)
		return k, err
	}},
	{"ssh_host_ecdsa_key", func() (crypto.PrivateKey, error) {
		return ecdsa.GenerateKey(elliptic.P256(),
			rand.Reader)
	}},
	{rsaKey, func() (crypto.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 3072) }},
}

const rsaKey = "ssh_host_rsa_key"

// NewHostKeys returns host keys for a temporary server, and stores them nowhere. RSA is left out,
// since it takes longest to generate.
func NewHostKeys() (list []ssh.Signer, err error) {
	for _, k := range hostKeys {
		if k.file == rsaKey {
			continue
		}
		private, err := k.generate()
		if err != nil {
			return nil, err
		}
		signer, err := ssh.NewSignerFromKey(private)
		if err != nil {
			return nil, err
		}
		list = append(list, signer)
	}
	return list, nil
}

// HostKeys reads the host keys in a directory, and durably creates missing ones. It never overwrites a key:
// if several nodes start concurrently with one directory, all get the keys of the fastest.
func HostKeys(dir string) ([]ssh.Signer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var list []ssh.Signer
	for _, k := range hostKeys {
		signer, err := k.read(dir)
		if errors.Is(err, fs.ErrNotExist) {
			if err = k.make(dir); err == nil {
				signer, err = k.read(dir)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("ssh host key %s: %w", filepath.Join(dir, k.file), err)
		}
		list = append(list, signer)
	}
	return list, nil
}

func (k *hostKey) read(dir string) (ssh.Signer, error) {
	text, err := os.ReadFile(filepath.Join(dir, k.file))
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, err
	}
	if able, ok := signer.(ssh.AlgorithmSigner); ok && signer.PublicKey().Type() == ssh.KeyAlgoRSA {
		// none by SHA-1
		return ssh.NewSignerWithAlgorithms(able, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
	}
	return signer, nil
}

// make generates the key, unless another caller was faster.
func (k *hostKey) make(dir string) error {
	private, err := k.generate()
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return err
	}
	return durable.Create(filepath.Join(dir, k.file), pem.EncodeToMemory(block))
}
