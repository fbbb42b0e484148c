package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// Person is an account with its relation to a repository.
type Person struct {
	ID           account.ID
	Login        string
	Kind         account.Kind
	Role         account.Role
	Member       bool // of the organization that owns the repository
	Public       bool // a public member
	Collaborator bool // was granted a role, not only through teams
}

// PeopleNamed reads accounts and their roles on the repository in one query, by account.Fold of the login.
// Unknown logins are missing from the map.
func PeopleNamed(tx *db.Tx, r *Repo, logins []string) (map[string]Person, error) {
	found := make(map[string]Person, len(logins))
	err := people(tx, r, byLogin, folded(logins), func(p Person) { found[account.Fold(p.Login)] = p })
	return found, err
}

const byLogin = `a.login_folded`

func folded(logins []string) []any {
	keys := make([]any, len(logins))
	for n, l := range logins {
		keys[n] = account.Fold(l)
	}
	return keys
}

// PeopleByID is PeopleNamed for ids, which may repeat.
func PeopleByID(tx *db.Tx, r *Repo, ids []account.ID) (map[account.ID]Person, error) {
	keys := make([]any, 0, len(ids))
	seen := make(map[account.ID]bool, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			keys = append(keys, id)
		}
	}
	found := make(map[account.ID]Person, len(keys))
	err := people(tx, r, "a.id", keys, func(p Person) { found[p.ID] = p })
	return found, err
}

// Administrators returns up to most users who administer a repository: its owner, the owners of its
// organization, and users with that role. It leaves out site administrators.
func Administrators(tx *db.Tx, r *Repo, most int) (list []account.ID, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var id account.ID
		err := row.Scan(&id)
		list = append(list, id)
		return err
	}, `SELECT user_id FROM (SELECT id AS user_id FROM accounts WHERE id = $1 AND kind = $3
			UNION SELECT user_id FROM members WHERE org_id = $1 AND owner = TRUE
			UNION SELECT g.user_id FROM (`+GrantedPeople("$2")+`) g
				WHERE `+GrantedRole("$2", "g.user_id")+` >= $4) people ORDER BY user_id LIMIT $5`,
		r.OwnerID, r.ID, account.User, account.Admin, most)
	return list, err
}

func people(tx *db.Tx, r *Repo, column string, keys []any, found func(Person)) error {
	if len(keys) == 0 {
		return nil
	}
	query, args := selectPeople(r, column, keys)
	return db.QueryEach(tx, func(row db.Scanner) error {
		var p Person
		var kind int64
		var siteAdmin bool
		var public *bool
		var at Roles
		if err := row.Scan(&p.ID, &p.Login, &kind, &siteAdmin, &at.Owner, &public, &at.Granted,
			&p.Collaborator); err != nil {
			return err
		}
		p.Kind = account.Kind(kind)
		p.Role = at.Role(&account.Caller{ID: p.ID, SiteAdmin: siteAdmin}, r)
		p.Member, p.Public = at.Owner != nil, public != nil && *public
		found(p)
		return nil
	}, query, args...)
}

func selectPeople(r *Repo, column string, keys []any) (query string, args []any) {
	return `SELECT a.id, a.login, a.kind, a.site_admin, m.owner, m.public, ` + GrantedRole("$2", "a.id") + `,
		c.role IS NOT NULL FROM accounts a
		LEFT JOIN members m ON m.org_id = $1 AND m.user_id = a.id
		LEFT JOIN collaborators c ON c.repo_id = $2 AND c.user_id = a.id
		WHERE ` + column + ` IN ` + db.ValuesFrom(3, 1, len(keys)), append([]any{r.OwnerID, r.ID}, keys...)
}

// Belongs means that a user is a member of an organization, or a collaborator of a repository, with the id
// To.
type Belongs[ID ~int64] struct {
	To     ID
	User   account.ID
	Public bool // a public member
}

// Belonging returns which of the users are members of the organizations that own the repositories, and
// which are collaborators, in two queries.
func Belonging(tx *db.Tx, repos []*Access, users []account.ID) (
	members []Belongs[account.ID], collaborators []Belongs[ID], err error,
) {
	if len(repos) == 0 || len(users) == 0 {
		return nil, nil, nil
	}
	ids, owners := placesOf(repos)
	collaborators, err = belonging[ID](tx, collaborations, ids, users)
	if err == nil && len(owners) > 0 {
		members, err = belonging[account.ID](tx, memberships, owners, users)
	}
	return members, collaborators, err
}

const (
	collaborations = `SELECT repo_id, user_id, TRUE FROM collaborators WHERE repo_id IN `
	memberships    = `SELECT org_id, user_id, public FROM members WHERE org_id IN `
)

func selectBelonging[ID ~int64](query string, ids []ID, users []any) (string, []any) {
	return query + db.Values(1, len(ids)) + ` AND user_id IN ` + db.ValuesFrom(len(ids)+1, 1, len(users)),
		append(db.Args(ids), users...)
}

// placesOf returns the ids of the repositories and of the organizations that own them.
func placesOf(repos []*Access) (ids []ID, owners []account.ID) {
	seen := map[account.ID]bool{}
	for _, a := range repos {
		ids = append(ids, a.ID)
		if a.Owner.Kind == account.Organization && !seen[a.OwnerID] {
			seen[a.OwnerID] = true
			owners = append(owners, a.OwnerID)
		}
	}
	return ids, owners
}

// belonging returns the pairs of an id and a user that are rows of a table.
func belonging[ID ~int64](
	tx *db.Tx, query string, ids []ID, users []account.ID,
) (list []Belongs[ID], err error) {
	query, args := selectBelonging(query, ids, db.Args(db.Unique(users)))
	return db.QueryList(tx, func(row db.Scanner) (b Belongs[ID], err error) {
		err = row.Scan(&b.To, &b.User, &b.Public)
		return b, err
	}, query, args...)
}
