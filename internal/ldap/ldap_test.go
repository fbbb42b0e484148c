package ldap

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/external"
)

func newDirectory(t testing.TB, change func(*Directory)) *Directory {
	t.Helper()
	d := &Directory{Source: external.Source{Name: "company"}, Servers: []string{"ldap://127.0.0.1:1"}, Base: "dc=example",
		GroupBase: "ou=groups,dc=example"}
	if change != nil {
		change(d)
	}
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	return d
}

// Names become values of a filter, and nothing else of it.
func FuzzFilters(f *testing.F) {
	for _, name := range []string{"ann", "*", "ann)(uid=*", `\2a`, "\x00", "a\\", "(|", "ä", "\xff"} {
		f.Add(name)
	}
	d := newDirectory(f, nil)
	ad := newDirectory(f, func(d *Directory) { d.IDAttribute = "objectGUID" })
	f.Fuzz(func(t *testing.T, name string) {
		for _, filter := range []string{d.nameFilter(name), d.subjectFilter(name)} {
			p, err := ldaplib.CompileFilter(filter)
			if err != nil {
				t.Fatalf("%q is no filter: %v", filter, err)
			}
			if len(p.Children) != 2 || p.Children[1].Tag != ldaplib.FilterEqualityMatch ||
				len(p.Children[1].Children) != 2 || !bytes.Equal(p.Children[1].Children[1].Data.Bytes(), []byte(name)) {
				t.Errorf("%q became %q", name, filter)
			}
		}
		e := &ldaplib.Entry{DN: "cn=x", Attributes: []*ldaplib.EntryAttribute{
			{Name: "objectguid", Values: []string{name}, ByteValues: [][]byte{[]byte(name)}}}}
		if p, err := ad.read(e); err == nil {
			if _, err := ldaplib.CompileFilter(ad.subjectFilter(p.subject)); err != nil {
				t.Errorf("%q: %v", ad.subjectFilter(p.subject), err)
			}
		}
	})
}

// Whatever DNs and attributes a directory sends, they are read or refused.
func FuzzEntries(f *testing.F) {
	f.Add("uid=ann,dc=example", "id", "ann", "cn=dev,ou=groups,dc=example")
	f.Add("cn=a+b=c,,", "", "\x00", `cn=\,,=`)
	f.Add("CN=Dev\\2C x,OU=Groups", strings.Repeat("x", 300), "a@b@c", "CN=DEV , OU=groups,DC=example")
	d := newDirectory(f, func(d *Directory) { d.Administrators = []string{"dev"} })
	f.Fuzz(func(t *testing.T, dn, id, text, group string) {
		attribute := func(name, value string) *ldaplib.EntryAttribute {
			return &ldaplib.EntryAttribute{Name: name, Values: []string{value}, ByteValues: [][]byte{[]byte(value)}}
		}
		p, err := d.read(&ldaplib.Entry{DN: dn, Attributes: []*ldaplib.EntryAttribute{attribute("entryUUID", id),
			attribute("uid", text), attribute("CN", text), attribute("mail", text), attribute("memberof", group)}})
		if err != nil {
			return
		}
		if p.subject == "" || len(p.subject) > external.MaxSubject || strings.ContainsAny(p.name, "\x00\n") {
			t.Errorf("%+v was taken", p)
		}
		g := &groups{c: &conn{d: d}, above: map[string][]string{}, whole: true}
		names, err := g.of(p)
		if err != nil {
			t.Fatal(err)
		}
		normal, err := normalDN(group)
		if is := err == nil && normal == "cn=dev,ou=groups,dc=example"; is != (len(names) == 1) {
			t.Errorf("%q gives %q", group, names)
		}
	})
}

// Groups are followed upwards, once each, also in a circle, and in each way of finding them.
func TestNestedGroups(t *testing.T) {
	t.Parallel()
	in := func(cn string) string { return "cn=" + cn + ",ou=groups,dc=example" }
	above := map[string][]string{"uid=ann,dc=example": {in("dev")}, in("dev"): {in("all")}, in("all"): {in("ops")},
		in("ops"): {in("dev")}, "ann": {in("posix")}}
	for _, one := range []struct {
		by, member string
		chain      map[string][]string
		want       string
	}{
		{byMemberOf, "member", nil, "Ops all"},
		{byMember, "member", nil, "Ops all"},
		{byMember, "memberUid", nil, "posix"},
		{byChain, "member", map[string][]string{"uid=ann,dc=example": {in("all")}}, "all"},
	} {
		d := newDirectory(t, func(d *Directory) {
			d.GroupsBy, d.MemberAttribute, d.Administrators = one.by, one.member, []string{"Ops", "all", "none", "posix"}
		})
		g := &groups{c: &conn{d: d}, above: above, whole: true, chain: one.chain}
		p := &person{dn: "UID=Ann, DC=example", logins: []string{"Ann"}}
		if one.by == byMemberOf {
			p.memberOf = []string{"CN=dev,OU=Groups,DC=example"}
		}
		names, err := g.of(p)
		if got := strings.Join(names, " "); err != nil || got != one.want {
			t.Errorf("%s %s: %q %v, want %q", one.by, one.member, got, err, one.want)
		}
	}
}

// A directory that answers nothing costs no more than the time that it has, and no more connections than there may be.
func TestDirectoryThatHangs(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, server := range []string{"ldap://", "ldaps://"} {
		d := newDirectory(t, func(d *Directory) { d.Servers = []string{server + l.Addr().String()} })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		done := make(chan error, 3*maxConns)
		for range cap(done) {
			go func() { done <- d.with(ctx, time.Minute, (*conn).check) }()
		}
		for range cap(done) {
			var failure *Failure
			if err := <-done; !errors.As(err, &failure) {
				t.Errorf("%s: %v", server, err)
			}
		}
	}
}

// Whatever a server sends, a connection ends with an error or an answer, and nothing else does.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte("0\x0c\x02\x01\x01a\x07\n\x01\x00\x04\x00\x04\x00"))
	f.Add([]byte("0\x84\xff\xff\xff\xff"))
	f.Add([]byte("0\x80\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err == nil {
				c.Write(answer)
				c.(*net.TCPConn).CloseWrite()
				time.Sleep(10 * time.Millisecond)
				c.Close()
			}
		}()
		d := newDirectory(t, func(d *Directory) { d.Servers = []string{"ldap://" + l.Addr().String()} })
		if err := d.with(t.Context(), 2*time.Second, func(c *conn) error { _, err := c.find("ann"); return err }); err == nil {
			t.Log("it was an answer")
		}
	})
}
