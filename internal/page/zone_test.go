package page

import (
	"html/template"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
)

// Times are in the time zone of the reader, in titles, texts and days, also where midnight or summer time lies
// between; who chose none reads UTC. Dates without a time stay as they are, and what people write is not touched.
func TestTimesAreInTheReadersZone(t *testing.T) {
	t.Parallel()
	set := template.Must(template.New("").Funcs(functions()).Parse(`{{when .At}} {{moment .At}} {{.Blame}} {{when .None}}` +
		`<time datetime="2024-05-31">31 May 2024</time> {{.Said}}`))
	show := func(zone string, at time.Time) string {
		r := httptest.NewRequest("GET", "/", nil)
		if zone != "-" {
			r = r.WithContext(account.WithCaller(r.Context(), &account.Caller{ID: 1, TimeZone: zone}))
		}
		var b strings.Builder
		view := map[string]any{"At": at, "None": time.Time{}, "Blame": "<td>" + Date(at) + "</td>",
			"Said": template.HTML(`<time datetime="31 May">31 May 2024</time> <time datetime="`)}
		if err := set.Execute(inZone(r, &b), view); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct {
		zone        string
		month       time.Month
		date, title string
	}{
		{"-", 5, "31 May 2024", "31 May 2024, 22:30 UTC"},
		{"", 5, "31 May 2024", "31 May 2024, 22:30 UTC"},
		{"Europe/Berlin", 5, "1 Jun 2024", "1 June 2024, 00:30 CEST"},
		{"Europe/Berlin", 1, "31 Jan 2024", "31 January 2024, 23:30 CET"},
		{"America/New_York", 5, "31 May 2024", "31 May 2024, 18:30 EDT"},
		{"Asia/Calcutta", 5, "1 Jun 2024", "1 June 2024, 04:00 IST"},
		{"Gone/Away", 5, "31 May 2024", "31 May 2024, 22:30 UTC"},
	} {
		at := time.Date(2024, c.month, 31, 22, 30, 0, 0, time.UTC)
		open := `<time datetime="` + at.Format(time.RFC3339) + `" title="` + c.title + `">`
		want := open + "on " + c.date + "</time> " + open + c.title + "</time> <td>" + open + c.date + "</time></td> " +
			`<time datetime="2024-05-31">31 May 2024</time> <time datetime="31 May">31 May 2024</time> <time datetime="`
		if got := show(c.zone, at); got != want {
			t.Errorf("%q: %s, want %s", c.zone, got, want)
		}
	}
}
