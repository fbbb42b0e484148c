package search

import (
	"math"
	"strconv"
	"strings"
	"time"

	"arbor/internal/fulltext"
)

// The tables below say which field of a Query a qualifier belongs to, for
// reading and for writing alike.

type choiceField struct {
	name string
	of   func(q *Query) *Choice
}

func choices() []choiceField {
	return []choiceField{
		{"repo", func(q *Query) *Choice { return &q.Repos }},
		{"user", func(q *Query) *Choice { return &q.Owners }},
		{"author", func(q *Query) *Choice { return &q.Authors }},
		{"assignee", func(q *Query) *Choice { return &q.Assignees }},
		{"mentions", func(q *Query) *Choice { return &q.Mentioned }},
		{"commenter", func(q *Query) *Choice { return &q.Commenters }},
		{"involves", func(q *Query) *Choice { return &q.Involved }},
		{"milestone", func(q *Query) *Choice { return &q.Milestones }},
		{"head", func(q *Query) *Choice { return &q.Heads }},
		{"base", func(q *Query) *Choice { return &q.Bases }},
		{"reason", func(q *Query) *Choice { return &q.Reasons }},
		{"reviewed-by", func(q *Query) *Choice { return &q.Reviewers }},
		{"review-requested", func(q *Query) *Choice { return &q.Requested }},
		{"user-review-requested", func(q *Query) *Choice { return &q.Asked }},
		{"team", func(q *Query) *Choice { return &q.TeamsMentioned }},
		{"team-review-requested", func(q *Query) *Choice { return &q.Teams }},
		{"review", func(q *Query) *Choice { return &q.Reviews }},
		{"status", func(q *Query) *Choice { return &q.Statuses }},
		{"linked", func(q *Query) *Choice { return &q.Linked }},
	}
}

// flagField is written as yes or no; others that mean the same are read by
// parser.is and its neighbours.
type flagField struct {
	yes, no string
	of      func(q *Query) *Flag
}

func flags() []flagField {
	return []flagField{
		{"is:open", "is:closed", func(q *Query) *Flag { return &q.Open }},
		{"is:pr", "is:issue", func(q *Query) *Flag { return &q.Pull }},
		{"is:merged", "-is:merged", func(q *Query) *Flag { return &q.Merged }},
		{"draft:true", "draft:false", func(q *Query) *Flag { return &q.Draft }},
		{"is:locked", "is:unlocked", func(q *Query) *Flag { return &q.Locked }},
		{"is:public", "is:private", func(q *Query) *Flag { return &q.Public }},
		{"archived:true", "archived:false", func(q *Query) *Flag { return &q.Archived }},
		{"-no:label", "no:label", func(q *Query) *Flag { return &q.Labeled }},
		{"-no:assignee", "no:assignee", func(q *Query) *Flag { return &q.Assigned }},
		{"-no:milestone", "no:milestone", func(q *Query) *Flag { return &q.Milestoned }},
	}
}

type spanField struct {
	name  string
	of    func(q *Query) *Spans
	read  func(s string) (Span, bool)
	write func(n int64) string
	step  int64 // what one unit of the written form is
}

func spans() []spanField {
	day := func(name string, of func(q *Query) *Spans) spanField {
		return spanField{name, of, ReadTimes, writeTime, int64(time.Second / time.Microsecond)}
	}
	return []spanField{
		day("created", func(q *Query) *Spans { return &q.Created }),
		day("updated", func(q *Query) *Spans { return &q.Updated }),
		day("closed", func(q *Query) *Spans { return &q.Closed }),
		day("merged", func(q *Query) *Spans { return &q.MergedAt }),
		{"comments", func(q *Query) *Spans { return &q.Comments }, ReadNumbers,
			func(n int64) string { return strconv.FormatInt(n, 10) }, 1},
	}
}

type partField struct {
	name string
	part fulltext.Part
}

func parts() []partField {
	return []partField{{"title", fulltext.InTitle}, {"body", fulltext.InBody},
		{"comments", fulltext.InComments}}
}

// String returns a query that means the same, the same for equal queries:
// Parse returns the Query again for it.
func (q *Query) String() string {
	var w []string
	for _, s := range q.Words {
		w = append(w, quote(s))
	}
	for _, s := range q.NotWords {
		w = append(w, "-"+quote(s))
	}
	for _, f := range parts() {
		if q.In&f.part != 0 {
			w = append(w, "in:"+f.name)
		}
	}
	for _, f := range choices() {
		for _, s := range f.of(q).Yes {
			w = append(w, f.name+":"+quote(s))
		}
		for _, s := range f.of(q).No {
			w = append(w, "-"+f.name+":"+quote(s))
		}
	}
	for _, l := range q.Labels {
		names := make([]string, len(l.Names))
		for n, name := range l.Names {
			names[n] = quote(name)
		}
		w = append(w, minus(l.Not)+"label:"+strings.Join(names, ","))
	}
	for _, f := range flags() {
		if *f.of(q)&Yes != 0 {
			w = append(w, f.yes)
		}
		if *f.of(q)&No != 0 {
			w = append(w, f.no)
		}
	}
	for _, f := range spans() {
		s := f.of(q)
		if s.Asked {
			w = append(w, f.name+":"+f.span(s.In))
		}
		for _, not := range s.Not {
			w = append(w, "-"+f.name+":"+f.span(not))
		}
	}
	for _, g := range q.Groups {
		alternatives := make([]string, len(g.Any))
		for n, in := range g.Any {
			alternatives[n] = in.String()
		}
		w = append(w, minus(g.Not)+"("+strings.Join(alternatives, " OR ")+")")
	}
	if q.Sort != (Sort{}) {
		w = append(w, "sort:"+q.Sort.By.String()+map[bool]string{true: "-asc", false: "-desc"}[q.Sort.Asc])
	}
	return strings.Join(w, " ")
}

func minus(not bool) string {
	if not {
		return "-"
	}
	return ""
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// span writes FROM..TO, both within it.
func (f *spanField) span(s Span) string {
	from, to := "*", "*"
	if s.From != math.MinInt64 {
		from = f.write(s.From)
	}
	if s.To != math.MaxInt64 {
		to = f.write(s.To - f.step)
	}
	return from + ".." + to
}

func writeTime(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339) }

// ReadNumbers reads N, >N, >=N, <N, <=N and N..N, where one end may be *.
func ReadNumbers(s string) (Span, bool) {
	return readSpan(s, func(s string) (Span, bool) {
		n, err := strconv.ParseInt(s, 10, 62)
		return Span{n, n + 1}.within(0, 1e15), err == nil
	})
}

// The first and the last moment that a query distinguishes.
const (
	firstTime = -62135596800_000000 // 0001-01-01
	lastTime  = 253370764800_000000 // 9999-01-01
)

// ReadTimes does so for times such as 2011-04-22T13:33:48Z, which are one
// second long, and for dates, which are the whole day in UTC.
func ReadTimes(s string) (Span, bool) {
	return readSpan(s, func(s string) (Span, bool) {
		if t, err := time.Parse(time.DateOnly, s); err == nil {
			return Span{t.UnixMicro(), t.AddDate(0, 0, 1).UnixMicro()}.within(firstTime, lastTime), true
		}
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t, err = time.Parse("2006-01-02T15:04:05", s)
		}
		t = t.Truncate(time.Second)
		return Span{t.UnixMicro(), t.Add(time.Second).UnixMicro()}.within(firstTime, lastTime), err == nil
	})
}

// within clamps a span to the bounds, so that String can format every span that was read.
func (s Span) within(low, high int64) Span {
	return Span{min(max(s.From, low), high), min(max(s.To, low), high)}
}

// readSpan reads comparisons and ranges of what one reads.
func readSpan(s string, one func(string) (Span, bool)) (Span, bool) {
	if from, to, ok := strings.Cut(s, ".."); ok {
		span := Always()
		if from != "*" {
			at, ok := one(from)
			if !ok {
				return span, false
			}
			span.From = at.From
		}
		if to != "*" {
			at, ok := one(to)
			if !ok {
				return span, false
			}
			span.To = at.To
		}
		return span, true
	}
	value := strings.TrimLeft(s, "<>=")
	at, ok := one(value)
	switch s[:len(s)-len(value)] {
	case "":
		return at, ok
	case ">":
		return Span{at.To, math.MaxInt64}, ok
	case ">=":
		return Span{at.From, math.MaxInt64}, ok
	case "<":
		return Span{math.MinInt64, at.From}, ok
	case "<=":
		return Span{math.MinInt64, at.To}, ok
	}
	return Span{}, false
}
