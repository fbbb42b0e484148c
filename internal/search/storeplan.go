package search

import (
	"fmt"
	"math"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// statement is the SQL of a query: of the postings p of one property that all
// results have, those for which all conditions hold.
type statement struct {
	tx    *db.Tx
	args  []any
	names *names
	q     *Query

	base   issue.Property
	where  []string
	find   string  // the words, as a SELECT of issue_id and score; empty: none are looked for
	issues bool    // columns of issues are needed, under the name i
	scope  string  // behind IN: the repositories that are searched
	few    []int64 // the same, if they are few
}

// Repositories that are named one by one: more are found by a SELECT.
const maxListed = 100

// maxScopes is how many repositories are looked for in the index of words; of
// more, the results are filtered instead.
const maxScopes = 8

// plan makes the statement for a query; nil when nothing can match.
func plan(tx *db.Tx, caller *account.Caller, q *Query) (*statement, error) {
	n, err := resolve(tx, caller, q)
	if err != nil || q.impossible() {
		return nil, err
	}
	s := &statement{tx: tx, names: n, q: q, args: []any{repo.CallerID(caller)}, base: issue.Property{Kind: issue.ByAll}}
	if any, err := s.repositories(caller); err != nil || !any {
		return nil, err
	}
	if !s.words() {
		return nil, nil
	}
	s.people()
	s.labels()
	s.milestones()
	s.flags()
	s.spans()
	return s, nil
}

// impossible reports a query that contradicts itself.
func (q *Query) impossible() bool {
	for _, f := range flags() {
		if *f.of(q) == Yes|No {
			return true
		}
	}
	return q.Archived == Yes // nothing is
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// list adds arguments and returns them as what stands behind IN.
func (s *statement) list(ids []int64) string {
	marks := make([]string, len(ids))
	for n, id := range ids {
		marks[n] = s.arg(id)
	}
	return "(" + strings.Join(marks, ",") + ")"
}

func (s *statement) and(format string, a ...any) {
	s.where = append(s.where, fmt.Sprintf(format, a...))
}

// repositories finds out where to search; any is false when that is nowhere.
func (s *statement) repositories(caller *account.Caller) (any bool, err error) {
	from := repo.FromVisible("r.id", caller) + s.scopes() // of an id that is its own: of any
	rows, err := s.tx.Query(`SELECT r.id, r.has_issues`+from+fmt.Sprintf(` LIMIT %d`, maxListed+1), s.args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var off []int64 // those whose issues are switched off
	for rows.Next() {
		var id int64
		var has bool
		if err := rows.Scan(&id, &has); err != nil {
			return false, err
		}
		if s.few = append(s.few, id); !has {
			off = append(off, id)
		}
	}
	if err := rows.Err(); err != nil || len(s.few) == 0 {
		return false, err
	}
	s.confine(from, off)
	return true, nil
}

// confine keeps the statement to the repositories, and to the pull requests of
// those whose issues are switched off (decision 16).
func (s *statement) confine(from string, off []int64) {
	without := ""
	if len(s.few) <= maxListed {
		s.args = nil // what only the SELECT needs
		if s.scope = s.list(s.few); len(off) > 0 {
			without = s.list(off)
		}
	} else {
		s.few, s.scope, without = nil, `(SELECT r.id`+from+`)`, `(SELECT id FROM repos WHERE NOT has_issues)`
	}
	s.and("p.repo_id IN %s", s.scope)
	switch {
	case s.q.Pull == Yes:
		s.need(issue.Property{Kind: issue.ByPull})
	case without != "":
		s.and("(p.repo_id NOT IN %s OR %s)", without, s.posted(issue.Property{Kind: issue.ByPull}))
	}
}

// scopes are the conditions on repositories that the query has.
func (s *statement) scopes() string {
	n, q, b := s.names, s.q, ""
	repos, owners := n.repoIDs(q.Repos.Yes), n.ids(q.Owners.Yes)
	switch {
	case len(repos) > 0 && len(owners) > 0:
		b += " AND (r.id IN " + s.list(repos) + " OR r.owner_id IN " + s.list(owners) + ")"
	case len(repos) > 0:
		b += " AND r.id IN " + s.list(repos)
	case len(owners) > 0:
		b += " AND r.owner_id IN " + s.list(owners)
	}
	if not := n.repoIDs(q.Repos.No); len(not) > 0 {
		b += " AND r.id NOT IN " + s.list(not)
	}
	if not := n.ids(q.Owners.No); len(not) > 0 {
		b += " AND r.owner_id NOT IN " + s.list(not)
	}
	switch q.Public {
	case Yes:
		b += " AND NOT r.private"
	case No:
		b += " AND r.private"
	}
	return b
}

// words looks for the text; false when there are words and none can be found.
func (s *statement) words() bool {
	terms := func(all []string) (list []string) {
		for _, w := range all {
			if db.Searchable(w) {
				list = append(list, w)
			}
		}
		return list
	}
	f := db.Find{Terms: terms(s.q.Words), In: s.q.In}
	if len(s.few) <= maxScopes {
		f.Repos = s.few
	}
	if len(f.Terms) > 0 {
		s.find = f.SQL(s.tx, s.arg)
	} else if len(s.q.Words) > 0 && (&Query{Words: s.q.Words}).String() == s.q.String() {
		return false // nothing but punctuation
	}
	if f.Terms, f.Any = terms(s.q.NotWords), true; len(f.Terms) > 0 {
		s.and("p.issue_id NOT IN (SELECT issue_id FROM (%s) n)", f.SQL(s.tx, s.arg))
	}
	return true
}

// posted is the condition that the issue has a property.
func (s *statement) posted(by issue.Property) string {
	return fmt.Sprintf("EXISTS (SELECT 1 FROM postings x WHERE x.issue_id = p.issue_id AND x.kind = %s AND x.value = %s)",
		s.arg(int64(by.Kind)), s.arg(by.Value))
}

// need asks for a property. The first one is what is walked: its postings are
// one range of an index.
func (s *statement) need(by issue.Property) {
	if s.base.Kind == issue.ByAll && s.find == "" {
		s.base = by
		return
	}
	s.and("%s", s.posted(by))
}

// among asks for one of the issues of a SELECT, or for none of them.
func (s *statement) among(not bool, query string) {
	s.and("p.issue_id %sIN (%s)", map[bool]string{true: "NOT "}[not], query)
}

func (s *statement) people() {
	q, n := s.q, s.names
	for _, c := range []struct {
		kind issue.Kind
		of   *Choice
	}{{issue.ByAssignee, &q.Assignees}, {issue.ByMention, &q.Mentioned}, {issue.ByAuthor, &q.Authors}} {
		yes := n.ids(c.of.Yes)
		if c.kind == issue.ByAuthor && len(yes) > 1 { // one of them
			s.among(false, fmt.Sprintf(`SELECT issue_id FROM postings WHERE kind = %s AND value IN %s AND repo_id IN %s`,
				s.arg(int64(c.kind)), s.list(yes), s.scope))
			yes = nil
		}
		for _, id := range yes {
			s.need(issue.Property{Kind: c.kind, Value: id})
		}
		for _, id := range n.ids(c.of.No) {
			s.and("NOT %s", s.posted(issue.Property{Kind: c.kind, Value: id}))
		}
	}
	s.eachOf(&q.Commenters, func(id string) string {
		return `SELECT issue_id FROM issue_comments WHERE author_id = ` + id
	})
	s.eachOf(&q.Involved, func(id string) string {
		return fmt.Sprintf(`SELECT issue_id FROM postings WHERE kind IN (%d, %d, %d) AND value = %s
			UNION SELECT issue_id FROM issue_comments WHERE author_id = %[4]s`, issue.ByAuthor, issue.ByAssignee, issue.ByMention, id)
	})
}

func (s *statement) eachOf(c *Choice, query func(id string) string) {
	for _, id := range s.names.ids(c.Yes) {
		s.among(false, query(s.arg(id)))
	}
	for _, id := range s.names.ids(c.No) {
		s.among(true, query(s.arg(id)))
	}
}

// named finds the issues with a label or a milestone of one of the names.
func (s *statement) named(table, column string, kind issue.Kind, values []string) string {
	marks := make([]string, len(values))
	for n, v := range values {
		marks[n] = s.arg(v)
	}
	return fmt.Sprintf(`SELECT x.issue_id FROM %s l JOIN postings x ON x.kind = %s AND x.value = l.id
		WHERE %s IN (%s) AND l.repo_id IN %s`, table, s.arg(int64(kind)), column, strings.Join(marks, ","), s.scope)
}

func (s *statement) labels() {
	for _, l := range s.q.Labels {
		folded := make([]string, len(l.Names))
		for n, name := range l.Names {
			folded[n] = issue.FoldLabel(name)
		}
		s.among(l.Not, s.named("labels", "l.name_folded", issue.ByLabel, folded))
	}
}

// milestones matches titles without regard to the case of ASCII letters, which
// is what both engines fold.
func (s *statement) milestones() {
	fold := func(titles []string) []string {
		list := make([]string, len(titles))
		for n, t := range titles {
			list[n] = account.Fold(t)
		}
		return list
	}
	if yes := fold(s.q.Milestones.Yes); len(yes) > 0 {
		s.among(false, s.named("milestones", "lower(l.title)", issue.ByMilestone, yes))
	}
	if no := fold(s.q.Milestones.No); len(no) > 0 {
		s.among(true, s.named("milestones", "lower(l.title)", issue.ByMilestone, no))
	}
}

func (s *statement) flags() {
	q := s.q
	if q.Pull == No {
		s.and("NOT %s", s.posted(issue.Property{Kind: issue.ByPull}))
	}
	switch q.Open {
	case Yes:
		s.and("p.state = %s", s.arg(int64(issue.Open)))
	case No:
		s.and("p.state = %s", s.arg(int64(issue.Closed)))
	}
	for _, f := range []struct {
		flag      Flag
		condition string
	}{{q.Locked, "i.locked"}, {q.Draft, "i.draft"}, {q.Merged, "(i.merged_at IS NOT NULL)"}} {
		if f.flag != 0 {
			s.issues = true
			s.and("%s%s", map[Flag]string{No: "NOT "}[f.flag], f.condition)
		}
	}
	none := func(k issue.Kind) issue.Property { return issue.Property{Kind: k, Value: issue.None} }
	for _, f := range []struct {
		flag Flag
		kind issue.Kind
	}{{q.Labeled, issue.ByLabel}, {q.Assigned, issue.ByAssignee}, {q.Milestoned, issue.ByMilestone}} {
		switch f.flag {
		case No:
			s.need(none(f.kind))
		case Yes:
			s.and("NOT %s", s.posted(none(f.kind)))
		}
	}
}

func (s *statement) spans() {
	for _, c := range []struct {
		column string
		of     *Spans
	}{{"p.updated_at", &s.q.Updated}, {"p.comments", &s.q.Comments},
		{"i.created_at", &s.q.Created}, {"i.closed_at", &s.q.Closed}, {"i.merged_at", &s.q.MergedAt}} {
		if c.of.Asked {
			s.and("%s", s.within(c.column, c.of.In))
		}
		for _, not := range c.of.Not {
			s.and("%s IS NOT NULL AND NOT %s", c.column, s.within(c.column, not))
		}
		s.issues = s.issues || c.column[0] == 'i' && (c.of.Asked || c.of.Not != nil)
	}
}

// within is no condition on what has no such time: only what was closed can have
// been closed before some day.
func (s *statement) within(column string, span Span) string {
	all := []string{column + " IS NOT NULL"}
	if span.From != math.MinInt64 {
		all = append(all, column+" >= "+s.arg(span.From))
	}
	if span.To != math.MaxInt64 {
		all = append(all, column+" < "+s.arg(span.To))
	}
	return "(" + strings.Join(all, " AND ") + ")"
}
