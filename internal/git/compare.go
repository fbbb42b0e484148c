package git

import "strings"

// CompareNumbered orders names by bytes, but runs of digits by their number: v9 comes before v10. Names that differ
// in leading zeros alone are equal.
func CompareNumbered(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits is the length of the run of digits that s begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
