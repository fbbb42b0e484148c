package issues_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
)

const milestoneMilestones = "/repos/garden/plot/milestones"

// A maintainer plans with milestones, which count what is done and what is not.
func TestMilestones(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const at = "{base}/repos/garden/plot/milestones/1"
		spring := `{"url": "` + at + `", "html_url": "{base}/garden/plot/milestone/1", "labels_url": "` + at +
			`/labels", "id": "$any", "node_id": "$any",
			"number": 1, "title": "Spring", "description": "Sow", "creator": {"login": "will"}, "open_issues": 0, "closed_issues": 0, "state": "open",
			"created_at": "$any", "updated_at": "$any", "due_on": "2012-10-09T21:39:01Z", "closed_at": null}`
		s.Run(t, []apitest.Case{
			{Name: "none", Do: "GET " + milestoneMilestones, Status: 200, Body: "[]"},
			{Name: "make", Do: "POST " + milestoneMilestones, As: "will",
				Send:   `{"title": "Spring", "description": "Sow", "due_on": "2012-10-09T23:39:01+02:00"}`,
				Status: 201, Want: spring, Has: map[string]string{"Location": at}},
			{Name: "read", Do: "GET " + milestoneMilestones + "/1", Status: 200, Want: spring},
			{Name: "taken, and no number lost", Do: "POST " + milestoneMilestones, As: "will",
				Send: `{"title": "Spring"}`, Status: 422,
				Want: `{"errors": [{"resource": "Milestone", "field": "title", "code": "already_exists"}]}`},
			{Name: "not for readers", Do: "POST " + milestoneMilestones, As: "rae", Send: `{"title": "x"}`,
				Status: 403},
			{Name: "closed from the beginning", Do: "POST " + milestoneMilestones, As: "alice",
				Send:   `{"title": "spring", "state": "closed", "description": "", "due_on": null}`,
				Status: 201,
				Want:   `{"number": 2, "state": "closed", "closed_at": "$any", "description": null, "due_on": null, "creator": {"login": "alice"}}`},
			{Name: "one to do", Do: "POST /repos/garden/plot/issues", As: "will",
				Send: `{"title": "Beans", "milestone": 1, "labels": ["wet", "bug"]}`, Status: 201,
				Want: `{"milestone": {"number": 1, "open_issues": 1, "closed_issues": 0}}`},
			{Name: "one done", Do: "POST /repos/garden/plot/issues", As: "will",
				Send: `{"title": "Peas", "milestone": 1, "labels": ["bug"]}`, Status: 201},
			{Name: "closed", Do: "PATCH /repos/garden/plot/issues/2", As: "will", Send: `{"state": "closed"}`,
				Status: 200},
			{Name: "counted", Do: "GET " + milestoneMilestones + "/1", Status: 200,
				Want: `{"open_issues": 1, "closed_issues": 1}`},
			{Name: "labels, each once", Do: "GET " + milestoneMilestones + "/1/labels", Status: 200,
				Want: `[{"name": "bug", "default": true}, {"name": "wet"}]`},
			{Name: "in pages", Do: "GET " + milestoneMilestones + "/1/labels?per_page=1&page=2", Status: 200,
				Want: `[{"name": "wet"}]`},
			{Name: "none in the other", Do: "GET " + milestoneMilestones + "/2/labels", Status: 200, Body: "[]"},
			{Name: "edit", Do: "PATCH " + milestoneMilestones + "/1", As: "will",
				Send: `{"title": "Early spring", "description": null, "due_on": "2013-01-02", "state": "closed"}`, Status: 200,
				Want: `{"title": "Early spring", "description": null, "due_on": "2013-01-02T00:00:00Z", "state": "closed", "closed_at": "$any", "open_issues": 1}`},
			{Name: "issues show it", Do: "GET /repos/garden/plot/issues/1", Status: 200,
				Want: `{"milestone": {"title": "Early spring", "state": "closed"}}`},
			{Name: "reopen", Do: "PATCH " + milestoneMilestones + "/1", As: "will",
				Send: `{"state": "open", "due_on": ""}`, Status: 200,
				Want: `{"state": "open", "closed_at": null, "due_on": null}`},
			{Name: "nothing", Do: "PATCH " + milestoneMilestones + "/1", As: "will",
				Send: `{"title": null, "state": null}`, Status: 200,
				Want: `{"title": "Early spring", "state": "open"}`},
			{Name: "its own title", Do: "PATCH " + milestoneMilestones + "/1", As: "will",
				Send: `{"title": "Early spring"}`, Status: 200},
			{Name: "another's title", Do: "PATCH " + milestoneMilestones + "/1", As: "will",
				Send: `{"title": "spring"}`, Status: 422,
				Want: `{"errors": [{"resource": "Milestone", "field": "title", "code": "already_exists"}]}`},
			{Name: "readers edit nothing", Do: "PATCH " + milestoneMilestones + "/1", As: "rae",
				Send: `{"title": "x"}`, Status: 403},
			{Name: "nor delete", Do: "DELETE " + milestoneMilestones + "/1", As: "rae", Status: 403},
			{Name: "not there", Do: "GET " + milestoneMilestones + "/3", Status: 404},
			{Name: "not to edit", Do: "PATCH " + milestoneMilestones + "/3", As: "will", Send: `{}`, Status: 404},
			{Name: "not to delete", Do: "DELETE " + milestoneMilestones + "/3", As: "will", Status: 404},
			{Name: "without labels", Do: "GET " + milestoneMilestones + "/3/labels", Status: 404},
			{Name: "no number", Do: "GET " + milestoneMilestones + "/one", Status: 404},
			{Name: "a leading zero", Do: "GET " + milestoneMilestones + "/01", Status: 404},
			{Name: "beyond counting", Do: "GET " + milestoneMilestones + "/99999999999999999999", Status: 404},
			{Name: "of another repository", Do: "GET /repos/garden/shed/milestones/1", As: "will",
				Status: 404},
			{Name: "a secret one", Do: "GET /repos/garden/shed/milestones", As: "sam", Status: 404},
			{Name: "the first moment of 1970 is a date", Do: "PATCH " + milestoneMilestones + "/2", As: "will",
				Send: `{"due_on": "1970-01-01T00:00:00Z"}`, Status: 200,
				Want: `{"due_on": "1970-01-01T00:00:00Z"}`},
			{Name: "issues off", Do: "PATCH /repos/garden/plot", As: "alice", Send: `{"has_issues": false}`,
				Status: 200},
			{Name: "milestones stay", Do: "GET " + milestoneMilestones + "/1", Status: 200},
		})
	})
}

// A client that sends nonsense learns which field it is, and makes no milestone.
func TestBadMilestones(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Ask(t, "will", "POST "+milestoneMilestones, `{"title": "`+strings.Repeat("é", 256)+`"}`, 201)
		for _, c := range []struct{ body, field, code string }{
			{`{}`, "title", "missing_field"}, {`{"title": null}`, "title", "missing_field"},
			{`{"title": ""}`, "title", "missing_field"}, {`{"title": " \n"}`, "title", "missing_field"},
			{`{"title": 5}`, "title", "invalid"}, {`{"title": ["x"]}`, "title", "invalid"},
			{`{"title": {}}`, "title", "invalid"}, {`{"title": false}`, "title", "invalid"},
			{`{"title": "a\u0000"}`, "title", "invalid"},
			{`{"title": "` + strings.Repeat("é", 257) + `"}`, "title", "custom"},
			{`{"title": "x", "description": 5}`, "description", "invalid"},
			{`{"title": "x", "description": ["x"]}`, "description", "invalid"},
			{`{"title": "x", "description": "` + strings.Repeat("x", 65_537) + `"}`, "description", "custom"},
			{`{"title": "x", "state": "all"}`, "state", "invalid"},
			{`{"title": "x", "state": "OPEN"}`, "state", "invalid"},
			{`{"title": "x", "state": ""}`, "state", "invalid"},
			{`{"title": "x", "state": 1}`, "state", "invalid"},
			{`{"title": "x", "state": true}`, "state", "invalid"},
			{`{"title": "x", "due_on": 5}`, "due_on", "invalid"}, {`{"title": "x", "due_on": []}`, "due_on",
				"invalid"}, {`{"title": "x", "due_on": "tomorrow"}`, "due_on", "invalid"},
			{`{"title": "x", "due_on": "2012-13-09T23:39:01Z"}`, "due_on", "invalid"},
			{`{"title": "x", "due_on": "2012-02-30"}`, "due_on", "invalid"},
			{`{"title": "x", "due_on": "12012-02-03T00:00:00Z"}`, "due_on", "invalid"},
		} {
			want := fmt.Sprintf(`{"errors": [{"resource": "Milestone", "field": %q, "code": %q}]}`,
				c.field, c.code)
			s.Check(t, apitest.Case{Do: "POST " + milestoneMilestones, As: "will", Send: c.body,
				Status: 422, Want: want})
			if c.body == `{}` || c.body == `{"title": null}` {
				continue // an edit of nothing
			}
			s.Check(t, apitest.Case{Do: "PATCH " + milestoneMilestones + "/1", As: "will", Send: c.body,
				Status: 422, Want: want})
		}
		for _, query := range []string{"state=any", "sort=title", "direction=up", "sort=number"} {
			name, _, _ := strings.Cut(query, "=")
			s.Check(t, apitest.Case{Do: "GET " + milestoneMilestones + "?" + query, Status: 422,
				Want: `{"errors": [{"resource": "Milestone", "field": "` + name + `", "code": "invalid"}]}`})
		}
		s.Check(t, apitest.Case{Do: "POST " + milestoneMilestones, As: "will", Send: `[]`, Status: 400})
		s.Check(t, apitest.Case{Do: "POST " + milestoneMilestones, As: "will", Send: `{"title": "next"}`, Status: 201,
			Want: `{"number": 2}`})
	})
}

// A list of milestones shows each once over all pages, in each order and
// direction (decisions 23, 24).
func TestListMilestones(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for i, m := range []struct{ due, state string }{ // numbers from 1
			{`"2020-03-01T00:00:00Z"`, "open"}, {`null`, "open"}, {`"2020-01-01T00:00:00Z"`, "closed"},
			{`"2020-02-01T00:00:00Z"`, "open"},
			{`null`, "closed"}, {`"2020-02-01T00:00:00Z"`, "open"},
		} {
			s.Check(t, apitest.Case{Do: "POST " + milestoneMilestones, As: "will",
				Send:   fmt.Sprintf(`{"title": "m%d", "due_on": %s, "state": %q}`, i+1, m.due, m.state),
				Status: 201})
		}
		for number, issues := range map[int][]string{1: {"open", "closed", "open"}, 3: {"closed"},
			4: {"closed", "open", "closed"}, 6: {"open"}} {
			for _, state := range issues {
				var made struct{ Number int }
				s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "will",
					Send: fmt.Sprintf(`{"title": "x", "milestone": %d}`, number), Status: 201}).JSON(t, &made)
				s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/garden/plot/issues/%d", made.Number),
					As: "will", Send: fmt.Sprintf(`{"state": %q}`, state), Status: 200})
			}
		}
		for query, want := range map[string]string{
			"":                                     "4 6 1 2",
			"direction=desc":                       "1 6 4 2",
			"state=closed":                         "3 5",
			"state=all":                            "3 4 6 1 2 5",
			"state=all&direction=desc":             "1 6 4 3 5 2",
			"sort=completeness":                    "2 6 1 4",
			"sort=completeness&direction=desc":     "4 1 6 2",
			"state=all&sort=completeness":          "2 5 6 1 4 3",
			"sort=due_on&state=open&direction=asc": "4 6 1 2",
		} {
			var got []string
			for page := 1; page <= 4; page++ {
				var list []struct{ Number int }
				s.Check(t, apitest.Case{Do: fmt.Sprintf("GET %s?%s&per_page=2&page=%d", milestoneMilestones, query,
					page), Status: 200}).JSON(t, &list)
				for _, m := range list {
					got = append(got, fmt.Sprint(m.Number))
				}
			}
			if list := strings.Join(got, " "); list != want {
				t.Errorf("%q lists %s, want %s", query, list, want)
			}
		}
		s.Check(t, apitest.Case{Do: "GET " + milestoneMilestones + "?state=all&per_page=4&page=2", Status: 200,
			Has: map[string]string{
				"Link": `<{base}` + milestoneMilestones + `?state=all&per_page=4&page=1>; rel="first", <{base}` +
					milestoneMilestones + `?state=all&per_page=4&page=1>; rel="prev"`}})
	})
}

// Teammates who plan at the same moment make one milestone or label of a name,
// and numbers without gaps.
func TestPlanAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		const each = 6
		var status [3 * each]int
		var wg sync.WaitGroup
		for i := range each {
			for k, c := range []apitest.Case{
				{Do: "POST " + milestoneMilestones, Send: `{"title": "one"}`},
				{Do: "POST /repos/garden/plot/labels", Send: `{"name": "wet"}`},
				{Do: "POST " + milestoneMilestones, Send: fmt.Sprintf(`{"title": "own %d"}`, i)},
			} {
				c.As = "will"
				wg.Go(func() { status[k*each+i] = s.Do(t, c).Status })
			}
		}
		wg.Wait()
		for k, want := range []int{1, 1, each} {
			made := 0
			for _, code := range status[k*each : (k+1)*each] {
				if code == 201 {
					made++
				} else if code != 422 {
					t.Errorf("status %d", code)
				}
			}
			if made != want {
				t.Errorf("%d were made, not %d", made, want)
			}
		}
		s.Check(t, apitest.Case{Do: "POST " + milestoneMilestones, As: "will", Send: `{"title": "next"}`, Status: 201,
			Want: fmt.Sprintf(`{"number": %d}`, each+2)})
	})
}
