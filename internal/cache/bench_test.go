package cache

import "testing"

// Each request looks up its token, its repository and perhaps its answer.
func BenchmarkGet(b *testing.B) {
	c := NewCount[int, int](4096)
	state := Generations(1)
	for n := range 4096 {
		c.Put(state, n, n)
	}
	b.RunParallel(func(p *testing.PB) {
		for n := 0; p.Next(); n++ {
			if _, ok := c.Get(state, n&4095); !ok {
				b.Fatal("lost a value")
			}
		}
	})
}
