package ldap

import (
	"errors"
	"slices"
	"strings"

	ldaplib "github.com/go-ldap/ldap/v3"
)

// memberOf is the attribute with the groups of an entry.
const memberOf = "memberOf"

// inChain is the matching rule of Active Directory that looks through nested groups.
const inChain = ":1.2.840.113556.1.4.1941:"

// Bounds of groups.
const (
	maxGroups  = 1000 // of a person, nested ones included
	maxOr      = 50   // DNs in one filter
	maxMembers = 2_000_000
)

// groups finds the groups of people that the file names. It remembers what it read.
type groups struct {
	c     *conn
	above map[string][]string // the groups that an entry is directly in, by its DN in normal form
	whole bool                // above has all groups: none is asked for any more
	chain map[string][]string // rules by DN in normal form, of everybody; nil: people are asked for one by one
}

// of returns the names of a person's groups, as the file has them.
func (g *groups) of(p *person) (names []string, err error) {
	rules := g.c.d.rules
	if len(rules) == 0 {
		return nil, nil
	}
	found := map[string]bool{}
	switch {
	case g.chain != nil:
		if self, err := normalDN(p.dn); err == nil {
			for _, group := range g.chain[self] {
				found[group] = true
			}
		}
	case g.c.d.GroupsBy == byChain:
		list, err := g.search(inChain+"=", []string{p.dn})
		if err != nil {
			return nil, err
		}
		add(found, list)
	default:
		if found, err = g.closure(p); err != nil {
			return nil, err
		}
	}
	for group := range found {
		names = append(names, rules[group]...)
	}
	slices.Sort(names)
	return names, nil
}

// closure is the groups that a person is in, directly or through others.
func (g *groups) closure(p *person) (found map[string]bool, err error) {
	found = map[string]bool{}
	next := normal(p.memberOf)
	if g.c.d.GroupsBy == byMember {
		if next, err = g.aboveOf([]string{g.memberValue(p)}); err != nil {
			return nil, err
		}
	}
	for len(next) > 0 {
		var fresh []string
		for _, group := range next {
			if !found[group] && len(found) < maxGroups {
				found[group] = true
				fresh = append(fresh, group)
			}
		}
		if next = nil; len(fresh) > 0 {
			if next, err = g.aboveOf(fresh); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// memberValue is what groups call a person: the DN, or the login in groups of POSIX accounts.
func (g *groups) memberValue(p *person) string {
	if strings.EqualFold(g.c.d.MemberAttribute, "memberUid") {
		if len(p.logins) == 0 {
			return ""
		}
		return p.logins[0]
	}
	return p.dn
}

// aboveOf returns the groups that entries are directly in. Members are as they are in the directory, or in normal form.
func (g *groups) aboveOf(entries []string) (list []string, err error) {
	var ask []string
	for _, entry := range entries {
		known, is := g.above[key(entry)]
		if list = append(list, known...); !is && !g.whole && entry != "" {
			ask = append(ask, entry)
		}
	}
	for part := range slices.Chunk(ask, maxOr) {
		if g.c.d.GroupsBy == byMember {
			found, err := g.search("=", part)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
			continue
		}
		for _, entry := range part {
			found, err := g.c.some(entry, ldaplib.ScopeBaseObject, "(objectClass=*)", []string{memberOf}, 1)
			if ldaplib.IsErrorAnyOf(cause(err), ldaplib.LDAPResultNoSuchObject, ldaplib.LDAPResultReferral) {
				err = nil // a group of another domain
			}
			if err != nil {
				return nil, err
			}
			up := []string{}
			for _, e := range found {
				up = normal(e.GetEqualFoldAttributeValues(memberOf))
			}
			g.above[key(entry)] = up
			list = append(list, up...)
		}
	}
	return list, nil
}

// cause is the error of the library.
func cause(err error) error {
	if f, is := errors.AsType[*Failure](err); is {
		return f.Err
	}
	return err
}

// search finds groups by their members.
func (g *groups) search(rule string, members []string) ([]string, error) {
	var or strings.Builder
	for _, m := range members {
		or.WriteString("(" + g.c.d.MemberAttribute + rule + ldaplib.EscapeFilter(m) + ")")
	}
	var list []string
	err := g.c.all(g.c.d.GroupBase, "(&"+g.c.d.GroupFilter+"(|"+or.String()+"))", []string{"cn"}, maxGroups,
		func(e *ldaplib.Entry) error {
			list = append(list, normal([]string{e.DN})...)
			return nil
		})
	return list, err
}

// readAll reads the groups of everybody, for a comparison.
func (g *groups) readAll() error {
	if len(g.c.d.rules) == 0 {
		return nil
	}
	switch g.c.d.GroupsBy {
	case byMember:
		return g.readMembers()
	case byChain:
		return g.readChains()
	}
	return nil
}

// readMembers reads all groups with their members.
func (g *groups) readMembers() error {
	n := 0
	g.whole = true
	return g.c.all(g.c.d.GroupBase, g.c.d.GroupFilter, []string{g.c.d.MemberAttribute}, maxPeople,
		func(e *ldaplib.Entry) error {
			group, err := normalDN(e.DN)
			if err != nil {
				return nil
			}
			for _, m := range e.GetEqualFoldAttributeValues(g.c.d.MemberAttribute) {
				if n++; n > maxMembers {
					return failed("its groups are too large", errors.New("too many members"))
				}
				g.above[key(m)] = append(g.above[key(m)], group)
			}
			return nil
		})
}

// readChains reads the people of each group that the file names.
func (g *groups) readChains() error {
	g.chain = map[string][]string{}
	for group := range g.c.d.rules {
		filter := "(&" + g.c.d.Filter + "(" + memberOf + inChain + "=" + ldaplib.EscapeFilter(group) + "))"
		err := g.c.all(g.c.d.Base, filter, []string{g.c.d.IDAttribute}, maxPeople, func(e *ldaplib.Entry) error {
			if who, err := normalDN(e.DN); err == nil {
				g.chain[who] = append(g.chain[who], group)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// key is an entry in above: a DN in normal form, or a login.
func key(entry string) string {
	if dn, err := normalDN(entry); err == nil {
		return dn
	}
	return strings.ToLower(entry)
}

// normal are DNs in normal form. What is none is left out.
func normal(list []string) (out []string) {
	for _, text := range list {
		if dn, err := normalDN(text); err == nil && dn != "" {
			out = append(out, dn)
		}
	}
	return out
}

func add(to map[string]bool, list []string) {
	for _, name := range list {
		to[name] = true
	}
}
