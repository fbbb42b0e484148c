package index

import "slices"

// Page gives the ids of a page of what was chosen from one index or several, in
// an order.
func Page(list []*Selection, o Order, offset, size int) []int64 {
	list = slices.DeleteFunc(slices.Clone(list), func(s *Selection) bool { return s.n == 0 })
	if len(list) == 1 {
		return list[0].page(o, offset, size)
	}
	return newMerge(list, o, offset+size).page(offset, size)
}

// page is Page for one selection.
func (s *Selection) page(o Order, offset, size int) []int64 {
	if offset >= s.n {
		return nil
	}
	size = min(size, s.n-offset)
	ids := make([]int64, 0, size)
	w := s.walk(o, offset+size)
	w.skip(offset)
	for len(ids) < size {
		p, ok := w.next()
		if !ok {
			break
		}
		ids = append(ids, s.x.ids[p])
	}
	return ids
}
