package ldap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	ldaplib "github.com/go-ldap/ldap/v3"
)

// Check reports why people cannot sign in with the directory, or why their groups would not be found: what
// `arbor doctor` asks. It asks every server.
func (d *Directory) Check(ctx context.Context) error {
	var all error
	for _, server := range d.Servers {
		err := d.withOneOf(ctx, []string{server}, patience, (*conn).check)
		all = errors.Join(all, err)
	}
	return all
}

// check looks at somebody of the people, and at each group that the file names.
func (c *conn) check() error {
	list, err := c.firstPage()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return failed("nobody below base matches filter", errors.New("no entry"))
	}
	p, err := c.d.read(list[0])
	if err != nil {
		return err
	}
	if len(p.logins) == 0 {
		return failed("a person has no value of login_attribute", fmt.Errorf("%q", p.dn))
	}
	if _, err := c.g.of(p); err != nil {
		return err
	}
	for _, group := range slices.Sorted(maps.Keys(c.d.rules)) {
		_, err := c.some(group, ldaplib.ScopeBaseObject, "(objectClass=*)", []string{"cn"}, 1)
		if err != nil {
			return failed("a group that the file names is not there", fmt.Errorf("%q: %w", group, err))
		}
	}
	return nil
}

// firstPage reads the first people.
func (c *conn) firstPage() ([]*ldaplib.Entry, error) {
	found, err := c.Search(ldaplib.NewSearchRequest(c.d.Base, ldaplib.ScopeWholeSubtree, ldaplib.NeverDerefAliases, 0, 0,
		false, c.d.Filter, c.d.attributes(), []ldaplib.Control{ldaplib.NewControlPaging(1)}))
	if err != nil {
		return nil, searchFailed(err)
	}
	return found.Entries, nil
}

// Found is what a directory says of a name, for the operator.
type Found struct {
	DN, Subject, Login, Name, Email string
	Groups                          []string // that the file names
	Right                           bool     // the password is theirs
}

// Look finds a name in the directory as a sign-in does, with a password if there is one; nil: nobody, or several, have
// the name.
func (d *Directory) Look(ctx context.Context, name, password string) (f *Found, err error) {
	err = d.with(ctx, patience, func(c *conn) error {
		p, err := c.find(name)
		if err != nil || p == nil {
			return err
		}
		found := Found{DN: p.dn, Subject: p.subject}
		if password != "" {
			if found.Right, err = c.isPassword(p, password); err != nil {
				return err
			}
		}
		i, err := c.identity(p)
		if err != nil {
			return err
		}
		found.Login, found.Name, found.Email, found.Groups = i.Login, i.Name, i.Email, i.Groups
		f = &found
		return nil
	})
	return f, err
}
