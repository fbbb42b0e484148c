//go:build long

package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/test/gittest"
)

// tenHooks is the number of webhooks whose pushes are compared with those of a repository without any.
const tenHooks = 10

// rest is in which the server does what else a push leaves to do, such as to look for languages.
const rest = 200 * time.Millisecond

// hooks compares pushes of one commit to a repository with ten webhooks with those to one without. The
// receiver responds immediately.
func (s *suite) hooks(b *testing.B) {
	dir := gittest.Repository(b, 600, 50)
	commits := strings.Fields(gittest.Run(b, dir, "rev-list", "--reverse", "main"))
	s.part(b, "one", func(b *testing.B) { s.comparePushes(b, dir, commits, 1, 41) })
	s.part(b, "one-after-the-other", func(b *testing.B) { s.comparePushes(b, dir, commits, 10, 11) })
}

// comparePushes measures n pairs of rows of pushes. It waits for the deliveries of a row before the next
// one.
func (s *suite) comparePushes(b *testing.B, dir string, commits []string, row, n int) {
	var told atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		told.Add(1)
	}))
	b.Cleanup(receiver.Close)
	data, token := s.newData(b)
	a := s.serve(b, data, token, "--allow-hook-networks", "127.0.0.0/8")
	want := int64(0)
	pushes := func(name string, hooks int) func() float64 {
		next := 0
		push := func() {
			gittest.Run(b, dir, "push", "-q", a.remote(name), commits[next]+":refs/heads/main")
			next++
		}
		a.create(b, name)
		push() // the first makes the branch
		for k := range hooks {
			a.call(b, "POST", "/repos/alice/"+name+"/hooks",
				fmt.Sprintf(`{"config": {"url": "%s/%d", "content_type": "json"}}`, receiver.URL, k))
			want++ // it is pinged
		}
		return func() float64 {
			took := timed(func() {
				for range row {
					push()
				}
			})
			want += int64(row * hooks)
			for end := time.Now().Add(time.Minute); told.Load() < want; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					b.Fatalf("hooks were told %d times within a minute, want %d", told.Load(), want)
				}
			}
			time.Sleep(rest)
			return took
		}
	}
	ratio, x, y := pairs(n, pushes("hooked", tenHooks), pushes("plain", 0))
	s.atMost(b, ratio, 1.1, "x-of-without", seconds(x, y))
}
