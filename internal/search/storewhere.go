package search

import (
	"fmt"
	"math"
	"strings"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
)

// posted is the condition that the issue has a property. Its postings are few:
// they are read and held against values that a SELECT gives, not looked up one
// by one.
func posted(by property) string {
	value := "x.value"
	if by.looked {
		value = "+x.value"
	}
	return fmt.Sprintf("EXISTS (SELECT 1 FROM postings x WHERE x.issue_id = p.issue_id AND x.kind = %d AND %s IN %s)",
		by.kind, value, by.values)
}

// need asks for a property of which an issue has one value at most. The first
// one is walked: its postings are a range of an index for each value. What the
// words find is looked up instead, and by one value.
func (s *statement) need(by property) {
	if s.base.kind == 0 && (s.find == "" || !by.looked) {
		s.base = by
		return
	}
	s.and("%s", posted(by))
}

// among asks for one of the issues of a SELECT, or for none of them.
func (s *statement) among(not bool, query string) {
	s.and("p.issue_id %sIN (%s)", map[bool]string{true: "NOT "}[not], query)
}

func (s *statement) people() {
	q, n := s.q, s.names
	if yes := n.ids(q.Authors.Yes); len(yes) > 0 {
		s.need(property{kind: posting.ByAuthor, values: s.list(yes)})
	}
	if no := n.ids(q.Authors.No); len(no) > 0 {
		s.and("NOT %s", posted(property{kind: posting.ByAuthor, values: s.list(no)}))
	}
	for _, c := range []struct {
		kind posting.Kind
		of   *Choice
	}{{posting.ByAssignee, &q.Assignees}, {posting.ByMention, &q.Mentioned}} {
		for _, id := range n.ids(c.of.Yes) {
			s.need(property{kind: c.kind, values: s.list([]int64{id})})
		}
		for _, id := range n.ids(c.of.No) {
			s.and("NOT %s", posted(property{kind: c.kind, values: s.list([]int64{id})}))
		}
	}
	s.eachOf(&q.Commenters, func(id string) string {
		return `SELECT issue_id FROM issue_comments WHERE author_id = ` + id
	})
	s.eachOf(&q.Involved, func(id string) string {
		return fmt.Sprintf(`SELECT issue_id FROM postings WHERE kind IN (%d, %d, %d) AND value = %s
			UNION SELECT issue_id FROM issue_comments WHERE author_id = %[4]s`, posting.ByAuthor, posting.ByAssignee, posting.ByMention, id)
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

// named is the property of having a label or a milestone of one of the names.
func (s *statement) named(kind posting.Kind, table, column string, values []string) property {
	marks := make([]string, len(values))
	for n, v := range values {
		marks[n] = s.arg(v)
	}
	return property{kind, fmt.Sprintf(`(SELECT l.id FROM %s l WHERE %s IN (%s) AND l.repo_id IN %s)`,
		table, column, strings.Join(marks, ","), s.scope), true}
}

func (s *statement) labels() {
	for _, l := range s.q.Labels {
		folded := make([]string, len(l.Names))
		for n, name := range l.Names {
			folded[n] = label.Fold(name)
		}
		by := s.named(posting.ByLabel, "labels", "l.name_folded", folded)
		switch {
		case l.Not:
			s.and("NOT %s", posted(by))
		case len(folded) == 1:
			s.need(by)
		default: // an issue may have several
			s.and("%s", posted(by))
		}
	}
}

// milestones matches titles without regard to the case of ASCII letters, which
// is what both engines fold.
func (s *statement) milestones() {
	by := func(titles []string) property {
		list := make([]string, len(titles))
		for n, t := range titles {
			list[n] = account.Fold(t)
		}
		return s.named(posting.ByMilestone, "milestones", "lower(l.title)", list)
	}
	if yes := s.q.Milestones.Yes; len(yes) > 0 {
		s.need(by(yes))
	}
	if no := s.q.Milestones.No; len(no) > 0 {
		s.and("NOT %s", posted(by(no)))
	}
}

func (s *statement) flags() {
	q := s.q
	if q.Pull == No {
		s.and("NOT %s", posted(property{kind: posting.ByPull, values: "(0)"}))
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
	for _, f := range []struct {
		flag Flag
		kind posting.Kind
	}{{q.Labeled, posting.ByLabel}, {q.Assigned, posting.ByAssignee}, {q.Milestoned, posting.ByMilestone}} {
		none := property{kind: f.kind, values: fmt.Sprintf("(%d)", posting.None)}
		switch f.flag {
		case No:
			s.need(none)
		case Yes:
			s.and("NOT %s", posted(none))
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
