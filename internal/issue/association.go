package issue

import (
	"cmp"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// association returns the author association of an issue, as far as it is visible to the caller: concealed
// memberships are visible only to members.
func (p *page) association(i *Issue) string { return p.associationOf(i.RepoID, i.AuthorID) }

func (p *page) associationOf(repoID repo.ID, userID account.ID) string {
	a := p.repos[repoID]
	if userID == a.OwnerID {
		return "OWNER"
	}
	if s := p.roles[roleKey{repoID, userID}]; s != "" {
		return s
	}
	return "NONE"
}

// accesses returns the accesses to the page's repositories in a fixed order.
func (p *page) accesses() []*repo.Access {
	return slices.SortedFunc(maps.Values(p.repos), func(a, b *repo.Access) int {
		return cmp.Compare(a.ID, b.ID)
	})
}

// associations returns the associations of users with the repositories, if not NONE.
func associations(tx *db.Tx, list []*repo.Access, users []account.ID) (map[roleKey]string, error) {
	found := map[roleKey]string{}
	members, collaborators, err := repo.Belonging(tx, list, users)
	if err != nil {
		return nil, err
	}
	for _, c := range collaborators {
		found[roleKey{c.To, c.User}] = "COLLABORATOR"
	}
	for _, a := range list {
		if a.Owner.Kind != account.Organization {
			continue
		}
		for _, m := range members {
			if m.To == a.OwnerID && (m.Public || a.Insider()) {
				found[roleKey{a.ID, m.User}] = "MEMBER"
			}
		}
	}
	return found, nil
}

// associate reads the associations of more users with the page's repositories.
func (p *page) associate(tx *db.Tx, users []account.ID) error {
	if len(users) == 0 {
		return nil
	}
	more, err := associations(tx, p.accesses(), db.Unique(users))
	for k, s := range more {
		if p.roles == nil {
			p.roles = map[roleKey]string{}
		}
		p.roles[k] = s
	}
	return err
}

// Associate reads the associations of users with the page's repositories, for Association. The authors of
// its issues need not be included.
func (g *Page) Associate(tx *db.Tx, users []account.ID) error { return g.p.associate(tx, users) }
