package repos_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// dated is a commit on main: who wrote it when, and the text of a file.
type dated struct {
	email string
	at    time.Time
	text  string
}

// historyOf is a stream of commits for gittest.Import, one after the other.
func historyOf(list []dated) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "commit refs/heads/main\nauthor A <%s> %d %s\ncommitter A <%s> %d +0000\ndata 1\nx\n",
			c.email, c.at.Unix(), c.at.Format("-0700"), c.email, c.at.Unix())
		fmt.Fprintf(&b, "M 100644 inline beds.txt\ndata %d\n%s\n", len(c.text), c.text)
	}
	return b.String()
}

// Graphs of a repository come from its statistics. They are counted once for each head, in the background, and tell
// nobody of what is hidden.
func TestStatistics(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "alice", "a@garden.example"))
		testkit.NoError(t, s.Accounts.VerifyEmail(t.Context(), "alice", "a@garden.example"))
		r := s.Repo(t, "alice/garden", true)
		s.Grant(t, r, "bob", account.Pull)
		const stats = "GET /repos/alice/garden/stats/"
		s.Run(t, []apitest.Case{
			{Name: "without commits", Do: stats + "contributors", As: "bob", Status: 204},
			{Do: stats + "punch_card", As: "bob", Status: 204},
			{Do: stats + "participation", As: "bob", Status: 200},
		})
		now := time.Now().UTC()
		zone := time.FixedZone("", 2*60*60)
		long := time.Date(2020, 1, 7, 23, 30, 0, 0, zone) // a Tuesday
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(historyOf([]dated{
			{"x@garden.example", long, "one\ntwo\nthree\n"},
			{"a@garden.example", long.Add(time.Hour), "one\n"},
			{"a@garden.example", now, "one\nfour\n"},
		})))
		s.Import(t, r, dir)
		s.Check(t, apitest.Case{Do: stats + "contributors", As: "bob", Status: 202, Body: "{}"})
		s.Settle(t)
		var people []struct {
			Author *struct{ Login string }
			Total  int
			Weeks  []struct{ W, A, D, C int64 }
		}
		s.Check(t, apitest.Case{Do: stats + "contributors", As: "bob", Status: 200}).JSON(t, &people)
		if len(people) != 2 || people[0].Author != nil || people[0].Total != 1 || people[1].Author == nil ||
			people[1].Author.Login != "alice" || people[1].Total != 2 {
			t.Fatalf("contributors: %+v", people)
		}
		sunday := time.Date(2020, 1, 5, 0, 0, 0, 0, time.UTC).Unix()
		weeks := people[1].Weeks
		if first, last := weeks[0], weeks[len(weeks)-1]; first.W != sunday || first.D != 2 || first.C != 1 ||
			last.C != 1 || last.A != 1 || last.W > now.Unix() || now.Unix()-last.W > 8*24*60*60 {
			t.Errorf("weeks: %+v to %+v", first, last)
		}
		var hours, lines [][3]int64
		s.Check(t, apitest.Case{Do: stats + "punch_card", As: "bob", Status: 200}).JSON(t, &hours)
		if len(hours) != 168 || hours[2*24+23][2] < 1 || hours[3*24][2] < 1 {
			t.Errorf("hours: %v", hours)
		}
		s.Check(t, apitest.Case{Do: stats + "code_frequency", As: "bob", Status: 200}).JSON(t, &lines)
		if lines[0] != [3]int64{sunday, 3, -2} || lines[len(lines)-1][1] != 1 {
			t.Errorf("lines: %v to %v", lines[0], lines[len(lines)-1])
		}
		var year struct{ All, Owner []int64 }
		s.Check(t, apitest.Case{Do: stats + "participation", As: "bob", Status: 200}).JSON(t, &year)
		if len(year.All) != 52 || year.All[51] != 1 || year.Owner[51] != 1 {
			t.Errorf("participation: %v", year)
		}
		var activity []struct {
			Days  []int64
			Total int64
		}
		s.Check(t, apitest.Case{Do: stats + "commit_activity", As: "bob", Status: 200}).JSON(t, &activity)
		if len(activity) != 52 || activity[51].Total != 1 || activity[51].Days[now.Weekday()] != 1 {
			t.Errorf("activity: %v", activity)
		}
		s.Run(t, []apitest.Case{
			{Name: "hidden", Do: stats + "contributors", As: "eve", Status: 404},
			{Do: stats + "contributors", Status: 404},
			{Name: "a push", Do: "PUT /repos/alice/garden/contents/more.txt", As: "alice", Status: 201,
				Send: `{"message": "More", "content": "bW9yZQo="}`},
			{Do: stats + "contributors", As: "bob", Status: 202},
			{Name: "shown", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200},
		})
		s.Settle(t)
		s.Run(t, []apitest.Case{
			{Do: stats + "contributors", Status: 200},
			{Name: "hidden again", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: stats + "contributors", Status: 404},
			{Name: "deleted with a job that waits", Do: "PUT /repos/alice/garden/contents/last.txt", As: "alice", Status: 201,
				Send: `{"message": "Last", "content": "bW9yZQo="}`},
			{Do: stats + "contributors", As: "alice", Status: 202},
			{Do: "DELETE /repos/alice/garden", As: "alice", Status: 204},
		})
		s.Settle(t)
	})
}

// A list tells how branches changed, and by whom, to those who may see it.
func TestBranchActivity(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		s.Run(t, []apitest.Case{{Do: "POST /user/repos", As: "alice", Send: `{"name": "garden", "auto_init": true}`,
			Status: 201}})
		const activity = "GET /repos/alice/garden/activity"
		first := s.Tip(t, "alice", "alice/garden", "main")
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/garden/collaborators/bob", As: "alice", Status: 204},
			{Do: "POST /repos/alice/garden/git/refs", As: "bob", Status: 201,
				Send: `{"ref": "refs/heads/beds", "sha": "` + first + `"}`},
			{Do: "POST /repos/alice/garden/git/refs", As: "bob", Status: 201,
				Send: `{"ref": "refs/tags/v1", "sha": "` + first + `"}`},
			{Do: "PUT /repos/alice/garden/contents/beds.txt", As: "bob", Status: 201,
				Send: `{"message": "Beds", "content": "eA==", "branch": "beds"}`},
			{Do: "PATCH /repos/alice/garden/git/refs/heads/beds", As: "bob", Status: 200,
				Send: `{"sha": "` + first + `", "force": true}`},
			{Do: "PUT /repos/alice/garden/contents/peas.txt", As: "bob", Status: 201,
				Send: `{"message": "Peas", "content": "eA==", "branch": "beds"}`},
			{Do: "POST /repos/alice/garden/pulls", As: "bob", Status: 201,
				Send: `{"title": "Peas", "head": "beds", "base": "main"}`},
			{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice", Status: 200},
			{Do: "DELETE /repos/alice/garden/git/refs/heads/beds", As: "bob", Status: 204},
		})
		types := func(query string) (list []string, a *apitest.Answer) {
			t.Helper()
			var got []struct {
				Type string `json:"activity_type"`
			}
			a = s.Check(t, apitest.Case{Do: activity + query, Status: 200})
			a.JSON(t, &got)
			for _, one := range got {
				list = append(list, one.Type)
			}
			return list, a
		}
		for query, want := range map[string]string{
			"":              "[branch_deletion pr_merge push force_push push branch_creation]",
			"?ref=main":     "[pr_merge]",
			"?actor=ALICE":  "[pr_merge]",
			"?actor=nobody": "[]",
			"?direction=asc&ref=refs/heads/beds&per_page=2": "[branch_creation push]",
			"?activity_type=force_push":                     "[force_push]",
			"?time_period=day&activity_type=pr_merge":       "[pr_merge]",
		} {
			if got, _ := types(query); fmt.Sprint(got) != want {
				t.Errorf("%s: %v, want %s", query, got, want)
			}
		}
		_, a := types("?per_page=2")
		next := linkTo(a.Header.Get("Link"), "next")
		got, b := types(next)
		if fmt.Sprint(got) != "[push force_push]" {
			t.Errorf("the second page %s: %v", next, got)
		}
		back := linkTo(b.Header.Get("Link"), "prev")
		if got, _ = types(back); fmt.Sprint(got) != "[branch_deletion pr_merge]" {
			t.Errorf("the first page again %s: %v", back, got)
		}
		if got, _ = types(linkTo(b.Header.Get("Link"), "next")); fmt.Sprint(got) != "[push branch_creation]" {
			t.Errorf("the last page: %v", got)
		}
		s.Run(t, []apitest.Case{
			{Do: activity + "?time_period=century", Status: 422},
			{Do: activity + "?activity_type=pull", Status: 422},
			{Do: activity + "?after=x", Status: 422},
			{Name: "hidden", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200},
			{Do: activity, As: "eve", Status: 404},
			{Do: "PUT /repos/alice/garden/contents/secret.txt", As: "alice", Status: 201,
				Send: `{"message": "Secret", "content": "eA=="}`},
			{Name: "shown", Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200},
		})
		if got, _ = types("?ref=main"); fmt.Sprint(got) != "[pr_merge]" {
			t.Errorf("the private time is told: %v", got)
		}
	})
}

// linkTo is the query of a link of a Link header.
func linkTo(header, rel string) string {
	for part := range strings.SplitSeq(header, ", ") {
		if address, found := strings.CutSuffix(part, `>; rel="`+rel+`"`); found {
			_, query, _ := strings.Cut(address, "?")
			return "?" + query
		}
	}
	return "?nothing"
}
