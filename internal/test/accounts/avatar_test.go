// Package served_test holds the tests of avatars that ask a whole server, for the reason that those of
// package account have a folder of their own.
package accounts_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// Each id has a picture of its own that never changes, whether there is such an account or not.
func TestAvatars(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	first := s.Do(t, apitest.Case{Do: "GET /avatars/1?s=40&v=4"})
	if _, err := png.Decode(bytes.NewReader(first.Body)); err != nil ||
		first.Header.Get("Content-Type") != "image/png" {
		t.Fatalf("%v, %v", err, first.Header)
	}
	if !strings.Contains(first.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%v", first.Header)
	}
	if again := s.Do(t, apitest.Case{Do: "GET /avatars/1"}); !bytes.Equal(again.Body, first.Body) {
		t.Error("the picture changes")
	}
	if other := s.Do(t, apitest.Case{Do: "GET /avatars/2"}); bytes.Equal(other.Body, first.Body) {
		t.Error("two accounts look alike")
	}
	s.Check(t, apitest.Case{Do: "GET /avatars/1", Headers: map[string]string{"If-None-Match": first.Header.Get("ETag")},
		Status: 304})
	for _, id := range []string{"0", "-1", "x", "1.0", "01", "+1", "9223372036854775808"} {
		s.Check(t, apitest.Case{Do: "GET /avatars/" + id, Status: 404})
	}
}
