package web

import "strings"

// AcceptsGzip reports whether the values of a request's Accept-Encoding headers
// allow gzip and do not prefer the plain form to it (RFC 9110, 12.5.3). Without
// a header the plain form is meant, since every client can read that; what has a
// weight that cannot be read is refused.
func AcceptsGzip(values []string) bool {
	gzip, plain, others := unspecified, unspecified, unspecified
	for _, v := range values {
		for element := range strings.SplitSeq(v, ",") {
			name, params, weighted := strings.Cut(element, ";")
			q := maxQuality
			if weighted {
				q = quality(params)
			}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				gzip = lesser(gzip, q)
			case "identity":
				plain = lesser(plain, q)
			case "*":
				others = lesser(others, q)
			}
		}
	}
	if gzip == unspecified {
		gzip = others
	}
	if plain == unspecified {
		plain = others
	}
	return gzip > 0 && gzip >= plain
}

// Qualities are counted in thousandths, from 0 to maxQuality.
const (
	unspecified = -1
	maxQuality  = 1000
)

// lesser returns the lower quality of a coding that occurs again, or q on its first occurrence.
func lesser(before, q int) int {
	if before == unspecified {
		return q
	}
	return min(before, q)
}

// quality reads "q=0.5", a weight with three decimals at most; 0 for anything
// else.
func quality(params string) int {
	key, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	whole, decimals, dotted := strings.Cut(value, ".")
	if key != "q" && key != "Q" || whole != "0" && whole != "1" || len(decimals) > 3 {
		return 0
	}
	q, unit := 0, maxQuality
	if whole == "1" {
		q = maxQuality
	}
	if dotted {
		for _, c := range []byte(decimals) {
			if c < '0' || c > '9' {
				return 0
			}
			unit /= 10
			q += unit * int(c-'0')
		}
	}
	if q > maxQuality {
		return 0
	}
	return q
}
