package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// Scope selects the repositories of a list of several repositories (decision 14).
type Scope struct {
	Caller        *account.Caller // to whom they must be visible; never nil
	Own           bool            // that the caller owns or collaborates on
	Organizations bool            // of organizations that the caller belongs to
	OwnerID       account.ID      // of this account; 0: none
}

// Scoped is a repository in a Scope, before a page of the list is known.
type Scoped struct {
	ID        ID
	HasIssues bool
}

// InScope reads the repositories that the scope selects and that are visible to its caller, by id.
func InScope(tx *db.Tx, s Scope) ([]Scoped, error) {
	from, args := s.from()
	return db.QueryList(tx, func(row db.Scanner) (r Scoped, err error) {
		err = row.Scan(&r.ID, &r.HasIssues)
		return r, err
	}, `SELECT r.id, r.has_issues`+from+` ORDER BY r.id`, args...)
}

// IDs returns a SELECT of the ids of the same repositories, and its arguments.
func (s Scope) IDs() (query string, args []any) {
	from, args := s.from()
	return `SELECT r.id` + from, args
}

// from returns the FROM and WHERE clauses for the repositories r.
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

// AccessForHooks returns the access for rendering webhook payloads: push access to the repository, and
// otherwise only public access. Error: 404 if it was deleted, or is withdrawn from its own owner.
func AccessForHooks(tx *db.Tx, id ID) (*Access, error) {
	r, err := ByID(tx, nil, id)
	if err != nil {
		return nil, err
	}
	return onlyVisible(ByID(tx, account.ViewerOf(&r.Owner, int64(id)), id))
}
