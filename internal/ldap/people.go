package ldap

import (
	"context"

	ldaplib "github.com/go-ldap/ldap/v3"

	"arbor/internal/external"
)

// maxPeople is how many people, or groups, a comparison reads. A directory with more is not compared.
const maxPeople = 500_000

// Comparison reads all people of the directory with their groups.
func (d *Directory) Comparison(ctx context.Context) (external.Comparison, error) {
	compare := external.Comparison{Source: &d.Source, Most: d.SuspendAtMost, People: map[string]*external.Identity{}}
	err := d.with(ctx, slowPatience, func(c *conn) error {
		if err := c.g.readAll(); err != nil {
			return err
		}
		var list []*person
		err := c.all(d.Base, d.Filter, d.attributes(), maxPeople, func(e *ldaplib.Entry) error {
			p, err := d.read(e)
			list = append(list, p)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range list {
			i, err := c.identity(p)
			if err != nil {
				return err
			}
			compare.People[p.subject] = i
		}
		return nil
	})
	return compare, err
}
