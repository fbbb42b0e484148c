package admission

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
)

// A body costs the bytes that came, not those that were announced, and is read whole.
func TestReadAll(t *testing.T) {
	for _, size := range []int64{
		0, 1, firstRead - 1, firstRead, firstRead + 1, perRequest, 1 << 20, 5<<20 + 7,
	} {
		want := bytes.Repeat([]byte("x"), int(size))
		for _, announced := range []int64{size, -1} {
			for _, slow := range []bool{false, true} {
				if slow && size > perRequest {
					continue
				}
				c := New(1<<30, nil)
				ticket := c.NewTicket(Holder{})
				body := io.Reader(bytes.NewReader(want))
				if slow {
					body = iotest.OneByteReader(body)
				}
				got, refused, err := ticket.ReadAll(t.Context(), body, announced)
				if err != nil || refused || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes, %d announced: %d, %v, %v", size, announced, len(got), refused, err)
				}
				held := c.Usage()[Work].Held
				if held > max(perRequest, 2*size+2) || size > firstRead && held < size {
					t.Errorf("%d bytes, %d announced: %d are held", size, announced, held)
				}
				if err := ticket.Enter(t.Context()); err != nil {
					t.Fatal(err)
				}
				ticket.Leave()
				empty(t, c.Gate)
			}
		}
	}
}

// Four uploads of 40 MB that are announced and never come keep nobody from writing. An
// endless upload is refused when its share of the memory is used up.
func TestAnnouncedIsNotTaken(t *testing.T) {
	c := New(64<<20, nil)
	for range 4 {
		ticket := c.NewTicket(Holder{Account: 1})
		_, refused, err := ticket.ReadAll(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), 40<<20)
		if refused || err != io.ErrUnexpectedEOF {
			t.Errorf("%v, %v", refused, err)
		}
	}
	if held := c.Usage()[Work].Held; held != 0 {
		t.Errorf("%d bytes are held for nothing", held)
	}
	ticket := c.NewTicket(Holder{Account: 1})
	endless := io.MultiReader(strings.NewReader("{"), iotest.DataErrReader(zeros{}))
	_, refused, err := ticket.ReadAll(t.Context(), endless, -1)
	if !refused || !errs.Is(err, errs.TooManyRequests) {
		t.Errorf("an endless body: %v, %v", refused, err)
	}
	ticket.Leave()
	empty(t, c.Gate)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// What a request holds until it is answered is given back then. A small answer is part of
// what every request has.
func TestHold(t *testing.T) {
	c := New(64<<20, nil)
	ticket := c.NewTicket(Holder{Account: 1})
	ctx := With(t.Context(), ticket)
	if err := ticket.Enter(ctx); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ bytes, held int64 }{
		{perRequest, perRequest}, {perRequest + 1, 2*perRequest + 1}, {1 << 20, 1<<20 + 2*perRequest + 1},
	} {
		if err := Hold(ctx, step.bytes); err != nil {
			t.Fatal(err)
		}
		if held := c.Usage()[Work].Held; held != step.held {
			t.Errorf("with %d bytes more, %d are held, want %d", step.bytes, held, step.held)
		}
	}
	if err := Hold(ctx, 1<<40); !errs.Is(err, errs.Unavailable) {
		t.Errorf("more than there is: %v", err)
	}
	ticket.Leave()
	empty(t, c.Gate)
	if err := Hold(t.Context(), 1<<40); err != nil {
		t.Errorf("without a request: %v", err)
	}
}

// Work without a request is admitted at once; work of a request counts for its account.
func TestMemory(t *testing.T) {
	if release, err := Memory(t.Context(), 1<<40); err != nil || release == nil {
		t.Errorf("without a ticket: %v", err)
	}
	c := New(64<<20, nil)
	ticket := c.NewTicket(Holder{Account: 1})
	ctx := With(t.Context(), ticket)
	release, err := Memory(ctx, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if held := c.Usage()[Work].Held; held != 1<<20 || ticket.Cost() != held {
		t.Errorf("%d bytes are held, %d are the cost", held, ticket.Cost())
	}
	if refuse, err := Memory(ctx, 15<<20); !errs.Is(err, errs.TooManyRequests) || refuse == nil {
		t.Errorf("more than its share: %v", err)
	}
	if refuse, err := Memory(ctx, 1<<30); !errs.Is(err, errs.Unavailable) || refuse == nil {
		t.Errorf("more than there is: %v", err)
	}
	release()
	empty(t, c.Gate)
}

// There may be memory for many requests of a crowd, but only a few of them compute: the
// next request of another client shares the processors with these alone. A request that
// waits for a slow client, or for a process that may do so, has no turn.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := New(1<<30, nil)
		most := c.Usage()[Turn].Most
		var crowd []*Ticket
		crowdSize := most * 3 / 8 // half of the turns that callers without an account may have
		for n := range crowdSize {
			crowd = append(crowd, c.NewTicket(network("192.0.2.1")))
			if err := crowd[n].Enter(ctx); err != nil {
				t.Fatal(err)
			}
		}
		late := c.NewTicket(network("192.0.2.1"))
		if err := late.Enter(ctx); !errs.Is(err, errs.TooManyRequests) {
			t.Errorf("one more of the crowd: %v", err)
		}
		late.Leave()
		for _, who := range []Holder{account(1), network("198.51.100.1")} {
			other, began := c.NewTicket(who), time.Now()
			if err := other.Enter(ctx); err != nil || time.Since(began) > 0 {
				t.Errorf("%v after %v: %v", who, time.Since(began), err)
			}
			other.Leave()
		}
		computing := func(want int64) {
			t.Helper()
			synctest.Wait()
			if n := c.Usage()[Turn].Held; n != want {
				t.Errorf("%d compute, want %d", n, want)
			}
		}
		if err := crowd[0].Send(ctx, func() error { computing(crowdSize); return nil }); err != nil {
			t.Error(err)
		}
		if err := crowd[0].Send(ctx, func() error {
			time.Sleep(time.Second)
			computing(crowdSize - 1)
			return nil
		}); err != nil {
			t.Error(err)
		}
		computing(crowdSize)
		As(With(ctx, crowd[1]), Stream)
		computing(crowdSize - 1)
		for _, ticket := range crowd {
			ticket.Leave()
		}
		empty(t, c.Gate)
	})
}

// One account that sends pushes slowly leaves room for pushes of others.
func TestUploads(t *testing.T) {
	c := New(1<<30, nil)
	slow := With(t.Context(), c.NewTicket(account(1)))
	for range maxUploads / 2 {
		if _, err := Slot(slow, Upload); err != nil {
			t.Fatal(err)
		}
	}
	soon, cancel := context.WithCancel(slow)
	cancel()
	if _, err := Slot(soon, Upload); err != context.Canceled {
		t.Errorf("one more: %v", err)
	}
	if _, err := Slot(With(t.Context(), c.NewTicket(account(2))), Upload); err != nil {
		t.Error(err)
	}
}
