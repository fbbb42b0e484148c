package timeline

import "testing"

// The ends of a long timeline and the parts between them have each entry once.
func TestEndsMeetParts(t *testing.T) {
	t.Parallel()
	for total := int64(0); total < 400; total++ {
		var first, last []entry
		for id := range min(total, PartSize) {
			first = append(first, entry{id: id})
		}
		for id := max(0, total-2*PartSize); id < total; id++ {
			last = append(last, entry{id: id})
		}
		e := joinEnds(first, last, total)
		read := e.entries[:e.first:e.first]
		for part := e.next; part < e.until; part++ { // as pages of the timeline have them
			for id := (part - 1) * PartSize; id < min(total, part*PartSize); id++ {
				read = append(read, entry{id: id})
			}
		}
		read = append(read, e.entries[e.first:]...)
		for n, one := range read {
			if one.id != int64(n) {
				t.Fatalf("of %d, entry %d is in place %d", total, one.id, n)
			}
		}
		if int64(len(read)) != total {
			t.Errorf("of %d entries %d can be read", total, len(read))
		}
		if shown := int64(len(e.entries)); shown > 3*PartSize || shown < min(total, PartSize+shortEnd) {
			t.Errorf("of %d entries %d are shown at once", total, shown)
		}
	}
	if e := joinEnds(make([]entry, PartSize), make([]entry, 2*PartSize), maxDeep+300); e.next != 2 ||
		e.until != maxDeep/PartSize+1 {
		t.Errorf("of a timeline deeper than its pages, parts %d to %d are left out", e.next, e.until)
	}
}
