package posting

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// The ends of Between that mean unbounded.
const (
	noStart = math.MinInt64
	noBound = math.MaxInt64
)

// builder collects a statement's text and its arguments.
type builder struct {
	strings.Builder
	tx     *db.Tx
	args   []any
	scope  string    // behind IN: the repositories that names are looked up in
	repos  []repo.ID // where words are looked for; nil: everywhere
	issues bool      // a condition uses columns of issues i
}

func (b *builder) arg(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args))
}

// values adds arguments and returns the operand of IN.
func values[V any](b *builder, list []V) string {
	marks := make([]string, len(list))
	for n, v := range list {
		marks[n] = b.arg(v)
	}
	return "(" + strings.Join(marks, ",") + ")"
}

// condition returns the SQL of a tree, on postings under the name p.
func (b *builder) condition(e Expr) string {
	switch e := e.(type) {
	case And:
		return b.joined(e, " AND ", "1 = 1")
	case Or:
		if isSet(e) {
			return "p.issue_id IN (" + b.set(e) + ")"
		}
		return b.joined(e, " OR ", "1 = 0")
	case Not:
		return "NOT (" + b.condition(e.Expr) + ")"
	case Has, Named, ids:
		kind, of := b.property(e)
		value := "+x.value" // the few properties of an issue are read, not each value tried
		if has, ok := e.(Has); ok && len(has.Values) == 1 {
			value = "x.value"
		}
		return "EXISTS (SELECT 1 FROM postings x WHERE x.issue_id = p.issue_id AND x.kind = " + kind +
			" AND " + value + " IN " + of + ")"
	case InState:
		return "p.state = " + b.state(issuekit.State(e))
	case In:
		return "p.repo_id IN " + values(b, e)
	case IssuesOn:
		return "p.repo_id NOT IN (SELECT id FROM repos WHERE NOT has_issues)"
	case Between:
		return b.between(e)
	case Is:
		b.issues = true
		return [...]string{Locked: "i.locked", Draft: "i.draft"}[e]
	case CommentedBy, Text:
		return "p.issue_id IN (" + b.ids(e) + ")"
	case OfRepo, RepoIs:
		return "p.repo_id IN (SELECT r.id FROM repos r WHERE " + OnRepos(e, b.arg) + ")"
	case looked:
		return e.sql(b)
	}
	panic(fmt.Sprintf("posting: no condition: %T", e))
}

// joined puts the conditions of an And or an Or together.
func (b *builder) joined(list []Expr, with, empty string) string {
	parts := make([]string, len(list))
	for n, e := range list {
		parts[n] = b.condition(e)
	}
	if len(parts) == 0 {
		return empty
	}
	return "(" + strings.Join(parts, with) + ")"
}

// isSet reports whether the tree is an Or whose conditions each have a SELECT of their issues.
func isSet(e Or) bool {
	return len(e) > 0 && !slices.ContainsFunc(e, func(e Expr) bool {
		switch e.(type) {
		case Has, Named, ids, CommentedBy, Text:
			return false
		}
		return true
	})
}

// set returns a SELECT of the issues that meet such an Or.
func (b *builder) set(e Or) string {
	var parts []string
	for _, e := range e {
		parts = append(parts, b.ids(e))
	}
	return strings.Join(parts, " UNION ALL ")
}

// ids returns a SELECT of the issues that meet a condition.
func (b *builder) ids(e Expr) string {
	switch e := e.(type) {
	case CommentedBy:
		return "SELECT issue_id FROM issue_comments WHERE author_id = " + b.arg(account.ID(e))
	case Text:
		return "SELECT issue_id FROM (" + b.words(e) + ") t"
	default:
		kind, of := b.property(e)
		return "SELECT issue_id FROM postings WHERE kind = " + kind + " AND value IN " + of
	}
}

// words returns a SELECT of issue_id and score.
func (b *builder) words(e Text) string {
	f := fulltext.Find{Terms: e.Terms, Any: e.Any, In: e.In}
	for _, id := range b.repos { // the index knows no repositories, but their numbers
		f.Repos = append(f.Repos, int64(id))
	}
	return f.SQL(b.tx, b.arg)
}

// property returns the kind of a property, and its values as the operand of IN.
func (b *builder) property(e Expr) (kind, of string) {
	switch e := e.(type) {
	case Has:
		return b.kind(e.Kind), values(b, e.Values)
	case ids:
		var all []int64
		for _, list := range e.byRepo {
			all = append(all, list...)
		}
		return b.kind(e.kind), values(b, append(all, unused))
	case Named:
		return b.kind(e.Kind), "(SELECT l.id" + b.named(e) + ")"
	}
	panic(fmt.Sprintf("posting: no property: %T", e))
}

// named returns the rest of a SELECT for the labels or milestones, under the
// name l, that have one of the names.
func (b *builder) named(e Named) string {
	table, column := "labels", "l.name_folded"
	if e.Kind == ByMilestone { // only ASCII letters are folded there, as both engines do
		table, column = "milestones", "lower(l.title)"
	}
	return " FROM " + table + " l WHERE " + column + " IN " + values(b, e.Names) +
		" AND l.repo_id IN " + b.scope
}

// unused is an id that no row has, for an empty list: IN needs at least one value.
const unused = -2

func (b *builder) kind(k Kind) string { return fmt.Sprint(int64(k)) }

// state, value and limit are arguments in expressions: SQLite plans a statement
// again when a bare parameter that it compares changes to or from 0 or 1, and
// when a limit changes.
func (b *builder) state(s issuekit.State) string {
	return "CAST(" + b.arg(int64(s)) + " AS SMALLINT)"
}

func (b *builder) value(n int64) string { return "CAST(" + b.arg(n) + " AS BIGINT)" }

func (b *builder) between(e Between) string {
	column := [...]string{UpdatedAt: "(p.updated_at + 0)", CommentCount: "(p.comments + 0)",
		CreatedAt: "i.created_at", ClosedAt: "i.closed_at", MergedAt: "i.merged_at"}[e.Field]
	b.issues = b.issues || column[0] == 'i'
	all := []string{column + " IS NOT NULL"}
	if e.From != noStart {
		all = append(all, column+" >= "+b.arg(e.From))
	}
	if e.To != noBound {
		all = append(all, column+" < "+b.arg(e.To))
	}
	return "(" + strings.Join(all, " AND ") + ")"
}
