package ldap

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	ldaplib "github.com/go-ldap/ldap/v3"
)

// fake is a directory that answers what a test says, as Active Directory would.
type fake struct {
	t      *testing.T
	l      net.Listener
	search func(base, filter string) (entries []*ldaplib.Entry, code int64)
	allows map[string]string // passwords by DN

	mu      sync.Mutex
	filters []string
}

func newFake(t *testing.T, allows map[string]string) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, l: l, allows: allows}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return f
}

// serve answers one connection.
func (f *fake) serve(c net.Conn) {
	defer c.Close()
	for {
		p, err := ber.ReadPacket(c)
		if err != nil || len(p.Children) < 2 {
			return
		}
		id, op := p.Children[0].Value.(int64), p.Children[1]
		switch op.Tag {
		case ldaplib.ApplicationBindRequest:
			dn, password := op.Children[1].Value.(string), op.Children[2].Data.String()
			code := int64(ldaplib.LDAPResultInvalidCredentials)
			if password == "" || f.allows[dn] == password { // directories take the first for a bind of nobody
				code = 0
			}
			if password == "" && dn != "" {
				f.t.Errorf("%s is bound without a password", dn)
			}
			f.done(c, id, ldaplib.ApplicationBindResponse, code)
		case ldaplib.ApplicationSearchRequest:
			filter, err := ldaplib.DecompileFilter(op.Children[6])
			if err != nil {
				f.t.Error(err)
			}
			f.mu.Lock()
			f.filters = append(f.filters, filter)
			f.mu.Unlock()
			entries, code := f.search(op.Children[0].Value.(string), filter)
			f.refer(c, id)
			for _, e := range entries {
				f.entry(c, id, e)
			}
			f.done(c, id, ldaplib.ApplicationSearchResultDone, code)
		default:
			return
		}
	}
}

func envelope(id int64, op *ber.Packet) []byte {
	p := ber.NewSequence("")
	p.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagInteger, id, ""))
	p.AppendChild(op)
	return p.Bytes()
}

func text(s string) *ber.Packet {
	return ber.NewString(ber.ClassUniversal, ber.TypePrimitive, ber.TagOctetString, s, "")
}

func (f *fake) done(c net.Conn, id int64, tag ber.Tag, code int64) {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, tag, nil, "")
	op.AppendChild(ber.NewInteger(ber.ClassUniversal, ber.TypePrimitive, ber.TagEnumerated, code, ""))
	op.AppendChild(text(""))
	op.AppendChild(text(""))
	c.Write(envelope(id, op))
}

// refer names another server, as Active Directory does with each search from the top.
func (f *fake) refer(c net.Conn, id int64) {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldaplib.ApplicationSearchResultReference, nil, "")
	op.AppendChild(text("ldap://" + f.l.Addr().String() + "/dc=elsewhere"))
	c.Write(envelope(id, op))
}

func (f *fake) entry(c net.Conn, id int64, e *ldaplib.Entry) {
	op := ber.Encode(ber.ClassApplication, ber.TypeConstructed, ldaplib.ApplicationSearchResultEntry, nil, "")
	op.AppendChild(text(e.DN))
	list := ber.NewSequence("")
	for _, a := range e.Attributes {
		attribute := ber.NewSequence("")
		attribute.AppendChild(text(a.Name))
		values := ber.Encode(ber.ClassUniversal, ber.TypeConstructed, ber.TagSet, nil, "")
		for _, v := range a.Values {
			values.AppendChild(text(v))
		}
		attribute.AppendChild(values)
		list.AppendChild(attribute)
	}
	op.AppendChild(list)
	c.Write(envelope(id, op))
}

// With Active Directory ids are bytes, nested groups are found by the directory, and references to other servers are
// not followed; what goes wrong is said in words.
func TestActiveDirectory(t *testing.T) {
	t.Parallel()
	const guid = "\x01*)(\xff\x00\\\x7f" + "12345678"
	ann := ldaplib.NewEntry("CN=Ann,DC=example", map[string][]string{"objectGUID": {guid}, "sAMAccountName": {"Ann"},
		"cn": {"Ann Ash"}, "mail": {"not an address", "ann@example.org"}})
	f := newFake(t, map[string]string{"CN=arbor,DC=example": "reader", "CN=Ann,DC=example": "right"})
	f.search = func(base, filter string) ([]*ldaplib.Entry, int64) {
		switch {
		case strings.Contains(filter, inChain):
			return []*ldaplib.Entry{ldaplib.NewEntry("CN=Dev,OU=groups,DC=example", nil),
				ldaplib.NewEntry("CN=Other,OU=groups,DC=example", nil)}, 0
		case strings.Contains(filter, "=two)"):
			return []*ldaplib.Entry{ann, ann}, 0
		case strings.Contains(filter, "=many)"):
			return []*ldaplib.Entry{ann, ann}, ldaplib.LDAPResultSizeLimitExceeded
		case strings.Contains(filter, "=refer)"):
			return nil, ldaplib.LDAPResultReferral
		case strings.Contains(filter, "=other)"), strings.Contains(filter, "=ann)"), strings.Contains(filter, "objectGUID"):
			return []*ldaplib.Entry{ann}, 0
		}
		return nil, 0
	}
	d := newDirectory(t, func(d *Directory) {
		d.Servers = []string{"ldap://" + f.l.Addr().String()}
		d.IDAttribute, d.LoginAttribute, d.GroupsBy = objectGUID, "sAMAccountName", byChain
		d.BindDN, d.BindPasswordFile, d.password = "CN=arbor,DC=example", "x", "reader"
		d.Administrators = []string{"dev"}
	})
	found, err := d.Look(t.Context(), "ann", "right")
	if err != nil || found == nil || !found.Right || found.Login != "Ann" || found.Email != "ann@example.org" ||
		strings.Join(found.Groups, " ") != "dev" {
		t.Fatalf("%+v %v", found, err)
	}
	if found, err := d.Look(t.Context(), "ann", "wrong"); err != nil || found.Right {
		t.Errorf("a wrong password: %+v %v", found, err)
	}
	for _, name := range []string{"two", "many", "other", "nobody"} { // several, or a name that is not the entry's own
		if found, err := d.Look(t.Context(), name, "right"); err != nil || found != nil {
			t.Errorf("%s: %+v %v", name, found, err)
		}
	}
	if _, err := d.Look(t.Context(), "refer", "right"); err == nil || !strings.Contains(err.Error(), "refers to another server") {
		t.Errorf("a referral: %v", err)
	}
	err = d.with(t.Context(), 10*time.Second, func(c *conn) error {
		p, err := c.findSubject(found.Subject)
		if err != nil || p == nil || p.dn != ann.DN {
			t.Errorf("by the id: %+v %v", p, err)
		}
		if ok, err := c.isPassword(p, ""); ok || err != nil {
			t.Errorf("an empty password: %v %v", ok, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if want := `(&(objectClass=*)(|(member` + inChain + `=CN=Ann,DC=example)))`; !strings.Contains(strings.Join(f.filters, "\n"), want) {
		t.Errorf("%q is not in %q", want, f.filters)
	}
}
