package repo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// ByIDs reads those of the repositories that are visible to the caller, in one query. Ids may repeat;
// missing and invisible ones are not in the map.
func ByIDs(tx *db.Tx, caller *account.Caller, ids []ID) (map[ID]*Access, error) {
	list, err := InOrder(tx, caller, ids)
	found := make(map[ID]*Access, len(list))
	for _, a := range list {
		if a.Role >= account.Pull {
			found[a.ID] = a
		}
	}
	return found, err
}

// eachPage is how many repositories Each reads in one query.
const eachPage = 500

// Each calls fn for all repositories by id, or for those of one owner. It is for the operator.
func (s *Service) Each(ctx context.Context, ownerID account.ID, fn func(*Repo) error) error {
	operator := &account.Caller{SiteAdmin: true}
	for since := ID(0); ; {
		list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*Access, error) {
			return Query(tx, operator, `WHERE r.id > $2 AND (CAST($3 AS BIGINT) = 0
				OR r.owner_id = CAST($3 AS BIGINT))
				ORDER BY r.id LIMIT $4`, since, ownerID, eachPage)
		})
		if err != nil {
			return err
		}
		for _, a := range list {
			since = a.ID
			if err := fn(a.Repo); err != nil {
				return err
			}
		}
		if len(list) < eachPage {
			return nil
		}
	}
}

// InOrder reads existing repositories in the order of their ids.
func InOrder(tx *db.Tx, caller *account.Caller, ids []ID) ([]*Access, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := byIDs(tx, caller, ids)
	return inOrder(found, ids), err
}

// inOrder sorts the repositories in the order of ids.
func inOrder(list []*Access, ids []ID) []*Access {
	byID := make(map[ID]*Access, len(list))
	for _, a := range list {
		byID[a.ID] = a
	}
	out := make([]*Access, 0, len(ids))
	for _, id := range ids {
		if a := byID[id]; a != nil {
			out = append(out, a)
		}
	}
	return out
}

// VisibleNamed reads those of the repositories OWNER/NAME that are visible to the caller, in one query. It
// does not follow former names.
func VisibleNamed(tx *db.Tx, caller *account.Caller, names []string) ([]*Access, error) {
	var where []string
	var args []any
	seen := map[string]bool{}
	for _, full := range names {
		full = account.Fold(full)
		owner, name, ok := strings.Cut(full, "/")
		if !ok || seen[full] {
			continue
		}
		seen[full] = true
		where = append(where, fmt.Sprintf("(o.login_folded = $%d AND r.name_folded = $%d)", len(args)+2,
			len(args)+3))
		args = append(args, owner, name)
	}
	if len(where) == 0 {
		return nil, nil
	}
	list, err := Query(tx, caller, ` WHERE `+strings.Join(where, " OR "), args...)
	return slices.DeleteFunc(list, func(a *Access) bool { return a.Role < account.Pull }), err
}

// VisibleByID reads those of the repositories that are visible to the caller, in one query.
func VisibleByID(tx *db.Tx, caller *account.Caller, ids []ID) ([]*Access, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := byIDs(tx, caller, ids)
	return slices.DeleteFunc(list, func(a *Access) bool { return a.Role < account.Pull }), err
}

// Accesses reads repositories in one query, by id. The same transaction must have found them to be visible
// to the caller, which may be nil.
func Accesses(tx *db.Tx, caller *account.Caller, ids []ID) ([]*Access, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := byIDs(tx, caller, ids)
	slices.SortFunc(list, func(a, b *Access) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

// FindByID reads a repository by id. Error: 404, as for Find.
func (s *Service) FindByID(ctx context.Context, caller *account.Caller, id ID) (a *Access, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Access, error) { return onlyVisible(ByID(tx, caller, id)) })
}

// FindAll is Find for several repositories OWNER/NAME, with two statements, and two more for former names.
// Repositories that do not exist or that the caller cannot see are missing from the map.
func (s *Service) FindAll(
	ctx context.Context, caller *account.Caller, names []string,
) (map[string]*Access, error) {
	found := make(map[string]*Access, len(names))
	if len(names) == 1 {
		owner, name, _ := strings.Cut(names[0], "/")
		a, err := s.Find(ctx, caller, owner, name)
		if err == nil {
			found[names[0]] = &a.Access
		} else if !errs.Is(err, errs.NotFound) {
			return nil, err
		}
		return found, nil
	}
	named, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[string]*Access, error) {
		return visibleByNames(tx, caller, names)
	})
	for _, full := range names {
		if a := named[account.Fold(full)]; a != nil {
			found[full] = a
		}
	}
	return found, err
}

// visibleByNames finds the repositories that have names, or had them, and that are visible to the caller, by folded
// names.
func visibleByNames(tx *db.Tx, caller *account.Caller, names []string) (map[string]*Access, error) {
	named := map[string]*Access{}
	list, err := VisibleNamed(tx, caller, names)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		named[account.Fold(a.FullName())] = a
	}
	var rest []string
	for _, full := range names {
		if full = account.Fold(full); named[full] == nil && strings.Contains(full, "/") && !slices.Contains(rest, full) {
			rest = append(rest, full)
		}
	}
	former, err := byFormerNames(tx, rest)
	if err != nil {
		return nil, err
	}
	// Without a former name the statement runs as well, on no repository (decision 13).
	repos, err := ByIDs(tx, caller, append(slices.Collect(maps.Values(former)), 0))
	for full, id := range former {
		if a := repos[id]; a != nil {
			named[full] = a
		}
	}
	return named, err
}

// Count counts the results of Query.
func Count(tx *db.Tx, caller *account.Caller, where string, args ...any) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*)`+accessFrom+where,
		append([]any{account.IDOf(caller)}, args...)...).Scan(&n)
	return n, err
}

// NamesOf returns OWNER/NAME of those of the repositories that are visible to the caller, in one query.
func (s *Service) NamesOf(ctx context.Context, caller *account.Caller, ids []ID) (map[ID]string, error) {
	names := map[ID]string{}
	if len(ids) == 0 {
		return names, nil
	}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := ByIDs(tx, caller, ids)
		for id, a := range found {
			names[id] = a.FullName()
		}
		return err
	})
	return names, err
}
