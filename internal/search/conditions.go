package search

import (
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/repo"
)

// Conditions collects the SQL of a search whose terms all must hold. $1 is the caller's id.
type Conditions struct {
	Tx     *db.Tx
	Caller *account.Caller
	Args   []any
	Where  []string
	any    map[string][]string // by name: one of each name's conditions must hold
}

// NewConditions begins with the caller.
func NewConditions(tx *db.Tx, caller *account.Caller) *Conditions {
	return &Conditions{Tx: tx, Caller: caller, Args: []any{account.IDOf(caller)}, any: map[string][]string{}}
}

// Arg adds an argument and returns its placeholder.
func (c *Conditions) Arg(v any) string {
	c.Args = append(c.Args, v)
	return fmt.Sprintf("$%d", len(c.Args))
}

// All adds a condition that must hold, or must not.
func (c *Conditions) All(t *Term, condition string) {
	if t.Not {
		condition = "NOT (" + condition + ")"
	}
	c.Where = append(c.Where, condition)
}

// OneOf adds a condition: one of its group must hold, or it must not hold.
func (c *Conditions) OneOf(group string, t *Term, condition string) {
	if t.Not {
		c.All(t, condition)
		return
	}
	c.any[group] = append(c.any[group], condition)
}

// Flag reads true and false, and adds the condition or its opposite; false for another value.
func (c *Conditions) Flag(t *Term, condition string) bool {
	is := map[string]bool{"true": true, "false": false}
	yes, known := is[strings.ToLower(t.Value)]
	c.All(&Term{Not: yes == t.Not}, condition)
	return known
}

// Span adds the condition that an expression lies in the span of a term, which read reads.
func (c *Conditions) Span(t *Term, expression string, read func(string) (Span, bool)) bool {
	span, ok := read(t.Value)
	if ok {
		c.All(t, span.Condition(expression))
	}
	return ok
}

// SQL joins all with AND.
func (c *Conditions) SQL() string {
	where := slices.Clone(c.Where)
	var groups []string
	for name := range c.any {
		groups = append(groups, name)
	}
	slices.Sort(groups) // one text for one search
	for _, name := range groups {
		where = append(where, "("+strings.Join(c.any[name], " OR ")+")")
	}
	if len(where) == 0 {
		return "TRUE"
	}
	return strings.Join(where, " AND ")
}

// Names returns the SELECT of the names with all words, empty without words, and adds the condition on
// id that excludes others. possible is false for a search of only punctuation, which matches nothing.
func (c *Conditions) Names(
	q *Asked, index fulltext.Index, in fulltext.Part, id string,
) (from string, possible bool) {
	searchable := func(list []string) []string {
		return slices.DeleteFunc(list, func(w string) bool { return !fulltext.Searchable(w) })
	}
	yes, no := q.Words()
	asked := len(yes)
	yes, no = searchable(yes), searchable(no)
	if asked > 0 && len(yes) == 0 {
		return "", false
	}
	if len(no) > 0 {
		c.Where = append(c.Where, id+" NOT IN (SELECT id FROM ("+
			fulltext.Names{Index: index, Terms: no, Any: true, In: in}.SQL(c.Tx, c.Arg)+") n)")
	}
	if len(yes) > 0 {
		from = fulltext.Names{Index: index, Terms: yes, In: in}.SQL(c.Tx, c.Arg)
	}
	return from, true
}

// Scope adds the conditions of repo:, user: and org: on the repositories r. Error: GitHub's 422 if none of
// the named ones is visible. named reports whether any is named.
func (c *Conditions) Scope(terms []*Term) (named bool, err error) {
	var logins, repos []string
	for _, t := range terms {
		switch t.Name {
		case "user", "org":
			logins = append(logins, c.login(t.Value))
		case "repo":
			if owner, name, ok := strings.Cut(t.Value, "/"); !ok || owner == "" || name == "" {
				return false, t.Wrong()
			}
			repos = append(repos, t.Value)
		}
	}
	owners, err := account.ByLogins(c.Tx, logins)
	if err != nil {
		return false, err
	}
	seen, err := repo.VisibleNamed(c.Tx, c.Caller, repos)
	if err != nil {
		return false, err
	}
	asked, found := 0, 0
	add := func(t *Term, known bool, condition string) {
		if !t.Not {
			asked++
		}
		if known && !t.Not {
			found++
		}
		c.OneOf("scope", t, condition)
	}
	for _, t := range terms {
		switch t.Name {
		case "user", "org":
			var ids []account.ID
			if a := owners[account.Fold(c.login(t.Value))]; a != nil {
				ids = append(ids, a.ID)
			}
			add(t, len(ids) > 0, "r.owner_id IN "+list(ids))
		case "repo":
			var ids []repo.ID
			for _, a := range seen {
				if account.Fold(a.FullName()) == account.Fold(t.Value) {
					ids = append(ids, a.ID)
				}
			}
			add(t, len(ids) > 0, "r.id IN "+list(ids))
		}
	}
	if asked > 0 && found == 0 {
		return false, errNoScope()
	}
	return found > 0, nil
}

// login returns the login in a value, which may be @me.
func (c *Conditions) login(value string) string {
	if c.Caller != nil && account.Fold(value) == Me {
		return c.Caller.Login
	}
	return value
}

// list writes ids; none for a list in which nothing is.
func list[ID ~int64](ids []ID) string {
	if len(ids) == 0 {
		return "(0)" // no row has it
	}
	var b strings.Builder
	for n, id := range ids {
		b.WriteString([]string{",", "("}[bit(n == 0)])
		fmt.Fprint(&b, int64(id))
	}
	return b.String() + ")"
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func errNoScope() error {
	return invalid("The listed users and repositories cannot be searched either because the resources " +
		"do not exist or you do not have permission to view them.")
}
