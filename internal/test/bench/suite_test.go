//go:build long

package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// BenchmarkBounds measures every bound. -bench 'Bounds/tree' takes a part.
// Each part does its own number of pairs, so -benchtime should be 1x.
func BenchmarkBounds(b *testing.B) {
	s := newSuite(b)
	b.Run("push", s.push)
	b.Run("clone", s.clone)
	b.Run("tree", s.tree)
	b.Run("pages", s.pages)
	b.Run("plants", s.plants)
	b.Run("token", s.token)
	b.Run("idle", s.idle)
	b.Run("graphql", s.graphql)
	b.Run("write", s.write)
	b.Run("history", s.history)
	b.Run("issues", s.issues)
	b.Run("merge", s.merge)
	b.Run("pulls", s.pulls)
	b.Run("rules", s.rules)
	b.Run("stars", s.stars)
	b.Run("hooks", s.hooks)
	b.Run("assets", s.assets)
	b.Run("backups", s.backups)
	b.Run("depot", s.depot)
	b.Run("reset", s.reset)
	b.Run("costs", s.costs)
	b.Run("nodes", s.nodes)
	s.print(os.Stdout)
}

// suite is one run of the benchmarks.
type suite struct {
	binary  string // arbor
	figures []figure
}

// figure is one measured value and, for most, its bound.
type figure struct {
	name   string
	value  float64
	unit   string
	bound  string // as people read it; empty: a note without a bound
	ok     bool
	detail string
}

func newSuite(b *testing.B) *suite {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "arbor")
	if out, err := exec.Command("go", "build", "-o", binary, "arbor/cmd/arbor").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	return &suite{binary: binary}
}

// part measures under a name of its own: for -bench and for the table.
func (s *suite) part(b *testing.B, name string, measure func(b *testing.B)) {
	b.Run(name, func(b *testing.B) {
		measure(b)
		b.ReportMetric(0, "ns/op") // the time of the whole part says nothing: leave it out
	})
}

func (s *suite) atMost(b *testing.B, value, bound float64, unit, detail string) {
	s.add(b, figure{value: value, unit: unit, bound: fmt.Sprintf("<= %g", bound), ok: value <= bound,
		detail: detail})
}

func (s *suite) atLeast(b *testing.B, value, bound float64, unit, detail string) {
	s.add(b, figure{value: value, unit: unit, bound: fmt.Sprintf(">= %g", bound), ok: value >= bound,
		detail: detail})
}

func (s *suite) note(b *testing.B, value float64, unit, detail string) {
	s.add(b, figure{value: value, unit: unit, ok: true, detail: detail})
}

func (s *suite) add(b *testing.B, f figure) {
	f.name = b.Name()[strings.Index(b.Name(), "/")+1:]
	s.figures = append(s.figures, f)
	b.ReportMetric(f.value, f.unit)
}

// print writes a line for each figure.
func (s *suite) print(to io.Writer) {
	fmt.Fprintln(to)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, f := range s.figures {
		verdict := "ok"
		switch {
		case !f.ok:
			verdict = "OVER"
		case f.bound == "":
			verdict = "-"
		}
		fmt.Fprintf(w, "%s\t%.4g %s\t%s\t%s\t%s\n", f.name, f.value, f.unit, f.bound, verdict, f.detail)
	}
	w.Flush()
}

// pairs measures two things alternately n times, in alternating order, and returns the median of the ratios
// first/second and both medians.
func pairs(n int, first, second func() float64) (ratio, medianFirst, medianSecond float64) {
	var ratios, a, b []float64
	for i := range n {
		var x, y float64
		if i%2 == 0 {
			x, y = first(), second()
		} else {
			y, x = second(), first()
		}
		a, b, ratios = append(a, x), append(b, y), append(ratios, x/y)
	}
	return median(ratios), median(a), median(b)
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// timed returns how long fn takes, in seconds.
func timed(fn func()) float64 {
	start := time.Now()
	fn()
	return time.Since(start).Seconds()
}

// seconds are two times side by side.
func seconds(a, b float64) string {
	return fmt.Sprintf("%.1f ms against %.1f ms", a*1000, b*1000)
}

// rates are two rates side by side.
func rates(a, b float64) string { return fmt.Sprintf("%.0f/s against %.0f/s", a, b) }
