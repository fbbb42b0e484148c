package ldap

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/account"
	"arbor/internal/external"
)

// objectGUID is the one attribute of ids that is no text: Active Directory's.
const objectGUID = "objectGUID"

// person is an entry of a person.
type person struct {
	dn       string
	subject  string
	logins   []string
	name     string
	emails   []string
	memberOf []string
}

// attributes are those that are read of a person.
func (d *Directory) attributes() []string {
	list := []string{d.IDAttribute, d.LoginAttribute}
	for _, a := range []string{d.NameAttribute, d.EmailAttribute} {
		if a != noAttribute {
			list = append(list, a)
		}
	}
	if d.GroupsBy == byMemberOf && len(d.rules) > 0 {
		list = append(list, memberOf)
	}
	return list
}

// read reads an entry. Error: it has no id.
func (d *Directory) read(e *ldaplib.Entry) (*person, error) {
	p := &person{dn: e.DN, logins: texts(e, d.LoginAttribute), emails: texts(e, d.EmailAttribute),
		memberOf: e.GetEqualFoldAttributeValues(memberOf)}
	if names := texts(e, d.NameAttribute); len(names) > 0 {
		p.name = names[0]
	}
	ids := e.GetEqualFoldRawAttributeValues(d.IDAttribute)
	if e.DN == "" || len(ids) != 1 {
		return nil, failed("a person has no value of id_attribute, or several", fmt.Errorf("%q has %d", e.DN, len(ids)))
	}
	p.subject = string(ids[0])
	if strings.EqualFold(d.IDAttribute, objectGUID) {
		p.subject = hex.EncodeToString(ids[0])
	}
	if p.subject == "" || len(p.subject) > external.MaxSubject || !utf8.ValidString(p.subject) ||
		account.HasControl(p.subject) {
		return nil, failed("the id_attribute of a person is no short text", fmt.Errorf("%q", e.DN))
	}
	return p, nil
}

// texts are the values of an attribute that are a line of text.
func texts(e *ldaplib.Entry, attribute string) (list []string) {
	for _, value := range e.GetEqualFoldAttributeValues(attribute) {
		if value != "" && account.CheckLine(attribute, value) == nil {
			list = append(list, value)
		}
	}
	return list
}

// nameFilter finds the people with a name.
func (d *Directory) nameFilter(name string) string {
	return "(&" + d.Filter + "(" + d.LoginAttribute + "=" + ldaplib.EscapeFilter(name) + "))"
}

// subjectFilter finds the person with an id.
func (d *Directory) subjectFilter(subject string) string {
	value := ldaplib.EscapeFilter(subject)
	if strings.EqualFold(d.IDAttribute, objectGUID) {
		value = ""
		for n := 0; n+1 < len(subject); n += 2 {
			value += `\` + subject[n:n+2]
		}
	}
	return "(&" + d.Filter + "(" + d.IDAttribute + "=" + value + "))"
}

// find finds the person with a name; nil: nobody, or several have it. The name must be that of the entry but for upper
// and lower case: directories match others as well, with which somebody could guess more passwords than one name allows.
func (c *conn) find(name string) (*person, error) {
	p, err := c.one(c.d.nameFilter(name))
	if err != nil || p == nil {
		return nil, err
	}
	for _, login := range p.logins {
		if account.Fold(login) == account.Fold(name) {
			p.logins = []string{login}
			return p, nil
		}
	}
	return nil, nil
}

// findSubject finds the person with an id; nil: nobody.
func (c *conn) findSubject(subject string) (*person, error) {
	p, err := c.one(c.d.subjectFilter(subject))
	if err != nil || p == nil || p.subject != subject {
		return nil, err
	}
	return p, nil
}

// one finds the person that a filter matches; nil: nobody, or several.
func (c *conn) one(filter string) (*person, error) {
	list, err := c.some(c.d.Base, ldaplib.ScopeWholeSubtree, filter, c.d.attributes(), 2)
	if errors.Is(err, ldaplib.ErrSizeLimitExceeded) ||
		ldaplib.IsErrorWithCode(err, ldaplib.LDAPResultSizeLimitExceeded) {
		return nil, nil
	}
	if err != nil || len(list) != 1 {
		return nil, err
	}
	return c.d.read(list[0])
}

// isPassword reports whether the directory lets a person in with a password. The connection is the service's again
// then.
func (c *conn) isPassword(p *person, password string) (bool, error) {
	if p.dn == "" || password == "" { // the directory would take it for a bind of nobody, which succeeds
		return false, nil
	}
	err := c.Bind(p.dn, password)
	if ldaplib.IsErrorAnyOf(err, ldaplib.LDAPResultInvalidCredentials, ldaplib.LDAPResultInappropriateAuthentication,
		ldaplib.LDAPResultNoSuchObject, ldaplib.LDAPResultUnwillingToPerform, ldaplib.LDAPResultConstraintViolation) {
		return false, nil // also of accounts that are locked, or whose password has expired
	}
	if err != nil {
		return false, failed("a password could not be checked", err)
	}
	return true, c.bindService()
}

// identity is who a person is, for the site.
func (c *conn) identity(p *person) (*external.Identity, error) {
	i := &external.Identity{Source: &c.d.Source, Subject: p.subject, Name: p.name}
	if len(p.logins) > 0 {
		i.Login = p.logins[0]
	}
	for _, address := range p.emails {
		if account.PlausibleEmail(address) {
			i.Email = address
			break
		}
	}
	var err error
	i.Groups, err = c.g.of(p)
	return i, err
}
