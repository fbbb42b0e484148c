package statistic

import (
	"cmp"
	"slices"

	"arbor/internal/account"
	"arbor/internal/web"
)

const (
	yearWeeks       = 52
	maxWeeks        = 20 * yearWeeks // the newest ones that an answer lists
	maxContributors = 100            // as at GitHub
)

// weekPayload is a week of an author.
type weekPayload struct {
	Week    int64 `json:"w"` // its beginning, in seconds since 1970
	Added   int64 `json:"a"`
	Deleted int64 `json:"d"`
	Commits int64 `json:"c"`
}

// contributorPayload is GitHub's contributor-activity.
type contributorPayload struct {
	Author *account.Simple `json:"author"`
	Total  int64           `json:"total"`
	Weeks  []weekPayload   `json:"weeks"`
}

// activityPayload is GitHub's commit-activity.
type activityPayload struct {
	Days  [7]int64 `json:"days"` // from Sunday on
	Total int64    `json:"total"`
	Week  int64    `json:"week"`
}

// participationPayload is GitHub's participation-stats: by week, the oldest first.
type participationPayload struct {
	All   [yearWeeks]int64 `json:"all"`
	Owner [yearWeeks]int64 `json:"owner"`
}

// weeks returns the numbers of the first and the last week that answers list: from the first commit until now.
func (k *known) weeks() (first, last int64) {
	last = weekOf(k.now)
	if len(k.Days) == 0 {
		return last, last
	}
	return max(weekOf(k.Days[0][0]), last-7*(maxWeeks-1)), last
}

// yearOf returns the place of a day's week among the last 52.
func (k *known) yearOf(day int64) (at int64, ok bool) {
	at = yearWeeks - 1 - (weekOf(k.now)-weekOf(day))/7
	return at, at >= 0 && at < yearWeeks
}

// byWeek returns the tallies of all weeks that answers list.
func (k *known) byWeek(list []tally) []tally {
	first, last := k.weeks()
	out := []tally{}
	for week := first; week <= last; week += 7 {
		out = append(out, tally{week})
	}
	for _, t := range list {
		if n := (weekOf(t[0]) - first) / 7; t[0] >= first && int(n) < len(out) {
			for column := 1; column < len(t); column++ {
				out[n][column] += t[column]
			}
		}
	}
	return out
}

func (k *known) codeFrequency() any {
	out := [][3]int64{}
	for _, t := range k.byWeek(k.Days) {
		out = append(out, [3]int64{t[0] * daySeconds, t[2], -t[3]})
	}
	return out
}

func (k *known) commitActivity() any {
	out := make([]activityPayload, yearWeeks)
	for n := range out {
		out[n].Week = (weekOf(k.now) - 7*int64(yearWeeks-1-n)) * daySeconds
	}
	for _, t := range k.Days {
		if at, ok := k.yearOf(t[0]); ok {
			out[at].Days[t[0]-weekOf(t[0])] += t[1]
			out[at].Total += t[1]
		}
	}
	return out
}

// contributors joins the addresses of an account.
func (k *known) contributors(i *web.Info) any {
	type person struct {
		account *account.Account
		total   int64
		weeks   []tally
	}
	var people []*person
	of := map[*account.Account]*person{}
	for _, one := range k.Authors {
		who := k.people[one.Email]
		p := of[who]
		if p == nil || who == nil {
			p = &person{account: who}
			people, of[who] = append(people, p), p
		}
		p.total, p.weeks = p.total+one.Total, append(p.weeks, one.Weeks...)
	}
	slices.SortStableFunc(people, func(a, b *person) int { return cmp.Compare(b.total, a.total) })
	people = people[:min(len(people), maxContributors)]
	out := make([]contributorPayload, 0, len(people))
	for _, p := range slices.Backward(people) {
		c := contributorPayload{Author: account.NewSimple(p.account, i), Total: p.total, Weeks: []weekPayload{}}
		for _, t := range k.byWeek(p.weeks) {
			c.Weeks = append(c.Weeks, weekPayload{t[0] * daySeconds, t[2], t[3], t[1]})
		}
		out = append(out, c)
	}
	return out
}

func (k *known) participation(owner account.ID) participationPayload {
	var out participationPayload
	for _, t := range k.Days {
		if at, ok := k.yearOf(t[0]); ok {
			out.All[at] += t[1]
		}
	}
	for _, one := range k.Authors {
		if who := k.people[one.Email]; who == nil || who.ID != owner {
			continue
		}
		for _, t := range one.Weeks {
			if at, ok := k.yearOf(t[0]); ok {
				out.Owner[at] += t[1]
			}
		}
	}
	return out
}

func (k *known) punchCard() any {
	out := make([][3]int64, 0, len(k.Hours))
	for n, commits := range k.Hours {
		out = append(out, [3]int64{int64(n / 24), int64(n % 24), commits})
	}
	return out
}
