package token

import (
	"testing"

	"arbor/internal/db"
)

// A request with a token that was seen before: the generation check is most of it.
func BenchmarkAuthenticateHit(b *testing.B) {
	x := newBundle(b, db.SQLite)
	x.user("alice")
	r := withHeader("Bearer " + x.tokens["alice"])
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := x.s.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAuthenticateHitParallel(b *testing.B) {
	x := newBundle(b, db.SQLite)
	x.user("alice")
	r := withHeader("Bearer " + x.tokens["alice"])
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := x.s.Authenticate(r); err != nil {
				b.Error(err)
			}
		}
	})
}

// A guess: what each one costs the server.
func BenchmarkAuthenticateMiss(b *testing.B) {
	x := newBundle(b, db.SQLite)
	r := withHeader("Bearer " + sample)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := x.s.Authenticate(r); err == nil {
			b.Fatal("a guess was right")
		}
	}
}
