package posting

import (
	"slices"

	"arbor/internal/repo"
)

// isTrue reports a condition that always holds: an And without conditions.
func isTrue(e Expr) bool {
	all, ok := e.(And)
	return ok && len(all) == 0
}

// IsFalse reports a condition that never holds: an Or without conditions.
func IsFalse(e Expr) bool {
	alternatives, ok := e.(Or)
	return ok && len(alternatives) == 0
}

func constant(holds bool) Expr {
	if holds {
		return And{}
	}
	return Or{}
}

// simplify drops constants, and And in And, Or in Or, Not in Not. leaf may replace
// a condition that is none of these three.
func simplify(e Expr, leaf func(Expr) Expr) Expr {
	switch e := e.(type) {
	case And:
		return flatten(e, leaf, isTrue, IsFalse, func(e Expr) []Expr { list, _ := e.(And); return list },
			func(list []Expr) Expr { return And(list) })
	case Or:
		return flatten(e, leaf, IsFalse, isTrue, func(e Expr) []Expr { list, _ := e.(Or); return list },
			func(list []Expr) Expr { return Or(list) })
	case Not:
		switch in := simplify(e.Expr, leaf).(type) {
		case Not:
			return in.Expr
		default:
			if isTrue(in) || IsFalse(in) {
				return constant(IsFalse(in))
			}
			return Not{in}
		}
	case Has:
		switch {
		case len(e.Values) == 0:
			return Or{}
		case e.Kind == ByAll:
			return And{}
		}
	}
	return leaf(e)
}

// flatten simplifies the conditions of an And or an Or: those that empty reports
// go, one that ends reports decides all.
func flatten(list []Expr, leaf func(Expr) Expr, empty, ends func(Expr) bool,
	inner func(Expr) []Expr, all func([]Expr) Expr) Expr {
	var out []Expr
	for _, e := range list {
		e = simplify(e, leaf)
		switch {
		case ends(e):
			return e
		case empty(e):
		case inner(e) != nil:
			out = append(out, inner(e)...)
		default:
			out = append(out, e)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return all(out)
}

// InRepo returns the tree for the issues of one repository, without conditions on repositories.
func InRepo(e Expr, r Repo) Expr {
	return simplify(e, func(e Expr) Expr {
		switch e := e.(type) {
		case In:
			return constant(slices.Contains(e, r.ID))
		case IssuesOn:
			return constant(!r.IssuesOff)
		case OfRepo:
			return constant(slices.Contains(e.Repos, r.ID) || slices.Contains(e.Owners, r.Owner))
		case RepoIs:
			return constant(e == Private && r.Private || e == Archived && r.Archived)
		case ids:
			if len(e.byRepo[r.ID]) == 0 {
				return Or{}
			}
			return Has{e.kind, e.byRepo[r.ID]}
		}
		return e
	})
}

// Split splits a tree: scope is a condition only on repositories that is implied by the tree, and rest is
// the tree without the parts that scope implies.
func Split(e Expr) (scope, rest Expr) {
	e = simplify(e, func(e Expr) Expr { return e })
	var keep And
	for _, c := range conjuncts(e) {
		if !onlyRepos(c) {
			keep = append(keep, c)
		}
	}
	return repos(e), simplify(keep, func(e Expr) Expr { return e })
}

// onlyRepos reports whether the tree has conditions only on repositories.
func onlyRepos(e Expr) bool {
	switch e := e.(type) {
	case And:
		return !slices.ContainsFunc(e, func(e Expr) bool { return !onlyRepos(e) })
	case Or:
		return len(e) > 0 && !slices.ContainsFunc(e, func(e Expr) bool { return !onlyRepos(e) })
	case Not:
		return onlyRepos(e.Expr)
	case OfRepo, RepoIs:
		return true
	}
	return false
}

// repos returns the condition on repositories that a tree implies.
func repos(e Expr) Expr {
	switch e := e.(type) {
	case And:
		var all And
		for _, e := range e {
			all = append(all, repos(e))
		}
		return simplify(all, func(e Expr) Expr { return e })
	case Or:
		var alternatives Or
		for _, e := range e {
			alternatives = append(alternatives, repos(e))
		}
		return simplify(alternatives, func(e Expr) Expr { return e })
	}
	if onlyRepos(e) {
		return e
	}
	return And{}
}

// conjuncts are the conditions that all must hold.
func conjuncts(e Expr) []Expr {
	if all, ok := e.(And); ok {
		return all
	}
	return []Expr{e}
}

// ids is a Named whose names were looked up in the repositories of the query.
type ids struct {
	kind   Kind
	byRepo map[repo.ID][]int64
}

func (ids) condition() {}
