package posting

import (
	"strings"

	"arbor/internal/db"
)

// OnRepos returns the SQL of a condition on repositories, as Split returns it, on repos under the name r. arg
// adds an argument and returns its placeholder.
func OnRepos(e Expr, arg func(v any) string) string {
	join := func(list []Expr, with, empty string) string {
		parts := make([]string, len(list))
		for n, e := range list {
			parts[n] = OnRepos(e, arg)
		}
		if len(parts) == 0 {
			return empty
		}
		return "(" + strings.Join(parts, with) + ")"
	}
	switch e := e.(type) {
	case And:
		return join(e, " AND ", "1 = 1")
	case Or:
		return join(e, " OR ", "1 = 0")
	case Not:
		return "NOT " + OnRepos(e.Expr, arg)
	case RepoIs:
		return [...]string{Private: "r.private", Archived: "r.archived"}[e]
	case OfRepo:
		var parts []string
		if len(e.Repos) > 0 {
			parts = append(parts, "r.id IN "+listed(e.Repos, arg))
		}
		if len(e.Owners) > 0 {
			parts = append(parts, "r.owner_id IN "+listed(e.Owners, arg))
		}
		if len(parts) == 0 {
			return "1 = 0"
		}
		return "(" + strings.Join(parts, " OR ") + ")"
	}
	panic("posting: no condition on repositories")
}

// listed returns the list of ids for IN.
func listed[ID ~int64](ids []ID, arg func(v any) string) string {
	marks := make([]string, 0, len(ids))
	for _, id := range db.Unique(ids) {
		marks = append(marks, arg(id))
	}
	return "(" + strings.Join(marks, ",") + ")"
}
