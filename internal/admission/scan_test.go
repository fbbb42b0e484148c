package admission

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Searches of histories and files take seconds, and few go on at a time. However many some networks have
// begun, another network's begins before its patience ends: those that go on end early for it.
func TestScansTakeTurns(t *testing.T) {
	for networks := range 8 {
		synctest.Test(t, func(t *testing.T) {
			g := NewGate(64 * unit)
			scan := func(from string) error {
				ctx := With(t.Context(), g.NewTicket(network(from)))
				release, err := Slot(ctx, Scan)
				if err != nil {
					return err
				}
				defer release()
				limited, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				defer YieldScan(ctx, cancel)()
				<-limited.Done()
				return nil
			}
			for n := range networks + 1 {
				for range 24 {
					go func() {
						for range 20 {
							_ = scan(fmt.Sprintf("192.0.%d.1", n))
						}
					}()
				}
			}
			synctest.Wait()
			time.Sleep(700 * time.Millisecond)
			if err := scan("198.51.100.1"); err != nil {
				t.Errorf("beside %d networks: %v", networks+1, err)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			empty(t, g)
		})
	}
}

// A search that nobody else waits for has all its time, also while more of its own network wait.
func TestScanAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(64 * unit)
		ctx := With(t.Context(), g.NewTicket(network("192.0.2.1")))
		release, err := Slot(ctx, Scan)
		if err != nil {
			t.Fatal(err)
		}
		go Slot(With(t.Context(), g.NewTicket(network("192.0.2.2"))), Scan)
		done := YieldScan(ctx, func() { t.Error("it ends early") })
		time.Sleep(900 * time.Millisecond)
		done()
		release()
		YieldScan(t.Context(), func() { t.Error("work without a ticket ends early") })()
	})
}
