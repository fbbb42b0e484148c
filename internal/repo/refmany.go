package repo

import (
	"context"
	"slices"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/git"
)

// maxRefsTogether is the number of refs of several repositories that one statement reads.
const maxRefsTogether = 20_000

// LoadRefs reads the refs of several repositories into the cache with one statement, for calls of Refs that
// follow. Where there are too many refs, Refs reads those of the last repositories itself.
func (s *Service) LoadRefs(ctx context.Context, list []*Access) error {
	missing := map[ID]*Access{}
	for _, a := range list {
		key := refsKey{a.ID, asStranger(a) != ""}
		if _, cached := s.refs.Get(cache.Generations(a.RefsGeneration), key); !cached {
			missing[a.ID] = a
		}
	}
	if len(missing) < 2 {
		return nil
	}
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[ID]git.Refs, error) {
		return readRefsOf(tx, missing)
	})
	for id, refs := range found {
		a := missing[id]
		s.refs.Put(cache.Generations(a.RefsGeneration), refsKey{id, asStranger(a) != ""}, refs)
	}
	return err
}

// readRefsOf reads the refs of repositories in the order of their names, as ReadRefs does. It omits
// repositories that are no longer visible, and those of which it did not read all refs.
func readRefsOf(tx *db.Tx, in map[ID]*Access) (map[ID]git.Refs, error) {
	var ids []ID
	for id := range in {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	found, rows, last := map[ID]git.Refs{}, 0, ID(0)
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var private bool
		var head, name, sha, peeled string
		var generation int64
		if err := row.Scan(&last, &private, &head, &generation, &name, &sha, &peeled); err != nil {
			return err
		}
		rows++
		if private && asStranger(in[last]) != "" {
			return nil
		}
		refs := found[last]
		refs.Head, refs.Generation = git.Heads+head, generation
		if name != "" { // else it has no refs
			refs.List = append(refs.List, git.Ref{Name: name, SHA: git.SHA(sha), Peeled: git.SHA(peeled)})
		}
		found[last] = refs
		return nil
	}, `SELECT r.id, r.private, r.default_branch, r.refs_generation, COALESCE(f.name, ''), COALESCE(f.sha, ''),
		COALESCE(f.peeled, '') FROM repos r LEFT JOIN refs f ON f.repo_id = r.id
		WHERE r.id IN `+db.ValuesFrom(2, 1, len(ids))+` ORDER BY r.id, f.name LIMIT $1`,
		db.Args(ids, maxRefsTogether)...)
	if rows == maxRefsTogether {
		delete(found, last)
	}
	return found, err
}

// RefsAt returns the current objects of refs by their full names, with one statement. It omits refs that do
// not exist and those of repositories that are no longer visible.
func (s *Service) RefsAt(ctx context.Context, names []Of[string]) (map[Of[string]]git.SHA, error) {
	found, in := map[Of[string]]git.SHA{}, In(names)
	err := db.InParts(names, func(part []Of[string]) error {
		with, args := Pairs(part, "TEXT")
		return s.db.Read(ctx, func(tx *db.Tx) error {
			return db.QueryEach(tx, func(row db.Scanner) error {
				var id ID
				var private bool
				var name string
				var sha git.SHA
				err := row.Scan(&id, &private, &name, &sha)
				if err == nil && (!private || asStranger(in[id]) == "") {
					found[Of[string]{in[id], name}] = sha
				}
				return err
			}, with+`SELECT r.id, r.private, f.name, f.sha FROM v JOIN refs f ON f.repo_id = v.repo AND f.name = v.key
				JOIN repos r ON r.id = v.repo`, args...)
		})
	})
	return found, err
}

// DefaultTips returns the tips of the default branches of repositories, with one statement.
func DefaultTips(tx *db.Tx, ids []ID) (map[ID]git.SHA, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryMap[ID, git.SHA](tx, `SELECT r.id, f.sha FROM repos r
		JOIN refs f ON f.repo_id = r.id AND f.name = 'refs/heads/' || r.default_branch
		WHERE r.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}
