//go:build long

package bench

import (
	"bytes"
	"fmt"
	"testing"

	"arbor/internal/test/gittest"
)

// pages measures how long a server that was just started takes for the pages of a repository of 14,000 files,
// the Go distribution, in which nobody has looked for last commits.
func (s *suite) pages(b *testing.B) {
	a := s.start(b)
	a.create(b, "go")
	source, _ := gittest.GoTree(b)
	gittest.Run(b, source, "push", "-q", a.remote("go"), "main")
	for _, p := range []struct{ name, path string }{{"home", "/alice/go"},
		{"tree", "/alice/go/tree/main/src"}} {
		s.part(b, p.name+"/cold", func(b *testing.B) {
			const n = 5
			var cold, warm []float64
			for range n {
				a.stop(b)
				a = s.serve(b, a.data, a.token)
				c, ask := connect(b, a.url), html(get(p.path, a.token))
				visit := func() float64 {
					return timed(func() {
						if _, err := c.must(ask); err != nil {
							b.Fatal(err)
						}
					})
				}
				// reads the templates
				if _, err := c.must(html(get("/alice/go/branches", a.token))); err != nil {
					b.Fatal(err)
				}
				cold, warm = append(cold, visit()*1000), append(warm, visit()*1000)
			}
			s.atMost(b, median(cold), 60, "ms", fmt.Sprintf("%.1f ms once it was visited", median(warm)))
		})
	}
}

// html is a request as a browser makes it.
func html(request []byte) []byte {
	return bytes.Replace(request, []byte("\r\n"), []byte("\r\nAccept: text/html\r\n"), 1)
}
