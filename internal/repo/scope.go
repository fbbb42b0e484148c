package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// Scope chooses the repositories of a list that spans many (decision 14).
type Scope struct {
	Caller        *account.Caller // who must see them; never nil
	Own           bool            // those that the caller owns or collaborates on
	Organizations bool            // those of the organizations that the caller belongs to
	OwnerID       account.ID      // those of this account; 0: of none
}

// Scoped is a repository as lists across many need it before they know their
// page.
type Scoped struct {
	ID        ID
	HasIssues bool
}

// InScope reads which repositories the scope chooses, as far as its caller may
// see them, by id.
func InScope(tx *db.Tx, s Scope) ([]Scoped, error) {
	from, args := s.from()
	return db.QueryList(tx, func(row db.Scanner) (r Scoped, err error) {
		err = row.Scan(&r.ID, &r.HasIssues)
		return r, err
	}, `SELECT r.id, r.has_issues`+from+` ORDER BY r.id`, args...)
}

// IDs is a SELECT of the ids of the same repositories, and its arguments.
func (s Scope) IDs() (query string, args []any) {
	from, args := s.from()
	return `SELECT r.id` + from, args
}

// from returns the rest of a SELECT for the repositories r: FROM and all that follows.
func (s Scope) from() (query string, args []any) {
	from := ""
	add := func(part string) {
		if from != "" {
			from += " UNION "
		}
		from += part
	}
	args = []any{s.Caller.ID}
	if s.Own {
		add(`SELECT id FROM repos WHERE owner_id = $1 UNION SELECT repo_id FROM collaborators WHERE user_id = $1`)
	}
	if s.Organizations {
		add(`SELECT x.id FROM members y JOIN repos x ON x.owner_id = y.org_id WHERE y.user_id = $1`)
	}
	if s.OwnerID != 0 {
		args = append(args, s.OwnerID)
		add(`SELECT id FROM repos WHERE owner_id = $2`)
	}
	return accessFrom + `WHERE r.id IN (` + from + `) AND ` + Visible(s.Caller), args
}

// AccessForHooks returns the access with which payloads of webhooks are rendered: that of a caller with push access
// to the repository, and otherwise only public access. Error: 404 if it is gone, or withdrawn
// from its own owner.
func AccessForHooks(tx *db.Tx, id ID) (*Access, error) {
	r, err := ByID(tx, nil, id)
	if err != nil {
		return nil, err
	}
	return onlyVisible(ByID(tx, account.ViewerOf(&r.Owner, int64(id)), id))
}
