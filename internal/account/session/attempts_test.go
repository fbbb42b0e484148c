package session

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"log/slog"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/dbtest"
)

// servicesOn returns the services on a database.
func servicesOn(d *db.DB) (*account.Service, *Service) {
	return account.New(d, nil), New(d, token.New(d, slog.New(slog.DiscardHandler)))
}

// network is the address of somebody in the network n.
func network(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10 + byte(n>>16), byte(n >> 8), byte(n), 1})
}

// stranger is a place that no account knows.
func stranger(n int) source { return placeOf(Origin{Address: network(n)}) }

// at is a time so long after the beginning.
func at(d time.Duration) db.Time { return db.Time((1_000_000*time.Hour + d).Microseconds()) }

// Who floods the site with made-up names or networks gets no more attempts at an account.
func TestAttemptsOutliveAFlood(t *testing.T) {
	t.Parallel()
	var a attempts
	for n := range paceOfAll.free + 6 {
		if err := a.take("alice", stranger(n), at(time.Duration(n)*20*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	now := at(time.Duration(paceOfAll.free+6) * 20 * time.Second)
	if err := a.take("alice", stranger(99), now); err != nil {
		t.Fatal(err)
	}
	for n := range 20_000 {
		if err := a.take(fmt.Sprint("made-up", n), stranger(n+1000), now); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.take("alice", stranger(999), now); err == nil {
		t.Error("a flood made the attempts at an account forgotten")
	}
	for n, count := range a.count {
		if len(count) > maxAttemptKeys {
			t.Errorf("%d keys of kind %d", len(count), n)
		}
	}
	if err := a.take("alice", stranger(999), now+db.Time((20*time.Second).Microseconds())); err != nil {
		t.Errorf("later: %v", err)
	}
}

// Waiting grows with each wrong password from one place, and ends with the right one, or after a quiet day.
func TestWaitingGrows(t *testing.T) {
	t.Parallel()
	var a attempts
	now := at(0)
	try := func() error { return a.take("Alice", stranger(1), now) }
	for range paceOfPlace.free {
		if err := try(); err != nil {
			t.Fatal(err)
		}
	}
	for _, wait := range []time.Duration{15, 30, 60, 120, 240, 480, 900, 900} {
		now += db.Time(wait*1e6) - 1
		if err := try(); !errs.Is(err, errs.TooManyRequests) {
			t.Fatalf("just before %d seconds: %v", wait, err)
		}
		now++
		if err := try(); err != nil {
			t.Fatalf("after %d seconds: %v", wait, err)
		}
	}
	if err := try(); err == nil || !strings.Contains(err.Error(), "Try again in 15 minutes") {
		t.Errorf("what it says: %v", err)
	}
	a.forget("alice", stranger(1))
	if err := try(); err != nil {
		t.Errorf("after the right password: %v", err)
	}
	for range 60 {
		now += db.Time((20 * time.Minute).Microseconds())
		if err := try(); err != nil {
			t.Fatal(err)
		}
	}
	now += db.Time(attemptsKept.Microseconds()) + 1
	for n := range paceOfPlace.free {
		if err := try(); err != nil {
			t.Fatalf("attempt %d of another day: %v", n+1, err)
		}
	}
	now = at(-time.Hour) // set back
	if err := try(); err == nil {
		t.Error("a clock that is set back ends the waiting")
	}
}

// What is guessed of a password in a day does not grow with the number of networks: what the comment says.
func TestGuessesOfADay(t *testing.T) {
	t.Parallel()
	var a attempts
	guesses, at0 := [2]int{}, 0
	for day := range guesses {
		for second := range 24 * 60 * 60 {
			for range 3 { // as many as it likes, each from another one of 10,000 networks
				at0++
				now := at(time.Duration(day)*24*time.Hour + time.Duration(second)*time.Second)
				if a.take("alice", stranger(at0%10_000), now) == nil {
					guesses[day]++
				}
			}
		}
	}
	if guesses[0] > 4380 || guesses[1] > 4320 {
		t.Errorf("%d guesses on the first day, %d on the second", guesses[0], guesses[1])
	}
}

// Five networks that try all the time do not keep somebody out whom the account does not know yet: with all
// that they did before, they use few of the strangers' places.
func TestFewNetworksKeepNoStrangerOut(t *testing.T) {
	t.Parallel()
	var a attempts
	refused := 0
	for second := range 6 * 60 * 60 {
		now := at(time.Duration(second) * time.Second)
		for n := range 5 {
			_ = a.take("alice", stranger(n), now)
		}
		if second%600 != 599 {
			continue
		}
		if a.take("alice", stranger(77), now) != nil {
			refused++
		}
		a.forget("alice", stranger(77)) // the password is right
	}
	if refused > 6 {
		t.Errorf("of 36 attempts with the right password, %d were refused", refused)
	}
}

// Strangers who guess passwords keep nobody out from where somebody signed in before, and learn nothing of
// who is there.
func TestStrangersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		accounts, s := servicesOn(dbtest.Open(t, engine))
		now := time.Now()
		s.clock = func() time.Time { return now }
		for _, login := range []string{"alice", "bob"} {
			if _, err := accounts.CreateUser(t.Context(), account.NewUser{Login: login}); err != nil {
				t.Fatal(err)
			}
			if err := s.SetPassword(t.Context(), login, "the right one", nil); err != nil {
				t.Fatal(err)
			}
		}
		signIn := func(login, password string, from Origin) errs.Kind {
			t.Helper()
			_, _, err := s.SignIn(t.Context(), login, password, from)
			if err == nil {
				return 0
			}
			return errs.KindOf(err)
		}
		browserOf := func(login string) string {
			value, err := s.KnownBrowser(t.Context(), login)
			if err != nil || value == "" {
				t.Fatalf("%q, %v", value, err)
			}
			return value
		}
		home, phone, away := Origin{Address: network(1)}, Origin{Address: network(2)}, Origin{Address: network(3)}
		if got := signIn("alice", "the right one", home); got != 0 {
			t.Fatal(got)
		}
		phone.Browser = browserOf("alice")
		flood := func(login string) (refused int) {
			for n := range paceOfAll.free + 30 {
				if s.attempts.take(login, stranger(100+n), s.now()) != nil {
					refused++
				}
			}
			return refused
		}
		if refused, made := flood("alice"), flood("nobody"); refused != 30 || made != 30 {
			t.Errorf("of 80 attempts %d were refused, and %d at an account that is not there", refused, made)
		}
		foreign, cut := away, away
		other := "A" // another first character, all of whose bits count
		if phone.Browser[:1] == other {
			other = "B"
		}
		foreign.Browser, cut.Browser = browserOf("bob"), other+phone.Browser[1:]
		old := Origin{Address: network(4), Browser: phone.Browser}
		for _, c := range []struct {
			name, login, password string
			from                  Origin
			want                  errs.Kind
		}{
			{"the right password from elsewhere", "alice", "the right one", away, errs.TooManyRequests},
			{"a wrong one", "alice", "a wrong one", away, errs.TooManyRequests},
			{"at an account that is not there", "nobody", "a wrong one", away, errs.TooManyRequests},
			{"with another account's browser", "alice", "the right one", foreign, errs.TooManyRequests},
			{"with one that was changed", "alice", "the right one", cut, errs.TooManyRequests},
			{"with no cookie at all", "alice", "the right one", Origin{Address: network(3), Browser: "x"},
				errs.TooManyRequests},
			{"a wrong one from home", "alice", "a wrong one", home, errs.Invalid},
			{"the right one from home", "alice", "the right one", home, 0},
			{"a wrong one by phone", "alice", "a wrong one", phone, errs.Invalid},
			{"the right one by phone", "alice", "the right one", phone, 0},
			{"another account from home", "bob", "the right one", home, 0},
		} {
			if got := signIn(c.login, c.password, c.from); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
		for range paceOfPlace.free { // each known place has a count of its own
			_ = s.attempts.take("alice", source{network: placeOf(home).network, trusted: true}, s.now())
		}
		if got := signIn("alice", "the right one", home); got != errs.TooManyRequests {
			t.Errorf("home after many wrong ones: %v", got)
		}
		if got := signIn("alice", "the right one", phone); got != 0 {
			t.Errorf("by phone then: %v", got)
		}
		now = now.Add(BrowserAge)
		flood("alice")
		if got := signIn("alice", "the right one", old); got != errs.TooManyRequests {
			t.Errorf("with an old cookie: %v", got)
		}
		now = now.Add(20 * time.Second)
		if got := signIn("alice", "the right one", away); got != 0 {
			t.Errorf("elsewhere, when it waited: %v", got)
		}
		phone.Browser = browserOf("alice")
		if err := s.SetPassword(t.Context(), "alice", "another one", nil); err != nil {
			t.Fatal(err)
		}
		flood("alice")
		for name, from := range map[string]Origin{"home": home, "phone": phone} {
			if got := signIn("alice", "another one", from); got != errs.TooManyRequests {
				t.Errorf("%s is known after a new password: %v", name, got)
			}
		}
		signedIn := &account.Caller{Login: "alice"}
		for password, want := range map[string]errs.Kind{"a wrong one": errs.Invalid, "another one": 0} {
			_, err := s.ChangePassword(t.Context(), signedIn, password, "another one", away)
			if err == nil && want != 0 || err != nil && errs.KindOf(err) != want {
				t.Errorf("who has signed in changes it with %s: %v", password, err)
			}
		}
	})
}

// Strangers who have all places in which passwords are compared leave those of known places alone.
func TestStrangersHashBesideKnownPlaces(t *testing.T) {
	t.Parallel()
	accounts, s := servicesOn(dbtest.Open(t, db.SQLite))
	if _, err := accounts.CreateUser(t.Context(), account.NewUser{Login: "alice"}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPassword(t.Context(), "alice", "the right one", nil); err != nil {
		t.Fatal(err)
	}
	home := Origin{Address: network(1)}
	if _, _, err := s.SignIn(t.Context(), "alice", "the right one", home); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	results := make(chan error, waitingForHash)
	for range hashingAtOnce {
		leave, err := s.strangers.enter(done)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	for range waitingForHash {
		go func() {
			_, err := s.strangers.enter(done)
			results <- err
		}()
	}
	for len(s.strangers.waiting) < cap(s.strangers.waiting) {
		time.Sleep(time.Millisecond)
	}
	if _, _, err := s.SignIn(t.Context(), "alice", "the right one", Origin{Address: network(2)}); !errs.Is(err,
		errs.Unavailable) {
		t.Errorf("one more stranger: %v", err)
	}
	if _, _, err := s.SignIn(t.Context(), "alice", "the right one", home); err != nil {
		t.Errorf("from home: %v", err)
	}
	close(done)
	for range waitingForHash {
		var e *errs.Error
		if err := <-results; !errors.As(err, &e) || e.Kind != errs.Canceled {
			t.Errorf("who hung up: %v", err)
		}
	}
}
