package account

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"arbor/internal/errs"
)

// A login that got through here by mistake would hide a route or a page from
// everyone, or could not be written in an address.
func TestCheckLogin(t *testing.T) {
	t.Parallel()
	for _, login := range []string{"a", "alice", "Alice-B", "a.b_c", "0", "x86", strings.Repeat("a", 39),
		"reposx", "git", "lock", "a.gi", ".a", "_"} {
		if err := CheckLogin(login); err != nil {
			t.Errorf("%q is refused: %v", login, err)
		}
	}
	refused := []string{"", ".", "..", strings.Repeat("a", 40), "a b", "a/b", "a\x00", "ä", "a\xff", "a.git",
		"A.GIT", "x.Lock", "a.gpg", ".git", "a@b", "a:b", "a%b", "api", "API", "Repos", "users", "user", "orgs",
		"issues", "plants", "login", "none", "-"}
	for _, login := range refused {
		if err := CheckLogin(login); !errs.Is(err, errs.Invalid) {
			t.Errorf("%q: %v, want a 422", login, err)
		}
	}
}

// The list is searched by halves: out of order, some of it would not count.
func TestReservedLoginsAreSorted(t *testing.T) {
	t.Parallel()
	list := ReservedLogins()
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("the reserved logins are not sorted, or repeat")
	}
	for _, login := range list {
		if login != Fold(login) || !Plausible(login) {
			t.Errorf("%q can be no folded login", login)
		}
		if CheckLogin(strings.ToUpper(login)) == nil {
			t.Errorf("%q may be registered", strings.ToUpper(login))
		}
	}
}

func FuzzCheckLogin(f *testing.F) {
	for _, s := range []string{"alice", "a.git", "É", "A\x00", "..", "Kelvin\u212a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, login string) {
		folded := Fold(login)
		if Fold(folded) != folded || len(folded) != len(login) {
			t.Fatalf("Fold(%q) = %q is not stable", login, folded)
		}
		err := CheckLogin(login)
		if (err == nil) != (CheckLogin(folded) == nil) {
			t.Fatalf("case decides about %q", login)
		}
		if err != nil {
			return
		}
		if !Plausible(login) || !utf8.ValidString(login) || strings.ToLower(login) != folded ||
			strings.ContainsAny(login, "/\\ %?#:@<>\"'&\x00") {
			t.Fatalf("%q got through", login)
		}
	})
}
