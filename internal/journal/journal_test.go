package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/journal"
)

// sink keeps what is written, a string a write. While it is blocked, writes do
// not return.
type sink struct {
	mu      sync.Mutex
	writes  []string
	fails   error
	blocked chan struct{} // nil: it is not
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	blocked, fails := s.blocked, s.fails
	s.mu.Unlock()
	if blocked != nil {
		<-blocked
	}
	if fails != nil {
		return 0, fails
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, string(p))
	return len(p), nil
}

func (s *sink) all() (writes int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.writes), strings.Join(s.writes, "")
}

func (s *sink) set(fails error, blocked chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.blocked = fails, blocked
}

// request logs a request's line with a number in it; every seventh is one that
// slog itself renders.
func request(h slog.Handler, number int) {
	l := journal.Line{At: time.Now(), Method: "GET", Route: "/repos/{owner}/{repo}", Status: 404,
		Caller: "alice", ID: strconv.Itoa(number)}
	if number%7 == 0 {
		l.Error = errors.New("it is not there")
	}
	journal.Log(context.Background(), slog.New(h), &l)
}

var numbered = regexp.MustCompile(`"?id"?[=:]"?(\d+)[ "\n]`)

// numbers are those of the requests in a text, in its order.
func numbers(text string) []int {
	var list []int
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		list = append(list, n)
	}
	return list
}

// Who follows a log sees a request a tenth of a second later at the latest, and
// busy servers write once for hundreds of requests.
func TestRequestsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		h := journal.Text(out, slog.LevelInfo)
		for round := 1; round <= 2; round++ { // nothing is left over from the first
			request(h, 1)
			time.Sleep(60 * time.Millisecond)
			request(h, 2)
			time.Sleep(39 * time.Millisecond)
			if n, text := out.all(); n != round-1 {
				t.Fatalf("after 99 ms it has written %d times:\n%s", n, text)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if n, text := out.all(); n != round || len(numbers(text)) != 2*round {
				t.Fatalf("after 100 ms it has written %d times:\n%s", n, text)
			}
		}
		for i := range 1000 {
			request(h, i)
		}
		synctest.Wait() // and no time passes
		n, text := out.all()
		if got := len(numbers(text)); n > 10 || got < 500 {
			t.Errorf("a thousand requests at once: %d of them were written, in %d writes", got-4, n-2)
		}
		h.Flush()
		if _, text := out.all(); len(numbers(text)) != 1004 {
			t.Errorf("after Flush there are %d lines", len(numbers(text)))
		}
	})
}

// What an operator must see is there at once, and what led to it stands before
// it.
func TestOtherLinesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{}
		h := journal.Text(out, slog.LevelDebug)
		log := slog.New(h)
		failed := func(string, ...any) {
			log.LogAttrs(t.Context(), slog.LevelError, journal.Request, slog.Int("status", 500))
		}
		for i, say := range []func(string, ...any){log.Debug, log.Info, log.Warn, log.Error, failed} {
			request(h, i)
			say("something else", "place", i)
			n, text := out.all()
			if lines := strings.Count(text, "\n"); n != i+1 || lines != 2*i+2 || len(numbers(text)) != i+1 ||
				numbered.MatchString(text[strings.LastIndexByte(text[:len(text)-1], '\n'):]) {
				t.Fatalf("after line %d, in %d writes:\n%s", i, n, text)
			}
		}
	})
}

// A log that nobody reads costs the lines that there is no room for, and not
// the requests, nor the memory.
func TestStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sent, errors = 20000, 30000
		blocked := make(chan struct{})
		out := &sink{blocked: blocked}
		h := journal.Text(out, slog.LevelInfo)
		log := slog.New(h)
		began := time.Now()
		for i := range sent {
			request(h, i)
		}
		if time.Since(began) != 0 {
			t.Errorf("requests were kept waiting for %v", time.Since(began))
		}
		log.Error("first")
		if took := time.Since(began); took > time.Second {
			t.Errorf("an error was kept waiting for %v", took)
		}
		began = time.Now()
		for range errors {
			log.Error("again")
		}
		if time.Since(began) != 0 {
			t.Errorf("errors were kept waiting for %v although it is known that nobody reads",
				time.Since(began))
		}
		h.Flush() // it cannot, and gives up
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the end was kept waiting for %v", took)
		}
		out.set(nil, nil)
		close(blocked)
		h.Flush()
		_, text := out.all()
		if len(text) > 3<<20 {
			t.Errorf("%d bytes were kept", len(text))
		}
		m := regexp.MustCompile(
			` level=WARN msg="lines of the log were dropped, since they could not be written" lines=(\d+)\n$`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("it does not end with what was dropped: %s", text[max(0, len(text)-500):])
		}
		if told, _ := strconv.Atoi(m[1]); strings.Count(text, "\n")-1+told != sent+1+errors {
			t.Errorf("%d lines and %d dropped are not the %d that were logged", strings.Count(text, "\n")-1,
				told, sent+1+errors)
		}
		if !strings.Contains(text, "msg=first\n") || !strings.Contains(text, "msg=again\n") {
			t.Error("requests left no room for errors")
		}
		for i, n := range numbers(text) {
			if i != n {
				t.Fatalf("request %d stands at place %d", n, i)
			}
		}
		began = time.Now()
		out.set(nil, make(chan struct{}))
		log.Error("stuck again") // the reader was forgiven
		if time.Since(began) != time.Second {
			t.Errorf("waited %v for a reader that is stuck anew", time.Since(began))
		}
		close(out.blocked)
	})
}

// A full disk loses lines; the log tells how many, once it can.
func TestBrokenWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sink{fails: errors.New("no space left on device")}
		h := journal.JSON(out, slog.LevelInfo)
		log := slog.New(h)
		for i := range 10 {
			request(h, i)
			log.Error("lost")
		}
		out.set(nil, nil)
		request(h, 10)
		log.Info("back")
		_, text := out.all()
		if strings.Count(text, "\n") != 3 || !strings.Contains(text, `"id":"10"}`) ||
			!strings.HasSuffix(text, `"lines":20}`+"\n") {
			t.Errorf("after 20 lines were lost:\n%s", text)
		}
	})
}

// Somebody who logs at the same time loses nothing and waits for nobody's order but
// their own.
func TestManyAtOnce(t *testing.T) {
	const people, each = 8, 2000
	out := &sink{}
	h := journal.Text(out, slog.LevelInfo)
	log := slog.New(h)
	var g sync.WaitGroup
	for p := range people {
		g.Go(func() {
			for i := range each {
				request(h, p*each+i)
				if i%500 == 499 {
					log.Warn("other", "by", p)
					if _, text := out.all(); !strings.Contains(text, fmt.Sprintf(" id=%d", p*each+i)) {
						t.Errorf("line %d is not there when one after it is", p*each+i)
					}
				}
			}
		})
	}
	g.Wait()
	h.Flush()
	_, text := out.all()
	var next [people]int
	for _, n := range numbers(text) {
		if p := n / each; n%each != next[p] {
			t.Fatalf("line %d of %d comes when %d should", n%each, p, next[p])
		}
		next[n/each]++
	}
	for p, n := range next {
		if n != each {
			t.Errorf("%d has %d of %d lines", p, n, each)
		}
	}
	if strings.Count(text, "\n") != people*each+people*each/500 {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
}

// Operators' tools read what slog writes, so that is what stands in the log,
// whatever a request holds.
func FuzzLinesAreThoseOfSlog(f *testing.F) {
	f.Add("GET", "/repos/{owner}/{repo}", "alice", "5f-01", 200, int64(12),
		int64(1_700_000_000_123_456_789), 19800, "")
	f.Add("GET", "-", "", "5f-02", 499, int64(0), int64(1_700_000_000_999_999_999), 3600, "a cause")
	f.Add("É\\", "a=b\"c", "\x00\x7f\xff", "", -1, int64(-1), int64(0), -5400, "\n")
	f.Fuzz(func(t *testing.T, method, route, caller, id string, status int, n, at int64, zone int,
		cause string) {
		l := journal.Line{
			Method: method, Route: route, Owner: caller, Repo: id, Status: status, Took: time.Duration(n),
			Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}), Caller: caller, TokenID: n, Bytes: n,
			Cost: at, ID: id,
		}
		if cause != "" {
			l.Error = errors.New(cause)
		}
		when := time.Unix(0, at).In(time.FixedZone("", zone%(24*3600)))
		write := func(h slog.Handler) {
			for _, l.At = range []time.Time{when, when.Add(time.Millisecond), when.UTC(),
				when.Add(time.Second), when.Add(-time.Minute), {}} {
				journal.Log(t.Context(), slog.New(h), &l)
			}
			l.Level = slog.LevelError
			journal.Log(t.Context(), slog.New(h), &l)
			l.Level = slog.LevelInfo
			journal.Log(t.Context(), slog.New(h).With("more", cause), &l)
			journal.Log(t.Context(), slog.New(h).WithGroup(method), &l)
		}
		var got, want bytes.Buffer
		mine := journal.Text(&got, slog.LevelInfo)
		write(mine)
		mine.Flush()
		if write(slog.NewTextHandler(&want, nil)); got.String() != want.String() {
			t.Errorf("%s\nslog's:\n%s", &got, &want)
		}
		got.Reset()
		want.Reset()
		mine = journal.JSON(&got, slog.LevelInfo)
		write(mine)
		mine.Flush()
		if write(slog.NewJSONHandler(&want, nil)); got.String() != want.String() {
			t.Errorf("%s\nslog's:\n%s", &got, &want)
		}
	})
}

// The names and the order of what stands in a request's line are what people
// search their logs for.
func TestLine(t *testing.T) {
	var text bytes.Buffer
	h := journal.Text(&text, slog.LevelInfo)
	l := journal.Line{At: time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC), Method: "GET",
		Route: "/plants/{id}", Status: 200,
		Took: 1500 * time.Microsecond, Bytes: 42, Cost: 65536, ID: "5f-01"}
	journal.Log(t.Context(), slog.New(h), &l)
	l.Route, l.Owner, l.Repo = "/repos/{owner}/{repo}", "alice", "garden"
	l.Address, l.Caller, l.TokenID = netip.MustParseAddr("2001:db8::1"), "alice", 7
	journal.Log(t.Context(), slog.New(h), &l)
	l.Status, l.Error = 404, errors.New("not there")
	journal.Log(t.Context(), slog.New(h), &l)
	h.Flush()
	const want = `time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/plants/{id} repo="" status=200 took=1.5ms address="" caller="" token=0 bytes=42 cost=65536 id=5f-01
time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/repos/{owner}/{repo} repo=alice/garden status=200 took=1.5ms address=2001:db8::1 caller=alice token=7 bytes=42 cost=65536 id=5f-01
time=2026-02-03T04:05:06.007Z level=INFO msg=request method=GET route=/repos/{owner}/{repo} repo=alice/garden status=404 took=1.5ms address=2001:db8::1 caller=alice token=7 bytes=42 cost=65536 id=5f-01 error="not there"
`
	if text.String() != want {
		t.Errorf("%s\nwant:\n%s", &text, want)
	}
}
