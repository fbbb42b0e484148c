package issue

import (
	"cmp"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// association tells how the author of an issue stands to its repository, as far
// as the caller may know: that somebody belongs to an organization in secret,
// only its members see.
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

// accesses are those of the page's repositories, in one order.
func (p *page) accesses() []*repo.Access {
	return slices.SortedFunc(maps.Values(p.repos), func(a, b *repo.Access) int {
		return cmp.Compare(a.ID, b.ID)
	})
}

// associations finds those of the users who belong to the repositories.
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

// associate reads how more people stand to the repositories of the page.
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

// Associate reads how people stand to the repositories of the page, for
// Association: those who wrote something else than its issues.
func (g *Page) Associate(tx *db.Tx, users []account.ID) error { return g.p.associate(tx, users) }
