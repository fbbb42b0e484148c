package wire

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/test/testkit"
)

// Objects can be withheld from a client only if all that its request names are found,
// in every case, place and version of the protocol.
func TestFetchRequest(t *testing.T) {
	t.Parallel()
	a, b, c := object.SHA(strings.Repeat("a", 40)), object.SHA(strings.Repeat("b", 40)),
		object.SHA(strings.Repeat("c", 40))
	var request []byte
	for _, line := range []string{
		"want " + strings.ToUpper(string(a)) + " thin-pack ofs-delta\n", "shallow " + string(b),
		"deepen 1\n", "filter blob:none",
	} {
		request = AppendPkt(request, line)
	}
	request = AppendPkt(append(request, "0000"...), "have "+string(c)+"\n")
	request = append(AppendPkt(request, "have "+string(a)+" \x00junk"), "00010009done\n0000"...)
	named, err := readFetch(request)
	if err != nil || !slices.Equal(named.wants, []object.SHA{a}) ||
		!slices.Equal(named.known, []object.SHA{b, c, a}) {
		t.Errorf("%+v, %v", named, err)
	}
	only := func(gone ...object.SHA) (string, error) {
		absent := func(_ context.Context, shas []object.SHA) (map[object.SHA]bool, error) {
			found := map[object.SHA]bool{}
			for _, sha := range gone {
				found[sha] = slices.Contains(shas, sha)
			}
			return found, nil
		}
		left, err := OnlyThere(t.Context(), request, absent)
		return string(left), err
	}
	if left, err := only(); left != string(request) || err != nil {
		t.Errorf("%q, %v", left, err)
	}
	if left, err := only(b, c); strings.Contains(left, string(b)) || strings.Contains(left, string(c)) ||
		!strings.HasSuffix(left, "00010009done\n0000") || err != nil {
		t.Errorf("%q, %v", left, err)
	}
	if _, err := only(a); !errors.As(err, new(NotOurs)) || !strings.Contains(err.Error(), string(a)) {
		t.Errorf("%v", err)
	}
	for _, broken := range []string{"00", "0003", "0032want " + string(a), "zzzz"} {
		if _, err := readFetch([]byte(broken)); !errs.Is(err, errs.Malformed) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

// git never gets a line that names a withheld object, and gets all other lines.
func FuzzFetchRequest(f *testing.F) {
	sha := strings.Repeat("0123456789abcdefABCD", 2)
	f.Add(AppendPkt(AppendPkt(nil, "want "+sha+" x"), "have "+sha+"\n"))
	f.Add([]byte("0011command=fetch0001" + "0033shallow " + sha[:39] + "00000000"))
	f.Fuzz(func(t *testing.T, request []byte) {
		named, err := readFetch(request)
		if err != nil {
			if !errs.Is(err, errs.Malformed) {
				t.Fatalf("%v", err)
			}
			return
		}
		gone := map[object.SHA]bool{}
		for _, sha := range named.known {
			gone[sha] = true
		}
		left, err := withoutKnown(request, gone)
		testkit.NoError(t, err)
		after, err := readFetch(left)
		if err != nil || !slices.Equal(after.wants, named.wants) || len(after.known) > 0 {
			t.Errorf("%q becomes %q: %v, %v", request, left, after, err)
		}
		if whole, err := withoutKnown(request, nil); err != nil || !bytes.EqualFold(whole, request) {
			t.Errorf("%q becomes %q, %v", request, whole, err)
		}
	})
}
