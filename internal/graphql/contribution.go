package graphql

import (
	"context"
	"maps"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// contributed loads what users contributed as far as the caller sees it.
func contributed() accountsPager[activity.Contribution] {
	const address = "GET /users/{username}/events"
	return accountsPager[activity.Contribution]{"contributions", address, func(
		ctx context.Context, q *query, of []account.ID, _ web.Page,
	) (map[account.ID]*web.List[activity.Contribution], error) {
		found, err := q.load.Activities.Contributions(ctx, account.CallerFrom(ctx), of)
		out := map[account.ID]*web.List[activity.Contribution]{}
		for id, list := range found {
			out[id] = &web.List[activity.Contribution]{Rows: list}
		}
		return out, err
	}}
}

// contributionsOf loads the contributions of users, of all together, and returns those of each.
func contributionsOf(ctx context.Context, objects []*object) ([][]activity.Contribution, error) {
	q, l, out := queryOf(ctx), contributed(), make([][]activity.Contribution, len(objects))
	l.loadPage(ctx, q, objects, 1, 1)
	for n, o := range objects {
		page, err := l.pageOf(ctx, q, o, 1, 1)
		if err != nil {
			return nil, asError(err)
		}
		if page != nil {
			out[n] = page.Rows
		}
	}
	return out, nil
}

// collection is what a user contributed in a time.
type collection struct {
	user     *object
	list     []activity.Contribution
	from, to time.Time
}

// contributionsCollection resolves the field of that name of users: by default of the last year.
func contributionsCollection(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	from, to, err := timeOf(f)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	objects := objectsOf(parents)
	lists, err := contributionsOf(ctx, objects)
	if err != nil {
		return failed(err, len(parents))
	}
	values := make([]any, len(parents))
	org, chosen, err := organizationIn(ctx, f)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, o := range objects {
		list := slices.DeleteFunc(slices.Clone(lists[n]), func(c activity.Contribution) bool {
			return c.At < db.FromTime(from) || c.At > db.FromTime(to) || chosen && c.OrgID != org
		})
		values[n] = &object{kind: "ContributionsCollection", whole: true, value: &collection{o, list, from, to}}
	}
	return values
}

// organizationIn reads the argument organizationID, if it is given. Error: NOT_FOUND.
func organizationIn(ctx context.Context, f *exec.Field) (id account.ID, given bool, err error) {
	node, given := f.Args["organizationID"].(string)
	if !given {
		return 0, false, nil
	}
	org, err := queryOf(ctx).find(ctx, node, "Organization")
	if err != nil {
		return 0, true, err
	}
	return account.ID(org.(*object).id), true, nil
}

// timeOf reads the arguments from and to, which are at most a year apart, as at GitHub.
func timeOf(f *exec.Field) (from, to time.Time, err error) {
	read := func(name string) (at time.Time, given bool) {
		text, given := f.Args[name].(string)
		if given {
			var ok bool
			if at, ok = web.ParseTime(text); !ok {
				err = refused("`" + clip(text) + "` is not a time such as 2011-04-22T13:33:48Z.")
			}
		}
		return at.UTC(), given
	}
	from, begins := read("from")
	to, ends := read("to")
	today := time.Now().UTC().Truncate(24 * time.Hour)
	switch {
	case begins && !ends:
		to = from.AddDate(1, 0, 0)
	case ends && !begins:
		from = to.AddDate(-1, 0, 0)
	case !begins:
		from, to = today.AddDate(-1, 0, 0), today.Add(24*time.Hour-time.Second)
	}
	switch {
	case err != nil:
	case to.Before(from):
		err = refused("The time in 'to' must not be before the time in 'from'.")
	case to.After(from.AddDate(1, 0, 1)):
		err = refused("The total time spanned by 'from' and 'to' must not exceed 1 year.")
	}
	return from, to, err
}

func contributionFields() map[string]exec.Resolver {
	of := func(part func(c *collection) any) exec.Resolver { return pick(part) }
	return merge(contributionLists(), map[string]exec.Resolver{
		"user":      of(func(c *collection) any { return c.user }),
		"startedAt": of(func(c *collection) any { return c.from.Format(time.RFC3339) }),
		"endedAt":   of(func(c *collection) any { return c.to.Format(time.RFC3339) }),
		"isSingleDay": of(func(c *collection) any {
			return c.from.Format(time.DateOnly) == c.to.Format(time.DateOnly)
		}),
		"doesEndInCurrentMonth": of(func(c *collection) any {
			return c.to.Format("2006-01") == time.Now().UTC().Format("2006-01")
		}),
		"hasAnyContributions": of(func(c *collection) any { return len(c.list) > 0 }),
		"hasActivityInThePast": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			c := o.value.(*collection)
			lists, err := contributionsOf(ctx, []*object{c.user})
			return err == nil && slices.ContainsFunc(lists[0], func(one activity.Contribution) bool {
				return one.At < db.FromTime(c.from)
			}), err
		}),
		"contributionYears": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			lists, err := contributionsOf(ctx, []*object{o.value.(*collection).user})
			if err != nil {
				return nil, err
			}
			years := map[int]bool{time.Now().UTC().Year(): true}
			for _, one := range lists[0] {
				years[one.At.Time().UTC().Year()] = true
			}
			var list []any
			for _, year := range slices.Backward(slices.Sorted(maps.Keys(years))) {
				list = append(list, year)
			}
			return list, nil
		}),
		"contributionCalendar": one(calendarOf),
	})
}

// levels are the levels of a day, with their colors.
var levels = [...]struct{ name, color string }{{"NONE", "#ebedf0"}, {"FIRST_QUARTILE", "#9be9a8"},
	{"SECOND_QUARTILE", "#40c463"}, {"THIRD_QUARTILE", "#30a14e"}, {"FOURTH_QUARTILE", "#216e39"}}

// calendarDays is how many days a calendar has at most.
const calendarDays = 380

// calendarOf resolves the calendar of a collection.
func calendarOf(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	if err := queryOf(ctx).hold(ctx, calendarDays*valueBytes); err != nil {
		return nil, err
	}
	c := o.value.(*collection)
	counts, most := map[string]int{}, 1
	for _, one := range c.list {
		day := one.At.Time().UTC().Format(time.DateOnly)
		counts[day]++
		most = max(most, counts[day])
	}
	var weeks, months, week []any
	var begins string
	first := c.from.UTC().Truncate(24 * time.Hour)
	for day := first; !day.After(c.to); day = day.AddDate(0, 0, 1) {
		if len(week) == 0 {
			begins = day.Format(time.DateOnly)
		}
		if day.Day() == 1 || day.Equal(first) {
			end := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
			months = append(months, bare{"ContributionCalendarMonth", map[string]any{"firstDay": day.Format(time.DateOnly),
				"name": day.Format("Jan"), "year": day.Year(), "totalWeeks": (end.Day()-day.Day()+int(day.Weekday()))/7 + 1}})
		}
		n := counts[day.Format(time.DateOnly)]
		level := levels[(n*4+most-1)/most]
		week = append(week, bare{"ContributionCalendarDay", map[string]any{"date": day.Format(time.DateOnly),
			"weekday": int(day.Weekday()), "contributionCount": n, "contributionLevel": level.name, "color": level.color}})
		if day.Weekday() == time.Saturday || day.AddDate(0, 0, 1).After(c.to) {
			weeks = append(weeks, bare{"ContributionCalendarWeek", map[string]any{"firstDay": begins, "contributionDays": week}})
			week = nil
		}
	}
	colors := []any{}
	for _, l := range levels[1:] {
		colors = append(colors, l.color)
	}
	return bare{"ContributionCalendar", map[string]any{"colors": colors, "isHalloween": false, "months": months,
		"weeks": weeks, "totalContributions": len(c.list)}}, nil
}
