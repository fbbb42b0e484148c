//go:build long

package pages_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/test/testkit"
)

// slapd is a directory, OpenLDAP's server with the overlay memberof.
type slapd struct {
	t          *testing.T
	dir        string
	plain, tls int // ports
	ca         string
	process    *exec.Cmd
}

const slapdConf = `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile %[1]s/pid
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
TLSCertificateFile %[2]s
TLSCertificateKeyFile %[3]s
sizelimit size.soft=500 size.hard=500 size.prtotal=unlimited
database mdb
maxsize 268435456
suffix "dc=example,dc=org"
rootdn "cn=root,dc=example,dc=org"
rootpw secret
directory %[1]s/db
index objectClass,uid,entryUUID,member,memberOf,memberUid eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=arbor,dc=example,dc=org" read by anonymous auth by * none
overlay memberof
`

const slapdTop = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=org
objectClass: organizationalUnit
ou: groups

dn: cn=arbor,dc=example,dc=org
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: arbor
userPassword: reader

`

// startSlapd starts a directory with some entries (LDIF) besides its top.
func startSlapd(t *testing.T, ldif string) *slapd {
	t.Helper()
	if _, err := os.Stat("/usr/sbin/slapd"); err != nil {
		t.Skip("there is no slapd: apt-get install slapd")
	}
	s := &slapd{t: t, dir: t.TempDir(), plain: testkit.FreePort(t), tls: testkit.FreePort(t)}
	cert, key := testkit.Certificate(t, s.dir, "localhost", "127.0.0.1")
	s.ca = cert
	testkit.NoError(t, os.Mkdir(filepath.Join(s.dir, "db"), 0o700))
	s.write("slapd.conf", fmt.Sprintf(slapdConf, s.dir, cert, key))
	s.write("top.ldif", slapdTop+ldif)
	add := exec.Command("/usr/sbin/slapadd", "-q", "-f", filepath.Join(s.dir, "slapd.conf"), "-l", filepath.Join(s.dir, "top.ldif"))
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("slapadd: %v\n%s", err, out)
	}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *slapd) write(name, text string) string {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	testkit.NoError(s.t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// start starts the server, and waits until it answers.
func (s *slapd) start() {
	s.t.Helper()
	s.process = exec.Command("/usr/sbin/slapd", "-f", filepath.Join(s.dir, "slapd.conf"), "-d", "0",
		"-h", fmt.Sprintf("ldap://127.0.0.1:%d ldaps://127.0.0.1:%d", s.plain, s.tls))
	var told strings.Builder
	s.process.Stderr, s.process.Stdout = &told, io.Discard
	testkit.NoError(s.t, s.process.Start())
	testkit.Eventually(s.t, func() bool {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.plain), time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, "slapd answers")
}

func (s *slapd) stop() {
	if s.process != nil {
		s.process.Process.Kill()
		s.process.Wait()
		s.process = nil
	}
}

// hang has the server take connections and answer nothing, until the returned function is called.
func (s *slapd) hang() (goOn func()) {
	testkit.NoError(s.t, s.process.Process.Signal(syscall.SIGSTOP))
	return func() { s.process.Process.Signal(syscall.SIGCONT) }
}

// change calls fn with a connection of the directory's administrator.
func (s *slapd) change(fn func(*ldaplib.Conn) error) {
	s.t.Helper()
	c, err := ldaplib.DialURL(fmt.Sprintf("ldap://127.0.0.1:%d", s.plain))
	testkit.NoError(s.t, err)
	defer c.Close()
	testkit.NoError(s.t, c.Bind("cn=root,dc=example,dc=org", "secret"))
	testkit.NoError(s.t, fn(c))
}

func dnOf(uid string) string { return "uid=" + uid + ",ou=people,dc=example,dc=org" }

// person adds somebody whose password is "secret of UID".
func (s *slapd) person(uid string, pairs ...string) {
	s.t.Helper()
	s.change(func(c *ldaplib.Conn) error {
		r := ldaplib.NewAddRequest(dnOf(ldaplib.EscapeDN(uid)), nil)
		r.Attribute("objectClass", []string{"inetOrgPerson"})
		r.Attribute("uid", []string{uid})
		r.Attribute("sn", []string{"Surname"})
		r.Attribute("userPassword", []string{"secret of " + uid})
		cn := "Person " + uid
		for n := 0; n < len(pairs); n += 2 {
			if pairs[n] == "cn" {
				cn = pairs[n+1]
				continue
			}
			r.Attribute(pairs[n], []string{pairs[n+1]})
		}
		r.Attribute("cn", []string{cn})
		return c.Add(r)
	})
}

// group adds a group of DNs.
func (s *slapd) group(cn string, members ...string) {
	s.t.Helper()
	s.change(func(c *ldaplib.Conn) error {
		r := ldaplib.NewAddRequest("cn="+cn+",ou=groups,dc=example,dc=org", nil)
		r.Attribute("objectClass", []string{"groupOfNames"})
		r.Attribute("cn", []string{cn})
		r.Attribute("member", members)
		return c.Add(r)
	})
}

// file writes a file of sign-in for the directory, with more lines at its directory, and after it.
func (s *slapd) file(name, server, more, after string) string {
	s.t.Helper()
	s.write("reader", "reader\n")
	return s.write(name, fmt.Sprintf(`directories:
  - name: company
    label: Company
    servers: [%q]
    ca_file: %q
    bind_dn: cn=arbor,dc=example,dc=org
    bind_password_file: reader
    base: ou=people,dc=example,dc=org
    filter: (objectClass=inetOrgPerson)
    group_base: ou=groups,dc=example,dc=org
%s
%s`, server, s.ca, more, after))
}
