package repos_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/fulltext"
	"arbor/internal/search"
)

func at(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMicro()
}

// Everything that GitHub's users type means here what it means there.
func TestParse(t *testing.T) {
	t.Parallel()
	const first, last = math.MinInt64, math.MaxInt64
	spans := func(from, to int64) search.Spans {
		return search.Spans{Asked: true, In: search.Span{From: from, To: to}}
	}
	type q = search.Query
	yes := func(list ...string) search.Choice { return search.Choice{Yes: list} }
	groups := func(any ...q) []search.Group {
		g := search.Group{}
		for _, one := range any {
			g.Any = append(g.Any, &one)
		}
		return []search.Group{g}
	}
	for text, want := range map[string]q{
		`crash  "stack trace"`:                {Words: []string{"crash", "stack trace"}},
		`a -b -"c d" NOT e AND f`:             {Words: []string{"a", "f"}, NotWords: []string{"b", "c d", "e"}},
		`"OR" "say \"hi\" \\ \n" "open`:       {Words: []string{"OR", `say "hi" \ \n`, "open"}},
		`http://x.org/a:b "error:12" foo"bar`: {Words: []string{"http://x.org/a:b", "error:12", `foo"bar`}},
		`std::vector 12:30 a.b:c panic: x (error:)`: {Words: []string{"std::vector", "12:30", "a.b:c",
			"panic:", "x"}, Groups: groups(q{Words: []string{"error:"}})},
		`-- - x --y`:                                    {Words: []string{"x"}, NotWords: []string{"-", "-y"}},
		`is:issue IS:Open`:                              {Pull: search.No, Open: search.Yes},
		`type:pr state:closed`:                          {Pull: search.Yes, Open: search.No},
		`is:open is:closed`:                             {Open: search.Yes | search.No},
		`-is:open`:                                      {Open: search.No},
		`NOT is:open x`:                                 {Open: search.No, Words: []string{"x"}},
		`is:merged`:                                     {Pull: search.Yes, Merged: search.Yes},
		`-is:merged`:                                    {Merged: search.No},
		`is:unmerged`:                                   {Pull: search.Yes, Merged: search.No},
		`is:draft`:                                      {Pull: search.Yes, Draft: search.Yes},
		`draft:false -archived:true`:                    {Draft: search.No, Archived: search.No},
		`is:public is:unlocked`:                         {Public: search.Yes, Locked: search.No},
		`-is:private -is:locked`:                        {Public: search.Yes, Locked: search.No},
		`repo:o/n repo:"p/m" -repo:q/r`:                 {Repos: search.Choice{Yes: []string{"o/n", "p/m"}, No: []string{"q/r"}}},
		`user:a org:b -org:c`:                           {Owners: search.Choice{Yes: []string{"a", "b"}, No: []string{"c"}}},
		`author:@me -author:x`:                          {Authors: search.Choice{Yes: []string{"@me"}, No: []string{"x"}}},
		`assignee:a mentions:b`:                         {Assignees: yes("a"), Mentioned: yes("b")},
		`commenter:c involves:d`:                        {Commenters: yes("c"), Involved: yes("d")},
		`milestone:"v1, the best"`:                      {Milestones: yes("v1, the best")},
		`assignee:* -milestone:*`:                       {Assigned: search.Yes, Milestoned: search.No},
		`no:label -no:assignee no:milestone`:            {Labeled: search.No, Assigned: search.Yes, Milestoned: search.No},
		`label:bug label:"help wanted"`:                 {Labels: []search.LabelSet{{Names: []string{"bug"}}, {Names: []string{"help wanted"}}}},
		`label:a,"b c",d -label:"x,y"`:                  {Labels: []search.LabelSet{{Names: []string{"a", "b c", "d"}}, {Names: []string{"x,y"}, Not: true}}},
		`in:title,body x`:                               {Words: []string{"x"}, In: fulltext.InTitle | fulltext.InBody},
		`in:title in:comments x`:                        {Words: []string{"x"}, In: fulltext.InTitle | fulltext.InComments},
		`created:2020-02-29`:                            {Created: spans(at("2020-02-29T00:00:00Z"), at("2020-03-01T00:00:00Z"))},
		`created:>=2020-01-01`:                          {Created: spans(at("2020-01-01T00:00:00Z"), last)},
		`created:>2020-01-01`:                           {Created: spans(at("2020-01-02T00:00:00Z"), last)},
		`updated:<2020-01-01`:                           {Updated: spans(first, at("2020-01-01T00:00:00Z"))},
		`closed:<=2020-01-01`:                           {Closed: spans(first, at("2020-01-02T00:00:00Z"))},
		`merged:2020-01-01..2020-01-31`:                 {MergedAt: spans(at("2020-01-01T00:00:00Z"), at("2020-02-01T00:00:00Z"))},
		`created:*..2020-01-31T10:00:00Z`:               {Created: spans(first, at("2020-01-31T10:00:01Z"))},
		`created:2020-01-31T12:00:00+02:00..*`:          {Created: spans(at("2020-01-31T10:00:00Z"), last)},
		`created:>2020-01-01 created:<2020-02-01`:       {Created: spans(at("2020-01-02T00:00:00Z"), at("2020-02-01T00:00:00Z"))},
		`-created:1969-12-31`:                           {Created: search.Spans{Not: []search.Span{{From: -86400_000000, To: 0}}}},
		`comments:>5 comments:<=9`:                      {Comments: spans(6, 10)},
		`comments:0 -comments:3..4`:                     {Comments: search.Spans{Asked: true, In: search.Span{From: 0, To: 1}, Not: []search.Span{{From: 3, To: 5}}}},
		`sort:created x`:                                {Words: []string{"x"}, Sort: search.Sort{By: search.Created}},
		`sort:updated-asc sort:comments-asc`:            {Sort: search.Sort{By: search.Comments, Asc: true}},
		`sort:best-match sort:relevance-desc is:closed`: {Open: search.No},
		`created:>=2020-01-31T12:00:00 02:00 x`:         {Created: spans(at("2020-01-31T10:00:00Z"), last), Words: []string{"x"}},
		`created:2020-01-31T12:00:00 02:00..2020-01-31T12:00:00 01:00`: {
			Created: spans(at("2020-01-31T10:00:00Z"), at("2020-01-31T11:00:01Z"))},
		`head:x/y -base:main reason:"not planned"`: {Heads: yes("x/y"),
			Bases: search.Choice{No: []string{"main"}}, Reasons: yes("not planned")},
		`review:Approved status:failure`:     {Reviews: yes("approved"), Statuses: yes("failure")},
		`reviewed-by:a review-requested:@me`: {Reviewers: yes("a"), Requested: yes("@me")},
		`team:o/t -team:o/u`:                 {TeamsMentioned: search.Choice{Yes: []string{"o/t"}, No: []string{"o/u"}}},
		`user-review-requested:@me -team-review-requested:o/t`: {Asked: yes("@me"),
			Teams: search.Choice{No: []string{"o/t"}}},
		`main() label:a(b) (label:c(d))`: {Words: []string{"main()"},
			Labels: []search.LabelSet{{Names: []string{"a(b)"}}},
			Groups: groups(q{Labels: []search.LabelSet{{Names: []string{"c(d)"}}}})},
		`a OR b c`:         {Groups: groups(q{Words: []string{"a"}}, q{Words: []string{"b", "c"}})},
		`(repo:a/b) is:pr`: {Pull: search.Yes, Groups: groups(q{Repos: yes("a/b")})},
		`repo:a/b AND (is:pr AND is:merged)`: {Repos: yes("a/b"), Groups: groups(q{Pull: search.Yes,
			Merged: search.Yes})},
		`x (in:title a sort:updated OR NOT -(b c))`: {Words: []string{"x"},
			Sort: search.Sort{By: search.Updated},
			Groups: groups(q{Words: []string{"a"}, In: fulltext.InTitle},
				q{Groups: []search.Group{{Not: true, Any: []*q{{Words: []string{"b", "c"}}}}}})},
		`or and ORB "AND" -OR`: {Words: []string{"or", "and", "ORB", "AND"}, NotWords: []string{"OR"}},
	} {
		got, err := search.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s:\n got %s\nwant %s", text, show(*got), show(want))
		}
	}
}

func show(q search.Query) string {
	b, err := json.Marshal(q)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A query that cannot be answered as it was meant is refused in words that say
// which part of it.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                       "missing",
		"   \t":                  "missing",
		`""`:                     "missing",
		`x -(a stats:open)`:      "Unknown qualifier \"stats\": quote the word if it is meant as text. (at character 7)",
		`NOT AND`:                "An operator follows another: quote the word if it is meant as text. (at character 5)",
		`NOT`:                    "NOT needs something behind it",
		`a OR`:                   "OR needs something on both sides",
		`OR b`:                   "OR needs something on both sides",
		`a OR sort:updated`:      "OR needs something on both sides",
		`a AND`:                  "AND needs something on both sides",
		`a AND OR b`:             "AND needs something on both sides",
		`AND b`:                  "An operator follows another",
		`a NOT NOT b`:            "An operator follows another",
		`a :)`:                   "no opening one: quote it if it is meant as text. (at character 4)",
		`(a`:                     "A parenthesis is not closed",
		`a ()`:                   "nothing between the parentheses",
		`a (sort:updated)`:       "nothing between the parentheses",
		`(((((((a)))))))`:        "nested more than 6 deep",
		`((((((a)))))) OR b`:     "nested more than 6 deep",
		`linked:branch`:          `"linked"`,
		`review:maybe`:           `"maybe" is not a value`,
		`status:green`:           `"status"`,
		`reason:none`:            `"reason"`,
		`is:fish`:                `"fish" is not a value of the qualifier "is"`,
		`-is:unmerged`:           `"-unmerged" is not a value`,
		`type:open`:              `"type"`,
		`state:merged`:           `"state"`,
		`draft:maybe`:            `"draft"`,
		`no:project`:             `"no"`,
		`in:file`:                `"in"`,
		`-in:title x`:            `"in"`,
		`-sort:created`:          `"sort"`,
		`sort:reactions`:         `"sort"`,
		`repo:name`:              `"repo"`,
		`author:`:                `"author" needs a value`,
		`author: x`:              `"author" needs a value`,
		`label:a,,b`:             `"label" needs a value`,
		`created:yesterday`:      `"yesterday"`,
		`created:2020-02-30`:     `"created"`,
		`created:=>2020-01-01`:   `"created"`,
		`created:..2020-01-01`:   `"created"`,
		`comments:many`:          `"comments"`,
		`comments:>*`:            `"comments"`,
		`language:go`:            `"language" is not supported`,
		"x \x00":                 "NUL",
		"\xff":                   "UTF-8",
		strings.Repeat("a", 257): "longer than 256",
		strings.Repeat("ééééééééé ", 26):      "longer than 256",
		strings.Repeat("a ", 33):              "more than 32 words",
		strings.Repeat("label:a ", 101):       "more than 100 qualifiers",
		strings.Repeat("is:pr OR ", 33) + "a": "more than 32 alternatives",
	} {
		_, err := search.Parse(text)
		var e *errs.Error
		if !errors.As(err, &e) || e.Kind != errs.Invalid || len(e.Fields) != 1 ||
			!strings.Contains(fmt.Sprintf("%+v", e.Fields[0]), want) {
			t.Errorf("%q: %+v, want %q", text, err, want)
		}
	}
	for _, text := range []string{strings.Repeat("é", 256),
		strings.Repeat("x ", 32) + strings.Repeat("label:abcdefgh ", 100)} {
		if _, err := search.Parse(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What is written of a query is read as the same query: nothing of it is lost,
// and equal queries can be known by their text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`crash "a \" b" -c NOT d repo:o/n is:open label:"x y",z created:>=2020-01-01 comments:<5 sort:updated-asc`,
		`created:>9999-12-31 created:<0001-01-01 -created:0000-01-01T00:00:00+10:00`,
		`comments:<0 comments:>2305843009213693951`,
		`is:merged -is:merged no:label milestone:* in:title`, "a\u00a0b\u3000-c", `label:"a""b"c,"" `,
		`user:"a b" org:c`,
		`a OR (b c OR -(d sort:updated in:title)) AND NOT e(f) label:g(h)`,
		`created:2020-01-31T12:00:00 02:00..2020-01-31T12:00:00 01:00`,
		`review-requested:a -user-review-requested:@me team-review-requested:"o/t" -team-review-requested:o/u`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := search.Parse(text)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
			return
		}
		written := q.String()
		again, err := search.Parse(written)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, written, err)
		}
		if !reflect.DeepEqual(q, again) || again.String() != written {
			t.Errorf("%q is written as %q:\n%s\n%s", text, written, show(*q), show(*again))
		}
	})
}

// BenchmarkParse shows that a query twice as long takes twice the time.
func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 14, 1 << 18} {
		for name, unit := range map[string]string{"quotes": `""`, "words": "a ", "minuses": "-",
			"escapes": `"\\`, "commas": "label:,", "groups": "(a) ", "open": "("} {
			b.Run(fmt.Sprint(name, "-", n), func(b *testing.B) {
				text := "label:" + strings.Repeat(unit, n/len(unit))
				b.SetBytes(int64(len(text)))
				for range b.N {
					search.Parse(text)
				}
			})
		}
	}
}
