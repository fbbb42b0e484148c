package mailtest

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

//go:embed real.py
var script string

// Real is aiosmtpd, which Debian has.
type Real struct {
	Address string
	Roots   *x509.CertPool   // that trust its certificate
	Mails   <-chan *RealMail // that it took
}

// RealMail is a mail as Python's library reads it.
type RealMail struct {
	From    string      `json:"from"`
	To      []string    `json:"to"`
	User    string      `json:"user"` // who signed in
	TLS     bool        `json:"tls"`
	Headers [][2]string `json:"headers"`
	Text    string      `json:"text"`
	HTML    string      `json:"html"`
}

// StartReal starts it for user "arbor" with the password "secret", with STARTTLS or TLS as mode says, or with "none" for
// everybody. Where it is not installed the test is skipped, or fails with ARBOR_TEST_STRICT=1.
func StartReal(t *testing.T, mode string) *Real {
	t.Helper()
	const python = "/usr/bin/python3" // which finds Debian's packages
	if err := exec.Command(python, "-c", "import aiosmtpd").Run(); err != nil {
		const lacks = "aiosmtpd is not on this machine. Get it with `apt-get install python3-aiosmtpd`"
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			t.Fatal(lacks)
		}
		t.Skip(lacks)
	}
	dir := t.TempDir()
	r := &Real{Roots: writeCertificate(t, dir)}
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, "real.py"), []byte(script), 0o600))
	command := exec.Command(python, filepath.Join(dir, "real.py"), mode, filepath.Join(dir, "cert.pem"),
		filepath.Join(dir, "key.pem"))
	var said bytes.Buffer // warnings, and handshakes that the test lets fail
	command.Stderr = &said
	out, err := command.StdoutPipe()
	testkit.NoError(t, err)
	in, err := command.StdinPipe()
	testkit.NoError(t, err)
	testkit.NoError(t, command.Start())
	t.Cleanup(func() {
		in.Close() // which ends it
		if err := command.Wait(); err != nil {
			t.Errorf("aiosmtpd: %v\n%s", err, &said)
		}
	})
	lines := bufio.NewReader(out)
	port, err := lines.ReadString('\n')
	testkit.NoError(t, err)
	r.Address = net.JoinHostPort("localhost", port[:len(port)-1])
	mails := make(chan *RealMail, 100)
	r.Mails = mails
	go func() {
		defer close(mails)
		for {
			line, err := lines.ReadBytes('\n')
			m := &RealMail{}
			if err != nil || json.Unmarshal(line, m) != nil {
				return
			}
			mails <- m
		}
	}()
	return r
}

// writeCertificate makes a certificate for localhost that trusts itself.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testkit.NoError(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	testkit.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	testkit.NoError(t, err)
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		testkit.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	roots := x509.NewCertPool()
	read, err := x509.ParseCertificate(der)
	testkit.NoError(t, err)
	roots.AddCert(read)
	return roots
}
