package pages_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/live"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// stream is an open stream of events.
type stream struct {
	status int
	events chan string // their ids; closed at the end of the stream
	end    context.CancelFunc
}

// listen opens a stream of events with a session, or as nobody.
func listen(t testing.TB, s *apitest.Server, session, path, since string) *stream {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path+"?since="+since, nil)
	testkit.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	if session != "" {
		r.AddCookie(&http.Cookie{Name: "arbor_session", Value: session})
	}
	a, err := http.DefaultClient.Do(r)
	testkit.NoError(t, err)
	l := &stream{status: a.StatusCode, events: make(chan string, 100), end: end}
	go func() {
		defer close(l.events)
		defer a.Body.Close()
		for lines := bufio.NewScanner(a.Body); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				l.events <- id
			}
		}
	}()
	t.Cleanup(end)
	return l
}

// hears wants an event.
func (l *stream) hears(t testing.TB, what string) (id string) {
	t.Helper()
	select {
	case id, ok := <-l.events:
		if !ok {
			t.Fatalf("%s: the stream has ended", what)
		}
		return id
	case <-time.After(testkit.Patience):
		t.Fatalf("%s: no event", what)
	}
	return ""
}

// ends wants the stream to end without another event.
func (l *stream) ends(t testing.TB, what string) {
	t.Helper()
	select {
	case id, ok := <-l.events:
		if ok {
			t.Fatalf("%s: the event %s", what, id)
		}
	case <-time.After(testkit.Patience):
		t.Fatalf("%s: the stream goes on", what)
	}
}

func markOf(t testing.TB, s *apitest.Server, who, page string) string {
	t.Helper()
	return first(t, get(t, s, who, page, 200), `data-mark="([0-9a-f]+)"`)
}

// A page hears of each change that it shows, and misses none between its load and its stream.
func TestLive(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		sha := head(t, s, number)
		s.Settle(t)
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		events, repo := fmt.Sprintf("/alice/plot/issues/%d/live", number), "/repos/alice/plot"
		one := fmt.Sprintf("%s/issues/%d", repo, number)
		mark := markOf(t, s, "will", at)
		api(t, s, "sam", "POST "+one+"/comments", 201, changeObject{"body": "Between"}, nil)
		l := listen(t, s, s.Session(t, "will"), events, mark)
		was := l.hears(t, "a comment before the stream")
		for _, c := range []struct {
			who, do string
			status  int
			body    changeObject
		}{
			{"sam", "POST " + one + "/comments", 201, changeObject{"body": "Hello"}},
			{"alice", "POST " + one + "/labels", 200, changeObject{"labels": []string{"new"}}},
			{"alice", "PATCH " + one, 200, changeObject{"title": "Better"}},
			{"alice", "PUT " + one + "/lock", 204, nil},
			{"alice", "POST " + one + "/reactions", 201, changeObject{"content": "heart"}},
			{"alice", "POST " + repo + "/issues/comments/1/reactions", 201, changeObject{"content": "rocket"}},
			{"alice", "DELETE " + repo + "/issues/comments/1/reactions/2", 204, nil},
			{"will", fmt.Sprintf("POST %s/pulls/%d/reviews", repo, number), 200, changeObject{"event": "APPROVE"}},
			{"alice", "POST " + repo + "/statuses/" + sha, 201, changeObject{"state": "success"}},
			{"alice", "PATCH " + one, 200, changeObject{"state": "closed"}},
		} {
			api(t, s, c.who, c.do, c.status, c.body, nil)
			if now := l.hears(t, c.do); now == was {
				t.Errorf("%s: the same mark", c.do)
			} else {
				was = now
			}
		}
		for _, reason := range []string{"spam", ""} {
			led(t, s, "alice", fmt.Sprintf("/alice/plot/issues/%d/comments/1/hide", number), "reason", reason)
			l.hears(t, "a comment hidden as "+reason)
		}
		edit(t, s, "main", song("9", "moved"), "Move the base")
		l.hears(t, "the base moved")
		api(t, s, "alice", "PUT "+repo+"/branches/main/protection", 200, changeObject{"required_status_checks": nil,
			"enforce_admins": nil, "required_pull_request_reviews": changeObject{}, "restrictions": nil}, nil)
		l.hears(t, "a rule")
		// The mark of a page that is loaded now is that of the last event, so its stream has nothing to say.
		testkit.Eventually(t, func() bool {
			mark := markOf(t, s, "will", at)
			l := listen(t, s, s.Session(t, "will"), events, mark)
			defer l.end()
			select {
			case <-l.events:
				return false
			case <-time.After(2 * time.Second):
				return true
			}
		}, "a stream of what does not change is silent")
		if a := s.Do(t, apitest.Case{Do: "GET " + events, As: "will", Headers: inBrowser}); a.Status != 200 ||
			a.Header.Get("Content-Type") != "text/event-stream" || string(a.Body) != "retry: 3000\n\n" {
			t.Errorf("without Accept: %d %s %q", a.Status, a.Header, a.Body)
		}
		get(t, s, "will", "/alice/plot/issues/999/live", 404)
	})
}

// Whose right ends hears nothing more of it: not even that something happened.
func TestLiveRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will", "sam")
		r := s.Repo(t, "alice/plot", false)
		s.Grant(t, r, "will", account.Push)
		api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "One"}, nil)
		const events = "/alice/plot/issues/1/live"
		say := func() {
			t.Helper()
			api(t, s, "alice", "POST /repos/alice/plot/issues/1/comments", 201, changeObject{"body": "Psst"}, nil)
		}
		mark := func() string { return markOf(t, s, "alice", "/alice/plot/issues/1") }
		now := mark()
		wills := s.Session(t, "will")
		alice, will, sam, nobody := listen(t, s, s.Session(t, "alice"), events, now), listen(t, s, wills, events, now),
			listen(t, s, s.Session(t, "sam"), events, now), listen(t, s, "", events, now)
		say()
		for who, l := range map[string]*stream{"alice": alice, "will": will, "sam": sam, "nobody": nobody} {
			l.hears(t, who)
		}
		api(t, s, "alice", "PATCH /repos/alice/plot", 200, changeObject{"private": true}, nil)
		say()
		alice.hears(t, "the owner")
		will.hears(t, "a collaborator")
		sam.ends(t, "a stranger of what is private now")
		nobody.ends(t, "nobody of what is private now")
		if l := listen(t, s, s.Session(t, "sam"), events, ""); l.status != 404 {
			t.Errorf("a stranger opens a stream of what is private: %d", l.status)
		}

		a := s.Do(t, apitest.Case{Do: "POST /logout", Headers: map[string]string{"Cookie": "arbor_session=" + wills,
			"Content-Type": "application/x-www-form-urlencoded", "Origin": s.URL}})
		if a.Status != 303 {
			t.Fatalf("sign out: %d %s", a.Status, a.Body)
		}
		say()
		alice.hears(t, "the owner")
		will.ends(t, "a session that has ended")
		again := listen(t, s, s.Session(t, "will"), events, mark())
		api(t, s, "alice", "DELETE /repos/alice/plot/collaborators/will", 204, nil, nil)
		say()
		alice.hears(t, "the owner")
		again.ends(t, "who is no collaborator any more")
		api(t, s, "alice", "DELETE /repos/alice/plot", 204, nil, nil)
		alice.ends(t, "a deleted repository")
	})
}

// A thousand tabs of one person are six streams, and harm nobody. A server that stops ends all at once.
func TestLiveBounds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "will")
	s.Repo(t, "alice/plot", false)
	api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "One"}, nil)
	const events = "/alice/plot/issues/1/live"
	session, now := s.Session(t, "will"), markOf(t, s, "will", "/alice/plot/issues/1")
	var open []*stream
	refused := 0
	for range 1000 {
		switch l := listen(t, s, session, events, now); l.status {
		case 200:
			open = append(open, l)
		case 429:
			refused++
		default:
			t.Fatalf("status %d", l.status)
		}
	}
	if len(open) != live.MaxEach || refused != 1000-live.MaxEach {
		t.Errorf("%d streams, %d refused", len(open), refused)
	}
	other := listen(t, s, s.Session(t, "alice"), events, now)
	api(t, s, "alice", "POST /repos/alice/plot/issues/1/comments", 201, changeObject{"body": "Hello"}, nil)
	for _, l := range append(open, other) {
		l.hears(t, "a comment")
	}
	open[0].end()
	testkit.Eventually(t, func() bool {
		l := listen(t, s, session, events, now)
		return l.status == 200
	}, "a stream that was closed makes room")
	s.Server.Retire()
	for _, l := range append(open[1:], other) {
		l.ends(t, "the server stops")
	}
	if l := listen(t, s, session, events, now); l.status != 503 {
		t.Errorf("a server that stops opens a stream: %d", l.status)
	}
}
