package server_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
)

// If a server's clock is set back by an hour, as by a time server after a wrong start, requests succeed as
// before, waiting jobs run, and lists keep the order of creation.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var back atomic.Int64
		now := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB, o.Now = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Now: now}), now
		})
		w := newWalker(t, s)
		back.Store(int64(time.Hour))
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet || r.Right == route.Installation {
				continue // tokens of an hour are over by the clock that is not set back here
			}
			h := w.Homes[0]
			q := w.Request(t, &r, h)
			if a := w.ask(t, q.Who, q.Case); a.Status >= 300 {
				t.Errorf("%s: %d %s\n%s", q.Do, a.Status, a.Body, q.Send)
			}
		}
		if err := s.Server.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		h := w.Homes[0]
		var list []struct{ Number int }
		a := s.Do(t, apitest.Case{Do: "GET /repos/" + h.Owner + "/" + h.Name +
			"/issues?state=all&sort=created&direction=asc&per_page=100", As: "keeper"})
		if err := json.Unmarshal(a.Body, &list); err != nil || len(list) < 3 {
			t.Fatalf("%d issues, %v: %s", len(list), err, a.Body)
		}
		for i := range list[1:] {
			if list[i].Number >= list[i+1].Number {
				t.Errorf("#%d stands before #%d", list[i].Number, list[i+1].Number)
			}
		}
	})
}
