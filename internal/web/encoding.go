package web

import (
	"strconv"
	"strings"
)

// AcceptsGzip reports whether the values of a request's Accept-Encoding headers
// allow gzip and do not prefer the plain form to it (RFC 9110, 12.5.3). Without
// a header the plain form is meant, since every client can read that; what has a
// weight that cannot be read is refused.
func AcceptsGzip(values []string) bool {
	gzip, plain, others := float64(unspecified), float64(unspecified), float64(unspecified)
	for _, v := range values {
		for element := range strings.SplitSeq(v, ",") {
			name, params, weighted := strings.Cut(element, ";")
			q := 1.0
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

// unspecified is the quality of a coding that no header names.
const unspecified = -1

// lesser returns the lower quality of a coding that occurs again, or q on its first occurrence.
func lesser(before, q float64) float64 {
	if before == unspecified {
		return q
	}
	return min(before, q)
}

// quality reads "q=0.5", a weight with three decimals at most; 0 for anything else.
func quality(params string) float64 {
	key, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.EqualFold(key, "q") || q > 1 || len(value) > len("0.123") ||
		strings.Trim(value, "0123456789.") != "" {
		return 0
	}
	return q
}
