package statistic

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/git/history"
)

// Limits of counting a history.
const (
	maxCommits = 100_000          // the newest ones; older ones are not counted
	maxLines   = 10_000           // commits; lines of a longer history are not counted, as at GitHub
	lineTime   = 40 * time.Second // for counting lines; then they are not counted
	maxAuthors = 500              // addresses, those with most commits
)

// counts are the statistics of a history, as they are stored.
type counts struct {
	Lines   bool       `json:"lines"` // whether lines were counted
	Days    []tally    `json:"days"`  // by the day's number from 1970-01-01, UTC
	Hours   [168]int64 `json:"hours"` // commits by hour of the author's week, which begins on Sunday
	Authors []*author  `json:"authors"`
}

// author is somebody who wrote commits.
type author struct {
	Email string  `json:"email"` // folded
	Total int64   `json:"total"`
	Weeks []tally `json:"weeks"` // by the number of the week's first day, a Sunday
}

// tally is a day's number, and the commits, added and deleted lines from it on.
type tally [4]int64

const daySeconds = 24 * 60 * 60

// weekOf returns the number of the Sunday on or before a day.
func weekOf(day int64) int64 { return day - (day+4)%7 } // day 0 was a Thursday

// counter counts commits one by one.
type counter struct {
	commits int
	days    map[int64]*tally
	hours   [168]int64
	authors map[string]map[int64]*tally // by address and week
}

func newCounter() *counter {
	return &counter{days: map[int64]*tally{}, authors: map[string]map[int64]*tally{}}
}

// see counts a commit. One whose time is none, or before 1970, counts for no week.
func (c *counter) see(one history.Change) {
	c.commits++
	if one.At.IsZero() || one.At.Unix() < 0 {
		return
	}
	c.hours[int(one.At.Weekday())*24+one.At.Hour()]++
	day, email := one.At.Unix()/daySeconds, account.Fold(one.Email)
	if c.authors[email] == nil {
		c.authors[email] = map[int64]*tally{}
	}
	add(c.days, day, one)
	add(c.authors[email], weekOf(day), one)
}

func add(to map[int64]*tally, day int64, one history.Change) {
	t := to[day]
	if t == nil {
		t = &tally{day}
		to[day] = t
	}
	t[1], t[2], t[3] = t[1]+1, t[2]+one.Added, t[3]+one.Deleted
}

// list returns the tallies in their order.
func list(of map[int64]*tally) []tally {
	out := make([]tally, 0, len(of))
	for _, day := range slices.Sorted(maps.Keys(of)) {
		out = append(out, *of[day])
	}
	return out
}

// counts returns what was counted.
func (c *counter) counts(lines bool) *counts {
	out := &counts{Lines: lines, Days: list(c.days), Hours: c.hours}
	for email, weeks := range c.authors {
		a := &author{Email: email, Weeks: list(weeks)}
		for _, w := range a.Weeks {
			a.Total += w[1]
		}
		out.Authors = append(out.Authors, a)
	}
	slices.SortFunc(out.Authors, func(a, b *author) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Email, b.Email))
	})
	out.Authors = out.Authors[:min(len(out.Authors), maxAuthors)]
	return out
}

// countHistory counts the commits of a history, and their lines if it is short enough.
func countHistory(ctx context.Context, objects *git.Repository, tip git.SHA) (*counts, error) {
	c := newCounter()
	if err := history.Changes(ctx, objects, tip, maxCommits, false, c.see); err != nil {
		return nil, err
	}
	if c.commits >= maxLines {
		return c.counts(false), nil
	}
	limited, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	withLines := newCounter()
	err := history.Changes(limited, objects, tip, maxLines, true, withLines.see)
	switch {
	case err == nil:
		return withLines.counts(true), nil
	case ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		return c.counts(false), nil
	}
	return nil, err
}
