package journal_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"arbor/internal/journal"
)

// The names and the order of what stands in a request's line are what people
// search their logs for.
func TestLine(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(journal.Text(&text, slog.LevelInfo))
	l := journal.Line{At: time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC), Method: "GET",
		Route: "/plants/{id}", Status: 200,
		Took: 1500 * time.Microsecond, Bytes: 42, Cost: 65536, ID: "5f-01"}
	journal.Log(t.Context(), log, &l)
	l.Route, l.Owner, l.Repo = "/repos/{owner}/{repo}", "alice", "garden"
	l.Address, l.Caller, l.TokenID = netip.MustParseAddr("2001:db8::1"), "alice", 7
	journal.Log(t.Context(), log, &l)
	l.Status, l.Error = 404, errors.New("not there")
	journal.Log(t.Context(), log, &l)
	const want = `time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/plants/{id} repo="" status=200 took=1.5ms address="" caller="" token=0 bytes=42 cost=65536 id=5f-01
time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/repos/{owner}/{repo} repo=alice/garden status=200 took=1.5ms address=2001:db8::1 caller=alice token=7 bytes=42 cost=65536 id=5f-01
time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/repos/{owner}/{repo} repo=alice/garden status=404 took=1.5ms address=2001:db8::1 caller=alice token=7 bytes=42 cost=65536 id=5f-01 error="not there"
`
	if text.String() != want {
		t.Errorf("%s\nwant:\n%s", &text, want)
	}
}
