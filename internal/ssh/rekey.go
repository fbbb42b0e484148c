package ssh

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// A key exchange costs as much as a small clone, and a client may request one at any time. Honest clients
// do so after a gigabyte, or after a megabyte if configured so. So a connection may have a few, and more
// depending on the data transferred and its duration.
const (
	fewExchanges     = 16
	bytesPerExchange = 512 << 10
	timePerExchange  = 30 * time.Second
)

// exchanges counts the key exchanges of a connection.
type exchanges struct {
	begun time.Time
	moved atomic.Int64 // bytes, in both directions
	done  atomic.Int64
}

var errExchanges = errors.New("the client asks for key exchanges all the time")

// count counts another one. Its error ends the connection.
func (e *exchanges) count(now time.Time) error {
	if e.done.Add(1) > fewExchanges+e.moved.Load()/bytesPerExchange+int64(now.Sub(e.begun)/timePerExchange) {
		return errExchanges
	}
	return nil
}

// counted is a host key, which signs once in each key exchange.
func (e *exchanges) counted(k ssh.Signer) ssh.Signer {
	if able, ok := k.(ssh.MultiAlgorithmSigner); ok {
		return countedAlgorithms{able, e}
	}
	return countedKey{k, e}
}

type countedKey struct {
	ssh.Signer
	e *exchanges
}

// Sign is ssh.Signer's. Error: too many key exchanges.
func (k countedKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	if err := k.e.count(time.Now()); err != nil {
		return nil, err
	}
	return k.Signer.Sign(rand, data)
}

// countedAlgorithms is one that signs in several ways, as RSA does.
type countedAlgorithms struct {
	ssh.MultiAlgorithmSigner
	e *exchanges
}

// SignWithAlgorithm is ssh.AlgorithmSigner's. Error: too many key exchanges.
func (k countedAlgorithms) SignWithAlgorithm(
	rand io.Reader, data []byte, algorithm string,
) (*ssh.Signature, error) {
	if err := k.e.count(time.Now()); err != nil {
		return nil, err
	}
	return k.MultiAlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

// Sign is ssh.Signer's. Error: too many key exchanges.
func (k countedAlgorithms) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return k.SignWithAlgorithm(rand, data, "")
}
