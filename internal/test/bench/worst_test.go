//go:build long

package bench

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"testing"
)

// worst collects a figure for each of many requests and keeps the worst.
type worst struct {
	bound float64
	unit  string
	list  []measured
}

type measured struct {
	path   string
	value  float64
	detail string
}

// note keeps a figure, instead of an earlier one of the same request.
func (w *worst) note(path string, value float64, detail string) {
	m := measured{path, value, detail}
	if at := slices.IndexFunc(w.list, func(m measured) bool { return m.path == path }); at >= 0 {
		w.list[at] = m
		return
	}
	w.list = append(w.list, m)
}

func (w *worst) sort() {
	slices.SortStableFunc(w.list, func(a, b measured) int { return -cmp.Compare(a.value, b.value) })
}

// extreme are the n requests with the worst figures so far.
func (w *worst) extreme(n int) iter.Seq[string] {
	w.sort()
	paths := make([]string, 0, n)
	for _, m := range w.list[:min(n, len(w.list))] {
		paths = append(paths, m.path)
	}
	return slices.Values(paths)
}

// report puts the worst into the table, and the next ones as notes.
func (w *worst) report(s *suite, b *testing.B) {
	w.sort()
	values := make([]float64, len(w.list))
	over := 0
	for n, m := range w.list {
		values[n] = m.value
		if m.value > w.bound {
			over++
		}
	}
	first := w.list[0]
	s.atMost(b, first.value, w.bound, w.unit,
		fmt.Sprintf("the worst of %d, %d of them over, median %.3g: %s %s", len(w.list), over, median(values),
			first.path, first.detail))
	for _, m := range w.list[1:min(6, len(w.list))] { // into the table alone: there is one metric of a name
		s.figures = append(s.figures, figure{name: s.figures[len(s.figures)-1].name, value: m.value,
			unit: w.unit, ok: true, detail: m.path + " " + m.detail})
	}
}
