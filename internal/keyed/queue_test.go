package keyed

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A key waits once, however often it is added, and one that is to wait comes when its time is over.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[int]()
		q.AddAfter(3, time.Minute)
		q.Add(3) // is queued already
		q.Add(1)
		q.Add(2)
		q.Add(1)
		ctx, stop := context.WithCancel(t.Context())
		var worked []int
		go q.Work(ctx, func(_ context.Context, key int) { worked = append(worked, key) })
		synctest.Wait()
		if !slices.Equal(worked, []int{1, 2}) {
			t.Errorf("worked on %v at once", worked)
		}
		q.Add(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(worked, []int{1, 2, 1, 3}) {
			t.Errorf("worked on %v in the end", worked)
		}
		stop()
		synctest.Wait()
	})
}
