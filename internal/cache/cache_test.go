package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// The cache holds what it may and no more, and gives back what was put in. What is
// in use stays.
func TestCacheStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	c := New(100, func(key string, n int) int64 { return int64(n) })
	c.Put(Forever, "too large", 101)
	if _, ok := c.Get(Forever, "too large"); ok {
		t.Error("it kept a value over its limit")
	}
	for i := range 100 {
		c.Put(Forever, fmt.Sprint(i), 5)
		if _, ok := c.Get(Forever, "0"); !ok {
			t.Fatalf("lost a value in use, after %d", i)
		}
		if c.Cost() > 100 || c.Len() > 20 {
			t.Fatalf("it holds %d values that cost %d", c.Len(), c.Cost())
		}
	}
	if _, ok := c.Get(Forever, "50"); ok {
		t.Error("a value out of use was kept before others")
	}
	c.Put(Forever, "0", 7)
	if n, _ := c.Get(Forever, "0"); n != 7 || c.Cost() > 100 {
		t.Errorf("it kept %d, and all cost %d", n, c.Cost())
	}
}

// A value is found in the state that was taken before it was read, and in no other.
func TestValuesBelongToAState(t *testing.T) {
	t.Parallel()
	c := NewCount[string, int](10)
	states := []State{Unknown, Forever, Generations(), Generations(1), Generations(0, 1),
		Generations(1, 0, 0), Whole(1, 0), Whole(1, 1), Whole(2, 1), Named("a"), Named("b")}
	for _, put := range states {
		c.Put(put, "a", 1)
		for _, get := range states {
			_, ok := c.Get(get, "a")
			if want := put == get && put != Unknown; ok != want {
				t.Errorf("put in %v: found in %v: %v", put, get, ok)
			}
		}
	}
	if c.Len() != 1 {
		t.Errorf("one key has %d values", c.Len())
	}
	if Generations(1) != Generations(1, 0, 0) {
		t.Error("a generation that is not given is not 0")
	}
}

// What fails is not kept; what was read is, and under the state of before.
func TestRead(t *testing.T) {
	t.Parallel()
	c := NewCount[string, int](10)
	failed := errors.New("failed")
	if _, err := c.Read(Forever, "a", func() (int, error) {
		return 1, failed
	}); err != failed || c.Len() != 0 {
		t.Errorf("%v, and %d values are kept", err, c.Len())
	}
	generation := int64(1)
	read := func() (int, error) { generation++; return int(generation), nil } // somebody changes it meanwhile
	for _, want := range []int{2, 3, 4} {
		if n, err := c.Read(Generations(generation), "a", read); n != want || err != nil {
			t.Errorf("%d, %v; want %d", n, err, want)
		}
	}
	if n, _ := c.Read(Generations(3), "a", nil); n != 4 {
		t.Errorf("kept: %d", n)
	}
}

// A crowd that asks for one value costs what one caller does, and nobody waits for
// a reader beyond its own patience.
func TestReadAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewCount[string, int](10)
		var reads atomic.Int64
		begin := make(chan struct{})
		read := func() (int, error) {
			<-begin
			return int(reads.Add(1)), nil
		}
		var crowd sync.WaitGroup
		for range 20 {
			crowd.Go(func() {
				if n, err := c.ReadAlone(t.Context(), Forever, "a", read); n != 1 || err != nil {
					t.Errorf("%d, %v", n, err)
				}
			})
		}
		synctest.Wait()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.ReadAlone(gone, Forever, "a", read); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that is gone: %v", err)
		}
		close(begin)
		crowd.Wait()
		if n, err := c.ReadAlone(t.Context(), Generations(1), "a", read); n != 2 || err != nil {
			t.Errorf("in another state: %d, %v", n, err)
		}
	})
}
