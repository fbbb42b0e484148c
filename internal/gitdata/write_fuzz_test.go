package gitdata

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// What is taken as Base64 must be what the client meant, and nothing may panic.
func FuzzBase64(f *testing.F) {
	for _, s := range []string{"", "aGk=", "aGk", "aG\nk=\n", "a", "====", "a*b=", "aGl=", "aGk= ",
		"+/+/", "-_-_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data, err := decodeBase64(s)
		if err != nil {
			return
		}
		plain := strings.Join(strings.Fields(s), "")
		if again := base64.StdEncoding.EncodeToString(data); strings.TrimRight(again,
			"=") != strings.TrimRight(plain, "=") {
			t.Errorf("%q is taken for %q", s, again)
		}
	})
}

// Whatever stands in "tree", the answer is entries that can be built or a 4xx.
func FuzzEntries(f *testing.F) {
	for _, s := range []string{`[]`, `[{}]`, `null`, `[null]`, `{"path":1}`,
		`[{"path":"a","mode":"100644","content":"x"}]`,
		`[{"path":"a","mode":"040000","sha":null}]`,
		`[{"path":"a/b","mode":"160000","sha":"` + strings.Repeat("a", 40) + `"}]`,
		`[{"path":"","mode":"100644","sha":1,"content":[]}]`, `[[[[]]]]`, `"x"`,
		`[{"path":"\ud800","mode":"120000","content":"\u0000"}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		entries, err := readEntries(json.RawMessage(s))
		if err != nil {
			if !errs.Is(err, errs.Invalid) && !errs.Is(err, errs.Malformed) {
				t.Errorf("%s: %v", s, err)
			}
			return
		}
		for _, e := range entries {
			sources := 0
			for _, has := range []bool{e.sha != "", e.content != nil, e.remove} {
				if has {
					sources++
				}
			}
			if git.PathProblem(e.path, e.mode) != "" || sources != 1 ||
				e.content != nil && e.mode.Type() != git.TypeBlob {
				t.Errorf("%s is taken as %+v", s, e)
			}
		}
	})
}
