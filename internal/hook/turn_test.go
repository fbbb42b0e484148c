package hook

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/hook/outgoing"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// renderFunc renders payloads for tests of the sender.
type renderFunc func() ([]byte, error)

func (f renderFunc) Render(context.Context, *Hook, *Delivery) ([]byte, error) { return f() }

func (f renderFunc) Tell(*db.Tx, []*Telling) error { return nil }

func (f renderFunc) Check(*db.Tx, *Hook, *Delivery) error { return nil }

// waitingFor creates a hook that leads to a receiver, with a delivery that waits.
func waitingFor(t *testing.T, d *db.DB, url string) (id int64) {
	t.Helper()
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		h := &Hook{URL: url, Active: true, Events: []string{"push"}, Salt: newSalt(), CreatedAt: tx.Now}
		if err := insert(tx, h); err != nil {
			return err
		}
		id = h.ID
		return addOne(tx, h, Event{Name: "push"})
	})
	testkit.NoError(t, err)
	return id
}

func senderOn(d *db.DB, render renderFunc) *Sender {
	return NewSender(SenderOptions{DB: d, Log: slog.New(slog.DiscardHandler), Render: render,
		Networks: outgoing.Loopback()})
}

// A node that came so late to sending that another one has the hook by now sends nothing: no delivery is on
// its way twice at one time.
func TestALateNodeDoesNotSend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		var got atomic.Int64
		r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got.Add(1) }))
		t.Cleanup(r.Close)
		id := waitingFor(t, d, r.URL)
		begun, goOn := make(chan struct{}), make(chan struct{})
		late := senderOn(d, func() ([]byte, error) {
			close(begun)
			<-goOn
			return []byte("{}"), nil
		})
		late.lease = 10 * time.Millisecond
		ended := make(chan struct{})
		go func() {
			late.turn(t.Context(), id)
			close(ended)
		}()
		<-begun
		other := senderOn(d, func() ([]byte, error) { return []byte("{}"), nil })
		for end := time.Now().Add(testkit.Patience); got.Load() == 0 &&
			time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			other.turn(t.Context(), id)
		}
		close(goOn)
		<-ended
		if n := got.Load(); n != 1 {
			t.Errorf("it was sent %d times", n)
		}
	})
}

// A delivery that cannot be rendered without a panic is tried again, and then goes; the server goes on.
func TestPanicsInRendering(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		id := waitingFor(t, d, "http://127.0.0.1:1/")
		s := senderOn(d, func() ([]byte, error) { panic("peas") })
		for n := range maxRenders {
			s.turn(t.Context(), id)
			var left, tries int64
			testkit.NoError(t, d.Write(t.Context(), func(tx *db.Tx) error {
				if err := tx.Run(`UPDATE hook_deliveries SET due_at = 0`); err != nil {
					return err
				}
				return tx.QueryRow(`SELECT COUNT(*), COALESCE(MAX(tries), 0) FROM hook_deliveries`).Scan(
					&left, &tries)
			}))
			if last := n == maxRenders-1; last && left != 0 || !last && tries != int64(n+1) {
				t.Fatalf("after %d tries: %d are left, tried %d times", n+1, left, tries)
			}
		}
	})
}
