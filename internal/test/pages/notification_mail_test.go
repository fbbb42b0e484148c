package pages_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	issues "arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

// tellAll waits until people were told of all that happened, and no mail waits but digests.
func tellAll(t *testing.T, s *apitest.Server) {
	t.Helper()
	tellNobody(t, s)
	testkit.Eventually(t, func() bool {
		return dbtest.Number(t, s.DB, `SELECT count(*) FROM mails WHERE kind <> 'digest'`) == 0
	}, "the mails are sent")
}

// tellNobody waits until mails were written.
func tellNobody(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		testkit.NoError(t, s.Forge.Notifier.Settle(t.Context()))
		return dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_acts`) == 0
	}, "people are told")
}

// toldBy are the mails about notifications to an address.
func toldBy(mails *mailtest.Server, address string) (list []*mailtest.Mail) {
	for _, m := range mails.To(address) {
		if m.Header.Get("X-Arbor-Reason") != "" {
			list = append(list, m)
		}
	}
	return list
}

// Whoever takes part in an issue gets a mail of each comment, threaded and with one click to unsubscribe.
func TestNotificationsByMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Team(t)
		for _, login := range []string{"alice", "will", "sam"} {
			s.Email(t, login, login+"@example.org")
		}
		testkit.NoError(t, s.Accounts.AddEmail(t.Context(), "rae", "rae@example.org")) // not verified
		s.Ask(t, "will", "PUT /repos/garden/plot/subscription", `{"subscribed": true}`, 200)
		s.Ask(t, "alice", "POST /repos/garden/plot/issues",
			`{"title": "Slugs\u2028Bcc: x", "body": "Help **@sam** and @rae <img src=\"https://spy.example/x.png\">"}`, 201)
		tellAll(t, s)
		first := mails.Wait(t, "sam@example.org", 1)
		for _, m := range toldBy(mails, "sam@example.org") {
			first = m
		}
		id := first.Header.Get("Message-ID")
		for name, want := range map[string]string{"List-Id": "<plot.garden.code.example.org>", "X-Arbor-Reason": "mention",
			"To": `"garden/plot" <arbor@example.org>`, "Cc": "<sam@example.org>", "From": `"alice" <arbor@example.org>`,
			"List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "In-Reply-To": ""} {
			if got := first.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if first.Subject() != "[garden/plot] Slugs Bcc: x (#1)" || !strings.Contains(id, "issue.") {
			t.Errorf("subject %q, id %q", first.Subject(), id)
		}
		if !strings.Contains(first.Text, "alice opened this:\n\nHelp **@sam**") ||
			!strings.Contains(first.Text, mailSite+"/garden/plot/issues/1") ||
			!strings.Contains(first.Text, "because you were mentioned") {
			t.Errorf("the text is %s", first.Text)
		}
		if !strings.Contains(first.HTML, "<strong>") || strings.Contains(first.HTML, "<img") ||
			!strings.Contains(first.HTML, `href="`+mailSite+"/sam") {
			t.Errorf("the HTML is %s", first.HTML)
		}
		if n := len(toldBy(mails, "alice@example.org")) + len(mails.To("rae@example.org")); n != 0 {
			t.Errorf("%d mails went to who acted, and to an address that is not verified", n)
		}
		if list := toldBy(mails, "will@example.org"); len(list) != 1 || list[0].Header.Get("X-Arbor-Reason") != "subscribed" {
			t.Errorf("who watches gets %d", len(list))
		}

		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "Beer."}`, 201)
		tellAll(t, s)
		answers := toldBy(mails, "alice@example.org")
		if len(answers) != 1 || answers[0].Header.Get("In-Reply-To") != id || answers[0].Header.Get("References") != id ||
			!strings.Contains(answers[0].Text, "sam commented:\n\nBeer.") || len(toldBy(mails, "sam@example.org")) != 1 {
			t.Fatalf("%d answers: %+v", len(answers), answers)
		}

		// Looking ends nothing; a program that reads mail ends it without signing in.
		link := strings.Trim(answers[0].Header.Get("List-Unsubscribe"), "<>")
		at, err := url.Parse(link)
		testkit.NoError(t, err)
		nobody := as(t, s, "")
		nobody.get(at.RequestURI()).Shows(t, 200, "alice", "garden/plot#1")
		nobody.get(at.RequestURI()[:len(at.RequestURI())-1]).Shows(t, 404)
		nobody.post(at.RequestURI()[:len(at.RequestURI())-4]+"aaaa", "List-Unsubscribe", "One-Click").Shows(t, 404)
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "More beer."}`, 201)
		tellAll(t, s)
		if n := len(toldBy(mails, "alice@example.org")); n != 2 {
			t.Fatalf("after a look %d mails", n)
		}
		nobody.post(at.RequestURI(), "List-Unsubscribe", "One-Click").Shows(t, 200, "ignores")
		s.Ask(t, "sam", "POST /repos/garden/plot/issues/1/comments", `{"body": "@alice?"}`, 201)
		tellAll(t, s)
		if n := len(toldBy(mails, "alice@example.org")); n != 2 {
			t.Errorf("after unsubscribing %d mails", n)
		}

		// Whoever is mentioned as a member of a team, too, gets one mail.
		s.Ask(t, "alice", "PUT /orgs/garden/memberships/will", `{"role": "member"}`, 200)
		s.Ask(t, "alice", "POST /orgs/garden/teams", `{"name": "hands", "maintainers": ["alice"]}`, 201)
		s.Ask(t, "alice", "PUT /orgs/garden/teams/hands/memberships/will", `{}`, 200)
		s.Ask(t, "will", "POST /repos/garden/plot/issues/1/comments", `{"body": "Here."}`, 201)
		tellAll(t, s)
		both := len(toldBy(mails, "will@example.org"))
		s.Ask(t, "alice", "POST /repos/garden/plot/issues/1/comments", `{"body": "@garden/hands!"}`, 201)
		tellAll(t, s)
		if list := toldBy(mails, "will@example.org"); len(list) != both+1 {
			t.Errorf("%d mails about a comment", len(list)-both)
		}

		// Choices: own activity, nothing where one only watches.
		as(t, s, "will").post("/settings/notifications", "participating", "1", "own", "1", "digest", "0").
			Leads(t, "/settings/notifications")
		as(t, s, "will").post("/settings/notifications", "digest", "3").Shows(t, 422)
		before := len(toldBy(mails, "will@example.org"))
		s.Ask(t, "will", "POST /repos/garden/plot/issues", `{"title": "Mine"}`, 201)
		s.Ask(t, "alice", "POST /repos/garden/plot/issues", `{"title": "Not mine"}`, 201)
		tellAll(t, s)
		if list := toldBy(mails, "will@example.org"); len(list) != before+1 ||
			list[before].Header.Get("X-Arbor-Reason") != "your_activity" {
			t.Errorf("%d mails about own activity", len(list)-before)
		}
	})
}

// A digest is one mail for all that is unread, and ends by its own address.
func TestDigests(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Team(t)
		s.Email(t, "sam", "sam@example.org")
		as(t, s, "sam").post("/settings/notifications", "participating", "1", "watching", "1", "digest", "1").
			Leads(t, "/settings/notifications")
		for n := range 3 {
			s.Ask(t, "alice", "POST /repos/garden/plot/issues", fmt.Sprintf(`{"title": "Item %d", "body": "@sam"}`, n), 201)
		}
		s.Ask(t, "alice", "POST /repos/garden/shed/issues", `{"title": "Secret", "body": "@sam"}`, 201)
		tellAll(t, s)
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM mails WHERE kind = 'digest'`); n != 1 {
			t.Fatalf("%d digests wait", n)
		}
		if n := dbtest.Number(t, s.DB, `SELECT due_at - created_at FROM mails`); n <= 0 || n > 24*3600_000_000 {
			t.Errorf("it is due in %d µs", n)
		}
		s.Ask(t, "alice", "PATCH /repos/garden/plot/issues/2", `{"title": "Renamed"}`, 200)
		tellNobody(t, s)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`UPDATE mails SET due_at = 0`) }))
		testkit.Eventually(t, func() bool { return len(toldBy(mails, "sam@example.org")) == 1 }, "a digest")
		m := toldBy(mails, "sam@example.org")[0]
		if m.Subject() != "Notifications of the day: 3" || !strings.Contains(m.Text, "garden/plot: Renamed (#2)") ||
			strings.Contains(m.Text, "Secret") {
			t.Errorf("%s: %s", m.Subject(), m.Text)
		}
		at, err := url.Parse(strings.Trim(m.Header.Get("List-Unsubscribe"), "<>"))
		testkit.NoError(t, err)
		as(t, s, "").post(at.RequestURI()).Shows(t, 200, "no mail about notifications")
		s.Ask(t, "alice", "POST /repos/garden/plot/issues", `{"title": "After", "body": "@sam"}`, 201)
		tellAll(t, s)
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM mails`); n != 0 {
			t.Errorf("%d mails wait after the end", n)
		}
	})
}

// What changes between the moment a mail is written and the one it is sent counts: it tells of the state and the rights
// of that moment, or is not sent. Each person or repository is a case; the mail server is away while things change.
func TestMailTransitions(t *testing.T) {
	t.Parallel()
	type change func(t *testing.T, s *apitest.Server, at string)
	do := func(as, what, send string, status int) change {
		return func(t *testing.T, s *apitest.Server, at string) {
			s.Ask(t, as, strings.ReplaceAll(what, "{at}", at), send, status)
		}
	}
	run := func(query string) change {
		return func(t *testing.T, s *apitest.Server, at string) {
			testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(query, at[strings.LastIndex(at, "/")+1:]) }))
		}
	}
	const comment = ` WHERE issue_id = (SELECT i.id FROM issues i JOIN repos r ON r.id = i.repo_id WHERE r.name = $1)`
	repos := map[string]struct { // bob is the author of its issue, on which alice comments
		change change
		want   string // the subject; empty: it is not sent
		says   string
	}{
		"same":        {nil, "[garden/same] Old (#1)", "alice commented:\n\nA word."},
		"hidden":      {do("alice", "PATCH {at}", `{"private": true}`, 200), "", ""},
		"renamed":     {do("alice", "PATCH {at}", `{"name": "fresh"}`, 200), "[garden/fresh] Old (#1)", ""},
		"moved":       {do("alice", "POST {at}/transfer", `{"new_owner": "alice"}`, 202), "[alice/moved] Old (#1)", ""},
		"deleted":     {do("alice", "DELETE {at}", "", 204), "", ""},
		"retitled":    {do("alice", "PATCH {at}/issues/1", `{"title": "New"}`, 200), "[garden/retitled] New (#1)", ""},
		"switchedoff": {do("alice", "PATCH {at}", `{"has_issues": false}`, 200), "", ""},
		"muted":       {do("bob", "PUT {at}/issues/1/subscription", `{"ignored": true}`, 200), "", ""},
		"left":        {do("bob", "DELETE {at}/issues/1/subscription", "", 204), "", ""},
		"silenced":    {do("bob", "PUT {at}/subscription", `{"ignored": true}`, 200), "", ""},
		"erased":      {run(`DELETE FROM issue_comments` + comment), "", ""},
		"folded":      {run(`UPDATE issue_comments SET hidden = 6` + comment), "", ""},
		"edited":      {run(`UPDATE issue_comments SET body = 'Another.'` + comment), "[garden/edited] Old (#1)", "\n\nAnother."},
		"issuegone": {func(t *testing.T, s *apitest.Server, _ string) {
			testkit.NoError(t, s.Forge.Issues.Delete(t.Context(), s.Access(t, "alice", "garden/issuegone"), 1))
		}, "", ""},
		"issuemoved": {func(t *testing.T, s *apitest.Server, _ string) {
			from, to := s.Access(t, "alice", "garden/issuemoved"), s.Access(t, "alice", "garden/plot")
			_, err := s.Forge.Issues.Transfer(t.Context(), from, 1, issues.Transfer{To: to})
			testkit.NoError(t, err)
		}, "[garden/plot] Old (#1)", "A word."},
	}
	people := map[string]struct { // each is the author of an issue
		change change
		to     string // an address; empty: nowhere
	}{
		"stays":     {nil, "stays@example.org"},
		"suspended": {do("chief", "PUT /users/suspended/suspended", "", 204), ""},
		"gone":      {do("chief", "DELETE /admin/users/gone", "", 204), ""},
		"bare": {func(t *testing.T, s *apitest.Server, _ string) {
			testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "bare", "bare@example.org"))
		}, ""},
		"elsewhere": {func(t *testing.T, s *apitest.Server, _ string) {
			s.Email(t, "elsewhere", "new@example.org")
			testkit.NoError(t, s.Accounts.RemoveEmail(t.Context(), "elsewhere", "elsewhere@example.org"))
		}, "new@example.org"},
		"quiet": {func(t *testing.T, s *apitest.Server, _ string) {
			as(t, s, "quiet").post("/settings/notifications", "watching", "1", "digest", "0").Leads(t, "/settings/notifications")
		}, ""},
		"daily": {func(t *testing.T, s *apitest.Server, _ string) {
			as(t, s, "daily").post("/settings/notifications", "participating", "1", "digest", "1").
				Leads(t, "/settings/notifications")
		}, "daily@example.org"},
	}
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails := withMail(t, engine)
		s.Team(t)
		s.Admin(t, "chief")
		s.Users(t, "bob")
		s.Email(t, "bob", "bob@example.org")
		for name := range repos {
			s.Repo(t, "garden/"+name, false)
			s.Ask(t, "bob", "POST /repos/garden/"+name+"/issues", `{"title": "Old"}`, 201)
		}
		member := s.Repo(t, "garden/lost", true)
		s.Grant(t, member, "bob", account.Pull)
		s.Ask(t, "bob", "POST /repos/garden/lost/issues", `{"title": "Old"}`, 201)
		s.Repo(t, "garden/people", false)
		numbers := map[string]string{}
		for name := range people {
			s.Users(t, name)
			s.Email(t, name, name+"@example.org")
			var made struct{ Number int }
			s.Ask(t, name, "POST /repos/garden/people/issues", `{"title": "`+name+`"}`, 201).JSON(t, &made)
			numbers[name] = fmt.Sprint(made.Number)
		}
		tellAll(t, s)
		mails.On(func(string) string { return "421 away" })
		for name := range repos {
			s.Ask(t, "alice", "POST /repos/garden/"+name+"/issues/1/comments", `{"body": "A word."}`, 201)
		}
		s.Ask(t, "alice", "POST /repos/garden/lost/issues/1/comments", `{"body": "A word."}`, 201)
		for _, n := range numbers {
			s.Ask(t, "alice", "POST /repos/garden/people/issues/"+n+"/comments", `{"body": "A word."}`, 201)
		}
		tellNobody(t, s)
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM mails WHERE kind = 'told'`); int(n) != len(repos)+1+len(people) {
			t.Fatalf("%d mails wait", n)
		}
		for name, c := range repos {
			if c.change != nil {
				c.change(t, s, "/repos/garden/"+name)
			}
		}
		s.Ask(t, "alice", "DELETE /repos/garden/lost/collaborators/bob", "", 204)
		for _, c := range people {
			if c.change != nil {
				c.change(t, s, "")
			}
		}
		mails.On(nil)
		tellAll(t, s)
		var want, got []string
		for _, c := range repos {
			if c.want != "" {
				want = append(want, c.want)
			}
		}
		for _, m := range toldBy(mails, "bob@example.org") {
			got = append(got, m.Subject())
			for _, c := range repos {
				if c.want == m.Subject() && !strings.Contains(m.Text, c.says) {
					t.Errorf("%s says %s", c.want, m.Text)
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("bob got %q, want %q", got, want)
		}
		for name, c := range people {
			for _, m := range toldBy(mails, name+"@example.org") {
				if c.to != m.To {
					t.Errorf("%s got %q at %s", name, m.Subject(), m.To)
				}
			}
			if c.to != "" && len(toldBy(mails, c.to)) != 1 {
				t.Errorf("%s got %d mails at %s", name, len(toldBy(mails, c.to)), c.to)
			}
		}
	})
}

// However long the texts are, a mail keeps the links at its end.
func TestLongMailsKeepTheirEnd(t *testing.T) {
	t.Parallel()
	s, mails := withMail(t, db.SQLite)
	s.Team(t)
	s.Email(t, "sam", "sam@example.org")
	s.Ask(t, "alice", "POST /repos/garden/plot/issues", `{"title": "Long", "body": "@sam `+strings.Repeat("`a` ", 15000)+`"}`, 201)
	tellAll(t, s)
	list := toldBy(mails, "sam@example.org")
	if len(list) != 1 {
		t.Fatalf("%d mails", len(list))
	}
	for _, form := range []string{list[0].Text, list[0].HTML} {
		if !strings.Contains(form, "too long for a mail") || !strings.Contains(form, "/notifications/unsubscribe?link=") ||
			!strings.Contains(form, mailSite+"/garden/plot/issues/1") || len(form) > 64<<10 {
			t.Errorf("%d bytes: %.300s ... %s", len(form), form, form[max(0, len(form)-600):])
		}
	}
}
