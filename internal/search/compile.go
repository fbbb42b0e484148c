package search

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/fulltext"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/team"
)

// compile returns the conditions of a whole query.
func (q *Query) compile(n *named) posting.Expr {
	where := q.conditions(n, 0)
	if q.Pull == Yes {
		return where
	}
	// Where issues are switched off, pull requests are still there (decision 16).
	return posting.And{where, posting.Or{posting.IssuesOn{}, posting.HasOne(posting.ByPull.Of(0))}}
}

// contradicts reports a query that contradicts itself.
func (q *Query) contradicts() bool {
	return slices.ContainsFunc(flags(), func(f flagField) bool { return *f.of(q) == Yes|No })
}

// conditions returns the conditions of a query or of one within a group, whose words are looked for in the
// parts of the outer one unless it names some.
func (q *Query) conditions(n *named, in fulltext.Part) posting.Expr {
	if q.In != 0 {
		in = q.In
	}
	words, possible := q.words(in)
	if !possible || q.contradicts() {
		return posting.Or{}
	}
	where := append(posting.And{}, q.repos(n)...)
	where = append(where, words...)
	where = append(where, q.parts(n)...)
	where = append(where, q.labels()...)
	where = append(where, q.states()...)
	where = append(where, q.flags()...)
	where = append(where, q.spans()...)
	for _, g := range q.Groups {
		var alternatives posting.Or
		for _, one := range g.Any {
			alternatives = append(alternatives, one.conditions(n, in))
		}
		where = append(where, negated(alternatives, g.Not))
	}
	return where
}

func negated(e posting.Expr, not bool) posting.Expr {
	if not {
		return posting.Not{Expr: e}
	}
	return e
}

// repos returns the conditions on repositories. Of several named ones only one must exist.
func (q *Query) repos(n *named) (where posting.And) {
	if len(q.Repos.Yes)+len(q.Owners.Yes) > 0 {
		where = append(where, posting.OfRepo{Repos: n.repoIDs(q.Repos.Yes), Owners: n.ids(q.Owners.Yes)})
	}
	if len(q.Repos.No)+len(q.Owners.No) > 0 {
		where = append(where, posting.Not{Expr: posting.OfRepo{Repos: n.repoIDs(q.Repos.No),
			Owners: n.ids(q.Owners.No)}})
	}
	for _, f := range []struct {
		flag Flag
		yes  posting.Expr
	}{{q.Public, posting.Not{Expr: posting.Private}}, {q.Archived, posting.Archived}} {
		if f.flag != 0 {
			where = append(where, negated(f.yes, f.flag == No))
		}
	}
	return where
}

// words looks for the text. possible is false if there are words and none can be found.
func (q *Query) words(in fulltext.Part) (where posting.And, possible bool) {
	terms := func(all []string) (list []string) {
		for _, w := range all {
			if fulltext.Searchable(w) {
				list = append(list, w)
			}
		}
		return list
	}
	if yes := terms(q.Words); len(yes) > 0 {
		where = append(where, posting.Text{Terms: yes, In: in})
	} else if len(q.Words) > 0 && q.String() == (&Query{Words: q.Words}).String() {
		return nil, false // only punctuation
	}
	if no := terms(q.NotWords); len(no) > 0 {
		where = append(where, posting.Not{Expr: posting.Text{Terms: no, Any: true, In: in}})
	}
	return where, true
}

// parts returns the conditions on people.
func (q *Query) parts(n *named) (where posting.And) {
	if len(q.Authors.Yes) > 0 {
		where = append(where, posting.HasUser(posting.ByAuthor, n.ids(q.Authors.Yes)))
	}
	if no := n.ids(q.Authors.No); len(no) > 0 {
		where = append(where, posting.Not{Expr: posting.HasUser(posting.ByAuthor, no)})
	}
	has := func(k posting.Kind) func(id account.ID) posting.Expr {
		return func(id account.ID) posting.Expr { return posting.HasOne(k.OfUser(id)) }
	}
	for _, c := range []struct {
		of        *Choice
		condition func(id account.ID) posting.Expr
	}{
		{&q.Assignees, has(posting.ByAssignee)},
		{&q.Mentioned, has(posting.ByMention)},
		{&q.Commenters, func(id account.ID) posting.Expr { return posting.CommentedBy(id) }},
		{&q.Involved, func(id account.ID) posting.Expr {
			return posting.Or{has(posting.ByAuthor)(id), has(posting.ByAssignee)(id),
				has(posting.ByMention)(id), posting.CommentedBy(id)}
		}},
		{&q.Reviewers, func(id account.ID) posting.Expr { return posting.ReviewedBy(id) }},
		{&q.Requested, func(id account.ID) posting.Expr {
			return posting.Or{posting.AskedToReview(id), posting.AskedInTeam{User: id, Caller: n.caller}}
		}},
		{&q.Asked, func(id account.ID) posting.Expr { return posting.AskedToReview(id) }},
	} {
		if len(n.ids(c.of.Yes)) < len(c.of.Yes) {
			return posting.And{posting.Or{}} // an unknown account
		}
		for _, id := range n.ids(c.of.Yes) {
			where = append(where, c.condition(id))
		}
		for _, id := range n.ids(c.of.No) {
			where = append(where, posting.Not{Expr: c.condition(id)})
		}
	}
	return append(where, q.teams(n)...)
}

// teams returns the conditions on requested and mentioned teams.
func (q *Query) teams(n *named) (where posting.And) {
	for _, c := range []struct {
		of        *Choice
		condition func(id team.ID) posting.Expr
	}{
		{&q.Teams, func(id team.ID) posting.Expr { return posting.TeamAsked(id) }},
		{&q.TeamsMentioned, func(id team.ID) posting.Expr { return posting.HasOne(posting.ByTeam.Of(int64(id))) }},
	} {
		if len(n.teamIDs(c.of.Yes)) < len(c.of.Yes) {
			return posting.And{posting.Or{}} // an unknown team
		}
		for _, id := range n.teamIDs(c.of.Yes) {
			where = append(where, c.condition(id))
		}
		for _, id := range n.teamIDs(c.of.No) {
			where = append(where, posting.Not{Expr: c.condition(id)})
		}
	}
	return where
}

// labels returns the conditions on labels and milestones. Titles match ignoring the case of ASCII letters,
// which both engines support.
func (q *Query) labels() (where posting.And) {
	add := func(kind posting.Kind, names []string, fold func(string) string, not bool) {
		folded := make([]string, len(names))
		for n, name := range names {
			folded[n] = fold(name)
		}
		var e posting.Expr = posting.Named{Kind: kind, Names: folded}
		if not {
			e = posting.Not{Expr: e}
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

func (q *Query) flags() (where posting.And) {
	no := func(k posting.Kind) posting.Expr { return posting.Not{Expr: posting.HasOne(k.Of(posting.None))} }
	for _, f := range []struct {
		flag Flag
		yes  posting.Expr
	}{
		{q.Pull, posting.HasOne(posting.ByPull.Of(0))},
		{q.Open, posting.InState(issue.Open)},
		{q.Locked, posting.Locked},
		{q.Draft, posting.Draft},
		{q.Merged, within(posting.MergedAt, Always())},
		{q.Labeled, no(posting.ByLabel)},
		{q.Assigned, no(posting.ByAssignee)},
		{q.Milestoned, no(posting.ByMilestone)},
	} {
		switch f.flag {
		case Yes:
			where = append(where, f.yes)
		case No:
			where = append(where, posting.Not{Expr: f.yes})
		}
	}
	return where
}

// reviews, statuses and reasons are the values of review:, status: and reason:, with their conditions.
// Branches cannot require reviews.
func reviews() map[string]posting.Expr {
	return map[string]posting.Expr{
		"none":              posting.And{posting.HasOne(posting.ByPull.Of(0)), posting.Not{Expr: posting.Reviewed}},
		"required":          posting.Or{},
		"approved":          posting.Approved,
		"changes_requested": posting.ChangesRequested,
	}
}

func statuses() map[string]posting.Expr {
	return map[string]posting.Expr{
		"pending": posting.StatusPending,
		"success": posting.StatusSuccess,
		"failure": posting.StatusFailure,
	}
}

// links are the values of linked:.
func links() map[string]posting.Expr {
	return map[string]posting.Expr{"pr": posting.LinkedPull, "issue": posting.LinkedIssue}
}

func reasons() map[string]posting.Expr {
	return map[string]posting.Expr{
		"completed":   posting.InReason(issue.Completed),
		"not planned": posting.InReason(issue.NotPlanned),
		"reopened":    posting.InReason(issue.Reopened),
		"duplicate":   posting.InReason(issue.Duplicate),
	}
}

// oneOf adds a condition on a field that has one value per issue: it must be one of these.
func oneOf(c Choice, condition func(values []string) posting.Expr) (where posting.And) {
	if len(c.Yes) > 0 {
		where = append(where, condition(c.Yes))
	}
	if len(c.No) > 0 {
		where = append(where, posting.Not{Expr: condition(c.No)})
	}
	return where
}

// states returns the conditions on branches, reviews, statuses, links and reasons.
func (q *Query) states() (where posting.And) {
	of := func(m map[string]posting.Expr) func([]string) posting.Expr {
		return func(values []string) posting.Expr {
			var either posting.Or
			for _, v := range values {
				either = append(either, m[v])
			}
			return either
		}
	}
	where = append(where, oneOf(q.Heads, func(names []string) posting.Expr {
		return posting.HeadBegins(names)
	})...)
	where = append(where, oneOf(q.Bases, func(names []string) posting.Expr { return posting.BaseIs(names) })...)
	where = append(where, oneOf(q.Reasons, of(reasons()))...)
	where = append(where, oneOf(q.Reviews, of(reviews()))...)
	for _, value := range q.Linked.Yes {
		where = append(where, links()[value])
	}
	for _, value := range q.Linked.No {
		where = append(where, posting.Not{Expr: links()[value]})
	}
	return append(where, oneOf(q.Statuses, of(statuses()))...)
}

func within(f posting.Field, s Span) posting.Expr {
	return posting.Between{Field: f, From: s.From, To: s.To}
}

// spans returns the conditions on times and numbers. Issues without the time match neither a span nor its
// negation: only closed issues can have been closed before a day.
func (q *Query) spans() (where posting.And) {
	for _, c := range []struct {
		field posting.Field
		of    *Spans
	}{{posting.UpdatedAt, &q.Updated}, {posting.CommentCount, &q.Comments}, {posting.CreatedAt, &q.Created},
		{posting.ClosedAt, &q.Closed}, {posting.MergedAt, &q.MergedAt}} {
		if c.of.Asked {
			where = append(where, within(c.field, c.of.In))
		}
		for _, not := range c.of.Not {
			where = append(where, within(c.field, Always()), posting.Not{Expr: within(c.field, not)})
		}
	}
	return where
}

// order is the order of the results.
func (q *Query) order() posting.Order {
	by := [...]posting.Sort{BestMatch: posting.Score, Created: posting.Created, Updated: posting.Updated,
		Comments: posting.Comments}
	return posting.Order{Sort: by[q.Sort.By], Asc: q.Sort.Asc}
}
