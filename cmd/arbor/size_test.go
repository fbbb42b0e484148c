package main

import "testing"

// An operator who writes a limit must get that limit, or be told.
func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"1": 1, "4096": 4096, "1KiB": 1 << 10, "2K": 2 << 10, "3MiB": 3 << 20, "4GiB": 4 << 30, "5g": 5 << 30,
		"1TiB": 1 << 40, "7B": 7,
		"": 0, "0": 0, "-1": 0, "KiB": 0, "1.5G": 0, "1XB": 0, "9999999999T": 0, "1KK": 0, "4 GiB": 0,
	} {
		var got byteSize
		err := got.UnmarshalText([]byte(text))
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}
