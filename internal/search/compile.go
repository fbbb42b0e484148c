package search

import (
	"arbor/internal/account"
	"arbor/internal/finder"
	"arbor/internal/fulltext"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
)

// impossible reports a query that contradicts itself.
func (q *Query) impossible() bool {
	for _, f := range flags() {
		if *f.of(q) == Yes|No {
			return true
		}
	}
	return false
}

// compile makes the conditions of a query, without those on repositories. possible
// is false where there are words and none can be found.
func (q *Query) compile(n *names) (where finder.And, possible bool) {
	where, possible = q.words()
	where = append(where, q.people(n)...)
	where = append(where, q.named()...)
	where = append(where, q.flags()...)
	return append(where, q.spans()...), possible
}

// words looks for the text.
func (q *Query) words() (where finder.And, possible bool) {
	terms := func(all []string) (list []string) {
		for _, w := range all {
			if fulltext.Searchable(w) {
				list = append(list, w)
			}
		}
		return list
	}
	if yes := terms(q.Words); len(yes) > 0 {
		where = append(where, finder.Text{Terms: yes, In: q.In})
	} else if len(q.Words) > 0 && (&Query{Words: q.Words}).String() == q.String() {
		return nil, false // nothing but punctuation
	}
	if no := terms(q.NotWords); len(no) > 0 {
		where = append(where, finder.Not{Expr: finder.Text{Terms: no, Any: true, In: q.In}})
	}
	return where, true
}

func (q *Query) people(n *names) (where finder.And) {
	if yes := n.ids(q.Authors.Yes); len(yes) > 0 {
		where = append(where, finder.HasUser(posting.ByAuthor, yes))
	}
	if no := n.ids(q.Authors.No); len(no) > 0 {
		where = append(where, finder.Not{Expr: finder.HasUser(posting.ByAuthor, no)})
	}
	has := func(k posting.Kind) func(id account.ID) finder.Expr {
		return func(id account.ID) finder.Expr { return finder.HasOne(k.OfUser(id)) }
	}
	for _, c := range []struct {
		of        *Choice
		condition func(id account.ID) finder.Expr
	}{
		{&q.Assignees, has(posting.ByAssignee)},
		{&q.Mentioned, has(posting.ByMention)},
		{&q.Commenters, func(id account.ID) finder.Expr { return finder.CommentedBy(id) }},
		{&q.Involved, func(id account.ID) finder.Expr {
			return finder.Or{has(posting.ByAuthor)(id), has(posting.ByAssignee)(id), has(posting.ByMention)(id),
				finder.CommentedBy(id)}
		}},
	} {
		for _, id := range n.ids(c.of.Yes) {
			where = append(where, c.condition(id))
		}
		for _, id := range n.ids(c.of.No) {
			where = append(where, finder.Not{Expr: c.condition(id)})
		}
	}
	return where
}

// named asks for labels and milestones. Titles match without regard to the case of
// ASCII letters, which is what both engines fold.
func (q *Query) named() (where finder.And) {
	add := func(kind posting.Kind, names []string, fold func(string) string, not bool) {
		folded := make([]string, len(names))
		for n, name := range names {
			folded[n] = fold(name)
		}
		var e finder.Expr = finder.Named{Kind: kind, Names: folded}
		if not {
			e = finder.Not{Expr: e}
		}
		where = append(where, e)
	}
	for _, l := range q.Labels {
		add(posting.ByLabel, l.Names, label.Fold, l.Not)
	}
	if len(q.Milestones.Yes) > 0 {
		add(posting.ByMilestone, q.Milestones.Yes, account.Fold, false)
	}
	if len(q.Milestones.No) > 0 {
		add(posting.ByMilestone, q.Milestones.No, account.Fold, true)
	}
	return where
}

func (q *Query) flags() (where finder.And) {
	no := func(k posting.Kind) finder.Expr { return finder.Not{Expr: finder.HasOne(k.Of(posting.None))} }
	for _, f := range []struct {
		flag Flag
		yes  finder.Expr
	}{
		{q.Pull, finder.HasOne(posting.ByPull.Of(0))},
		{q.Open, finder.InState(issue.Open)},
		{q.Locked, finder.Locked},
		{q.Draft, finder.Draft},
		{q.Merged, within(finder.MergedAt, Always())},
		{q.Labeled, no(posting.ByLabel)},
		{q.Assigned, no(posting.ByAssignee)},
		{q.Milestoned, no(posting.ByMilestone)},
	} {
		switch f.flag {
		case Yes:
			where = append(where, f.yes)
		case No:
			where = append(where, finder.Not{Expr: f.yes})
		}
	}
	if q.Pull != Yes { // where issues are switched off, pull requests are still there (decision 16)
		where = append(where, finder.Or{finder.IssuesOn{}, finder.HasOne(posting.ByPull.Of(0))})
	}
	return where
}

func within(f finder.Field, s Span) finder.Expr {
	return finder.Between{Field: f, From: s.From, To: s.To}
}

// spans asks for times and numbers. What has no such time is in no span, and not
// outside of one either: only what was closed can have been closed before some day.
func (q *Query) spans() (where finder.And) {
	for _, c := range []struct {
		field finder.Field
		of    *Spans
	}{{finder.UpdatedAt, &q.Updated}, {finder.CommentCount, &q.Comments}, {finder.CreatedAt, &q.Created},
		{finder.ClosedAt, &q.Closed}, {finder.MergedAt, &q.MergedAt}} {
		if c.of.Asked {
			where = append(where, within(c.field, c.of.In))
		}
		for _, not := range c.of.Not {
			where = append(where, within(c.field, Always()), finder.Not{Expr: within(c.field, not)})
		}
	}
	return where
}

// order is what the results are ordered by.
func (q *Query) order() finder.Order {
	by := [...]finder.Sort{BestMatch: finder.Score, Created: finder.Created, Updated: finder.Updated,
		Comments: finder.Comments}
	return finder.Order{Sort: by[q.Sort.By], Asc: q.Sort.Asc}
}
