package account

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/web"
)

// OrgRole reports whether the user belongs to the organization, and owns it.
func OrgRole(tx *db.Tx, orgID, userID ID) (member, owner bool, err error) {
	err = tx.QueryRow(`SELECT owner FROM members WHERE org_id = $1 AND user_id = $2`,
		orgID, userID).Scan(&owner)
	if errors.Is(err, db.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, owner, err
}

// membersOf returns those of the organizations that the caller is a member of.
func membersOf(tx *db.Tx, caller *Caller, orgs []ID) (map[ID]bool, error) {
	found := map[ID]bool{}
	return found, eachMembership(tx, caller, orgs, func(id ID, _ bool) { found[id] = true })
}

// eachMembership calls each with those of the organizations that the caller is a member of.
func eachMembership(tx *db.Tx, caller *Caller, orgs []ID, each func(org ID, owner bool)) error {
	return db.QueryEach(tx, func(row db.Scanner) error {
		var id ID
		var owner bool
		err := row.Scan(&id, &owner)
		each(id, owner)
		return err
	}, `SELECT org_id, owner FROM members WHERE user_id = $1 AND org_id IN `+db.ValuesFrom(2, 1, len(orgs))+
		caller.AndOpen("members.org_id"),
		db.Args(orgs, caller.ID)...)
}

// Membership is one user's place in one organization.
type Membership struct {
	Org    *Account
	User   *Account
	Owner  bool
	Public bool // everyone may see it

	Pending bool // an invitation that is open
}

// memberOf finds a membership. Errors: errs.Absent when there is none.
func memberOf(tx *db.Tx, org, user *Account) (*Membership, error) {
	m := &Membership{Org: org, User: user}
	err := tx.QueryRow(`SELECT owner, public FROM members WHERE org_id = $1 AND user_id = $2`,
		org.ID, user.ID).
		Scan(&m.Owner, &m.Public)
	return m, OrAbsent(err)
}

// putMember adds the user as a member or an owner, or turns an owner into a member.
func putMember(tx *db.Tx, orgID, userID ID, owner bool) error {
	_, err := tx.Exec(`INSERT INTO members (org_id, user_id, owner, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, user_id) DO UPDATE SET owner = excluded.owner`, orgID, userID, owner, tx.Now)
	if err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// deleteMember ends a membership, also in the organization's teams.
func deleteMember(tx *db.Tx, orgID, userID ID) error {
	if err := tx.Run(`DELETE FROM team_members WHERE user_id = $1
		AND team_id IN (SELECT id FROM teams WHERE org_id = $2)`, userID, orgID); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM members WHERE org_id = $1 AND user_id = $2`,
		orgID, userID); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

func setPublic(tx *db.Tx, orgID, userID ID, public bool) error {
	_, err := tx.Exec(`UPDATE members SET public = $3 WHERE org_id = $1 AND user_id = $2`,
		orgID, userID, public)
	if err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// anotherOwner reports whether the organization has an owner other than the user.
func anotherOwner(tx *db.Tx, orgID, userID ID) (bool, error) {
	var id ID
	err := tx.QueryRow(`SELECT user_id FROM members WHERE org_id = $1 AND owner = TRUE AND user_id <> $2 LIMIT 1`,
		orgID, userID).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// memberFilter chooses among the members of an organization. It is also the key
// under which their number is kept, so it holds all that the choice depends on.
type memberFilter struct {
	Org        ID
	Role       string // "admin", "member", or "all"
	PublicOnly bool
	NoFactor   bool // those without a second factor
}

func (f memberFilter) where() string {
	where := ` FROM members WHERE org_id = $1`
	if f.NoFactor {
		where += ` AND ` + NoFactor("members.user_id")
	}
	switch f.Role {
	case "admin":
		where += ` AND owner = TRUE`
	case "member":
		where += ` AND owner = FALSE`
	}
	if f.PublicOnly {
		where += ` AND public = TRUE`
	}
	return where
}

// members lists one page of an organization's members by id. Their Org is left for the caller to set.
func members(tx *db.Tx, f memberFilter, p web.Page) ([]*Membership, error) {
	return memberships(tx, "user_id", func(m *Membership, a *Account) { m.User = a }, f.where(), f.Org, p)
}

// memberships lists one page of memberships in the order of their other side, whose id is in column, and gives it to
// set. The page is found in an index before any account is fetched.
func memberships(tx *db.Tx, column string, set func(*Membership, *Account), where string, of ID, p web.Page,
) ([]*Membership, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Membership, error) {
		var m Membership
		other, err := scanAccount(row, &m.Owner, &m.Public)
		set(&m, other)
		return &m, err
	}, `SELECT `+accountColumns+`, m.owner, m.public FROM (SELECT `+column+`, owner, public`+where+
		` ORDER BY `+column+` LIMIT $2 OFFSET $3) m JOIN accounts a ON a.id = m.`+column+` ORDER BY a.id`,
		of, p.Size, p.Offset())
}

// membersOfEach reads a page of the members of each organization by id: the public ones of those that the caller is
// not in. The number of a row is 1 for owners.
func membersOfEach(
	tx *db.Tx, orgs []ID, may map[ID]OrgAccess, p web.Page,
) (map[ID]*db.ListPage[ID], error) {
	return db.PageOfEach[ID, ID](tx, orgs, db.Lists[ID]{Columns: `user_id, CASE WHEN owner THEN 1 ELSE 0 END`,
		Order: `user_id`, From: func(id ID, param string) string {
			from := `FROM members WHERE org_id = ` + param
			if !may[id].Member {
				from += ` AND public = TRUE`
			}
			return from
		}}, p.Offset(), p.Size)
}

// seenMembers returns those of the users who are members of an organization, or public ones alone.
func seenMembers(tx *db.Tx, org ID, users []ID, publicOnly bool) (map[ID]bool, error) {
	found, public := map[ID]bool{}, ``
	if publicOnly {
		public = ` AND public = TRUE`
	}
	return found, db.InParts(users, func(part []ID) error {
		ids, err := db.QueryIDs[ID](tx, `SELECT user_id FROM members WHERE org_id = $1`+public+`
			AND user_id IN `+db.ValuesFrom(2, 1, len(part)), db.Args(part, org)...)
		for _, id := range ids {
			found[id] = true
		}
		return err
	})
}

func countMembers(tx *db.Tx, f memberFilter) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*)`+f.where(), f.Org).Scan(&n)
	return n, err
}

// orgFilter chooses among the organizations of a user; like memberFilter it is
// the key of their number.
type orgFilter struct {
	User       ID
	PublicOnly bool
	App        OAuthAppID // whose token the caller has; 0: none
}

func (f orgFilter) where() string {
	where := ` FROM members WHERE user_id = $1`
	switch {
	case f.PublicOnly:
		where += ` AND public = TRUE`
	case f.App != 0:
		where += ` AND (public = TRUE OR NOT ` + (&Caller{OAuthApp: f.App}).closed("members.org_id") + `)`
	}
	return where
}

// orgsOf lists one page of a user's memberships by the organization's id. Their User is left for the caller to
// set.
func orgsOf(tx *db.Tx, f orgFilter, p web.Page) ([]*Membership, error) {
	return memberships(tx, "org_id", func(m *Membership, a *Account) { m.Org = a }, f.where(), f.User, p)
}

// sees is the condition that the caller sees the membership of a row, and what it takes for $1.
func sees(caller *Caller) (condition string, of ID) {
	switch {
	case caller == nil || caller.HidesMembers:
		return `(public = TRUE OR user_id = $1)`, 0
	case caller.SiteAdmin:
		return `(public = TRUE OR CAST($1 AS BIGINT) <> 0` + caller.AndOpen("members.org_id") + `)`, caller.ID
	}
	return `(public = TRUE OR user_id = $1` + caller.AndOpen("members.org_id") + `)`, caller.ID
}

// orgOf is an organization of a user.
type orgOf struct{ user, org ID }

// orgsOfEach reads a page of the organizations of each user that the caller sees, by the organizations' ids.
func orgsOfEach(tx *db.Tx, caller *Caller, users []ID, p web.Page) ([]orgOf, error) {
	condition, of := sees(caller)
	parts := make([]string, len(users))
	for n := range users {
		parts[n] = fmt.Sprintf(`SELECT user_id, org_id FROM (SELECT user_id, org_id FROM members
			WHERE user_id = $%d AND %s ORDER BY org_id LIMIT $2 OFFSET $3) p%d`, n+4, condition, n)
	}
	return db.QueryList(tx, func(row db.Scanner) (one orgOf, err error) {
		err = row.Scan(&one.user, &one.org)
		return one, err
	}, `SELECT user_id, org_id FROM (`+strings.Join(parts, ` UNION ALL `)+`) p ORDER BY org_id`,
		db.Args(users, of, p.Size, p.Offset())...)
}

// countOrgsOf counts the organizations of each user that the caller sees.
func countOrgsOf(tx *db.Tx, caller *Caller, users []ID) (map[ID]int64, error) {
	condition, of := sees(caller)
	return db.QueryMap[ID, int64](tx, `SELECT user_id, count(*) FROM members WHERE user_id IN `+
		db.ValuesFrom(2, 1, len(users))+` AND `+condition+` GROUP BY user_id`, db.Args(users, of)...)
}

func countOrgs(tx *db.Tx, f orgFilter) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*)`+f.where(), f.User).Scan(&n)
	return n, err
}
