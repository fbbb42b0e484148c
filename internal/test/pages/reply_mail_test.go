package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/comment"
	"arbor/internal/mail/reply"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/mailtest"
	"arbor/internal/test/testkit"
)

const replyTo = "reply+%s@example.org"

// withReplies is withMail for a server whose mails take replies.
func withReplies(t *testing.T, engine db.Engine) (*apitest.Server, *mailtest.Server, *reply.Service) {
	t.Helper()
	mails := mailtest.Start(t)
	s := apitest.Start(t, engine, func(o *server.Options) {
		o.Mail = mails.Config(t, mailSite)
		o.Mail.Reply = replyTo
	})
	testkit.Eventually(t, func() bool {
		return dbtest.Number(t, s.DB, `SELECT count(*) FROM mail_sites`) == 1
	}, "the server sends mail")
	return s, mails, &reply.Service{DB: s.DB, Repos: s.Repos, Comments: comment.New(s.DB, s.Forge.Issues), Setting: replyTo}
}

// answering is a mail as a program sends it: from, to an address, with an id and more headers.
func answering(from, to, id, body string, headers ...string) []byte {
	return []byte(strings.ReplaceAll("From: "+from+"\nTo: <"+to+">\nMessage-ID: <"+id+">\n"+strings.Join(headers, "")+"\n"+body,
		"\n", "\r\n"))
}

// A reply to a mail about an issue becomes a comment, once, with the rights that its author has then.
func TestReplyByMail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, mails, takes := withReplies(t, engine)
		s.Team(t)
		s.Email(t, "sam", "sam@example.org")
		s.Email(t, "alice", "alice@example.org")
		s.Ask(t, "alice", "POST /repos/garden/plot/issues", `{"title": "Slugs", "body": "Help @sam"}`, 201)
		tellAll(t, s)
		list := toldBy(mails, "sam@example.org")
		if len(list) != 1 {
			t.Fatalf("%d mails", len(list))
		}
		to := strings.Trim(list[0].Header.Get("Reply-To"), "<>")
		if !strings.HasPrefix(to, "reply+") || !strings.HasSuffix(to, "@example.org") || len(to) > 80 ||
			!strings.Contains(list[0].Text, "Reply to this mail to comment.") {
			t.Fatalf("replies go to %q:\n%s", to, list[0].Text)
		}
		quoted := "\n\nOn 2 March alice <arbor@example.org> wrote:\n> " + strings.ReplaceAll(list[0].Text, "\n", "\n> ")
		const sam = "Sam <Sam@Example.org>"
		receive := func(raw []byte, recipient string) (*reply.Outcome, error) {
			return takes.Receive(t.Context(), raw, recipient)
		}
		takes1 := answering(sam, to, "1@x", "I water **them**.\n\n-- \nSam"+quoted)
		out, err := receive(takes1, "")
		testkit.NoError(t, err)
		if out.Comment == 0 || out.In != "garden/plot#1" {
			t.Errorf("%+v", out)
		}
		const comments = "GET /repos/garden/plot/issues/1/comments"
		s.Check(t, apitest.Case{Do: comments, As: "alice", Status: 200,
			Want: `[{"body": "I water **them**.", "user": {"login": "sam"}}]`})
		// It says so, also after an edit; other comments do not.
		s.Ask(t, "sam", "PATCH /repos/garden/plot/issues/comments/1", `{"body": "I water **them** daily."}`, 200)
		s.Ask(t, "sam", "PATCH /repos/garden/plot/issues/comments/1", `{"body": "I water **them**."}`, 200)
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: `{"query": "{repository(owner:\"garden\",name:\"plot\"){` +
			`issue(number:1){createdViaEmail comments(first:1){nodes{createdViaEmail}}}}}"}`, Status: 200,
			Want: `{"data": {"repository": {"issue": {"createdViaEmail": false, "comments": {"nodes": [{"createdViaEmail": true}]}}}}}`})
		tellAll(t, s)
		if n := len(toldBy(mails, "alice@example.org")); n != 1 {
			t.Errorf("alice got %d mails of the reply", n)
		}

		// Dropped: a mail twice, at once too, and what programs write.
		if out, err := receive(takes1, ""); err != nil || out.Dropped == "" {
			t.Errorf("again: %+v %v", out, err)
		}
		const same = 4
		got := make(chan int64, same)
		for range same {
			go func() {
				out, err := receive(answering(sam, "arbor@example.org", "2@x", "Twice?"), strings.ToUpper(to))
				if err != nil {
					t.Error(err)
					out = &reply.Outcome{}
				}
				got <- out.Comment
			}()
		}
		made := 0
		for range same {
			if <-got != 0 {
				made++
			}
		}
		if made != 1 {
			t.Errorf("%d comments of one mail", made)
		}
		if out, err := receive(answering(sam, to, "3@x", "I am away", "Auto-Submitted: auto-replied\n"), ""); err != nil ||
			out.Dropped == "" {
			t.Errorf("an automatic reply: %+v %v", out, err)
		}

		// Refused, with a line for who wrote it.
		refused := func(name string, kind errs.Kind, says string, raw []byte) {
			t.Helper()
			if out, err := receive(raw, ""); !errs.Is(err, kind) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %+v %v", name, out, err)
			}
		}
		plain := answering(sam, to, "4@x", "Hello")
		changed := strings.Replace(to, to[10:11], map[bool]string{true: "b", false: "a"}[to[10] == 'a'], 1)
		refused("a changed token", errs.NotFound, "no thread", answering(sam, changed, "5@x", "Hello"))
		refused("no token", errs.NotFound, "no thread", answering(sam, "arbor@example.org", "5@x", "Hello"))
		refused("another sender", errs.Forbidden, "verified address", answering("alice@example.org", to, "5@x", "Hello"))
		refused("two senders", errs.Forbidden, "verified address", answering("sam@example.org, a@example.org", to, "5@x", "Hello"))
		refused("HTML", errs.Invalid, "HTML alone", answering(sam, to, "5@x", "<p>Hello</p>", "Content-Type: text/html\n"))
		refused("a quote", errs.Invalid, "says nothing", answering(sam, to, "5@x", quoted))
		refused("a long text", errs.Invalid, "too long", answering(sam, to, "5@x", strings.Repeat("x", 70000)))
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Run(`UPDATE mail_counts SET n = 60 WHERE name LIKE 'reply by %'`)
		}))
		refused("too many", errs.TooManyRequests, "too often", plain)
		testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.Run(`DELETE FROM mail_counts`) }))
		previews := map[string]string{"Accept": "application/vnd.service.the-key-preview+json"}
		for _, c := range []struct {
			name, says string
			kind       errs.Kind
			do, undo   func() error
		}{
			{"suspended", "suspended", errs.Forbidden, func() error {
				_, err := s.Accounts.Suspend(t.Context(), nil, "sam")
				return err
			}, func() error {
				_, err := s.Accounts.Unsuspend(t.Context(), nil, "sam")
				return err
			}},
			{"a private repository", "cannot see", errs.NotFound, func() error {
				s.Ask(t, "alice", "PATCH /repos/garden/plot", `{"private": true}`, 200)
				return nil
			}, func() error {
				s.Ask(t, "alice", "PATCH /repos/garden/plot", `{"private": false}`, 200)
				return nil
			}},
			{"an archived one", "archived", errs.Forbidden, func() error {
				s.Ask(t, "alice", "PATCH /repos/garden/plot", `{"archived": true}`, 200)
				return nil
			}, func() error {
				s.Ask(t, "alice", "PATCH /repos/garden/plot", `{"archived": false}`, 200)
				return nil
			}},
			{"locked", "locked", errs.Forbidden, func() error {
				s.Check(t, apitest.Case{Do: "PUT /repos/garden/plot/issues/1/lock", As: "alice", Status: 204, Headers: previews})
				return nil
			}, func() error {
				s.Check(t, apitest.Case{Do: "DELETE /repos/garden/plot/issues/1/lock", As: "alice", Status: 204, Headers: previews})
				return nil
			}},
			{"no verified address", "verified address", errs.Forbidden, func() error {
				return s.Accounts.RemoveEmail(t.Context(), "sam", "sam@example.org")
			}, func() error {
				s.Email(t, "sam", "sam@example.org")
				return nil
			}},
		} {
			testkit.NoError(t, c.do())
			refused(c.name, c.kind, c.says, plain)
			testkit.NoError(t, c.undo())
		}
		out, err = receive(plain, "") // nothing of what was refused counts
		testkit.NoError(t, err)
		if out.Comment == 0 {
			t.Errorf("%+v", out)
		}
		s.Ask(t, "alice", "PATCH /repos/garden/plot", `{"name": "bed"}`, 200)
		out, err = receive(answering(sam, to, "6@x", "Renamed"), "")
		testkit.NoError(t, err)
		if out.In != "garden/bed#1" {
			t.Errorf("%+v", out)
		}
		s.Ask(t, "alice", "DELETE /repos/garden/bed", "", 204)
		refused("deleted", errs.NotFound, "not there any more", answering(sam, to, "7@x", "Deleted"))
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM mail_replies`); n != 4 {
			t.Errorf("%d mails are noted", n)
		}
	})
}
