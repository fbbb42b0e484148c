package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"arbor/internal/space"
)

// byteSize is a number of bytes, written as 1048576, 512KiB, 4GiB or 4G.
type byteSize int64

// freeSpace is a byteSize, 0, or space.Auto, written as auto.
type freeSpace int64

// UnmarshalText reads it.
func (f *freeSpace) UnmarshalText(text []byte) error {
	switch string(text) {
	case "auto":
		*f = freeSpace(space.Auto)
	case "0":
		*f = 0
	default:
		return (*byteSize)(f).UnmarshalText(text)
	}
	return nil
}

// UnmarshalText reads a size above zero.
func (b *byteSize) UnmarshalText(text []byte) error {
	digits := strings.TrimRight(string(text), "KMGTiBkmgtb")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(string(text[len(digits):]), "B"), "i"))
	power := strings.Index("KMGT", unit) + 1
	if unit == "" {
		power = 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || len(unit) > 1 || power < 0 || n > math.MaxInt64>>(10*power) {
		return fmt.Errorf("%q is not a size like 512MiB or 4GiB", text)
	}
	*b = byteSize(n << (10 * power))
	return nil
}
