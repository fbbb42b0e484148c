package repo

import (
	"strconv"

	"arbor/internal/db"
)

// Of is a thing of a repository: the caller's access to the repository, and the key that names the thing
// there, as a number or a SHA. Loaders take many of them, of one caller, and need as many statements for
// one repository as for several.
type Of[K comparable] struct {
	In  *Access
	Key K
}

// AllOf returns things of one repository.
func AllOf[K comparable](a *Access, keys []K) []Of[K] {
	list := make([]Of[K], len(keys))
	for n, key := range keys {
		list[n] = Of[K]{a, key}
	}
	return list
}

// Keys returns the keys of things.
func Keys[K comparable](list []Of[K]) []K {
	keys := make([]K, len(list))
	for n, of := range list {
		keys[n] = of.Key
	}
	return keys
}

// In returns the accesses of things by repository.
func In[K comparable](list []Of[K]) map[ID]*Access {
	in := map[ID]*Access{}
	for _, of := range list {
		in[of.In.ID] = of.In
	}
	return in
}

// InList returns accesses by repository.
func InList(list []*Access) map[ID]*Access {
	in := make(map[ID]*Access, len(list))
	for _, a := range list {
		in[a.ID] = a
	}
	return in
}

// IDsOf returns the ids of repositories.
func IDsOf(list []*Access) []ID {
	ids := make([]ID, len(list))
	for n, a := range list {
		ids[n] = a.ID
	}
	return ids
}

// AccessesOf returns the accesses of things in their order.
func AccessesOf[K comparable](list []Of[K]) []*Access {
	accesses := make([]*Access, len(list))
	for n, of := range list {
		accesses[n] = of.In
	}
	return accesses
}

// ByAccess returns the keys of things by repository, in their order.
func ByAccess[K comparable](list []Of[K]) map[*Access][]K {
	keys := map[*Access][]K{}
	for _, of := range list {
		keys[of.In] = append(keys[of.In], of.Key)
	}
	return keys
}

// Pairs returns the table v (repo, key) of things, each once, as the beginning of a statement, and its
// arguments, which follow those before it. kind is the SQL type of keys. The list is not empty.
func Pairs[K comparable](list []Of[K], kind string, before ...any) (with string, args []any) {
	args = before
	first, rows, seen := len(before)+1, 0, map[Of[K]]bool{}
	for _, of := range list {
		if !seen[of] {
			seen[of], rows, args = true, rows+1, append(args, of.In.ID, of.Key)
		}
	}
	with = `WITH v (repo, key) AS (VALUES (CAST($` + strconv.Itoa(first) + ` AS BIGINT), CAST($` + strconv.Itoa(first+1) +
		` AS ` + kind + `))`
	if rows > 1 {
		with += `,` + db.ValuesFrom(first+2, rows-1, 2)
	}
	return with + `) `, args
}
