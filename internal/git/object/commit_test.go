package object

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"arbor/internal/test/testkit"
)

func FuzzTree(f *testing.F) {
	id := strings.Repeat("\x12", 20)
	f.Add([]byte("100644 a\x00" + id + "40000 b\x00" + id))
	f.Add([]byte("0100664 a\x00" + id))
	f.Fuzz(func(t *testing.T, tree []byte) {
		for len(tree) > 0 {
			e, rest, err := NextEntry(tree)
			if err != nil {
				return
			}
			if len(rest) >= len(tree) || len(e.ID) != 20 || len(e.Name) == 0 || len(e.Mode.String()) != 6 {
				t.Errorf("entry %+v of %q leaves %q", e, tree, rest)
			}
			tree = rest
		}
	})
}

func TestParseCommit(t *testing.T) {
	t.Parallel()
	tree, parent := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	c, err := ParseCommit([]byte("tree " + tree + "\nparent " + parent + "\nparent " + tree + "\n" +
		"author J\xfcrgen <j@x> 1300000000 +0530\ncommitter C <c@x> 1300000001 -0800\nencoding ISO-8859-1\n" +
		"gpgsig -----BEGIN\n \n abc\n -----END\n\nGr\xfc\xdfe\n\nbody\n"))
	testkit.NoError(t, err)
	if c.Author.Name != "Jürgen" || c.Message != "Grüße\n\nbody\n" ||
		c.Signed != "-----BEGIN\n\nabc\n-----END" ||
		!strings.HasSuffix(c.Payload, "\nencoding ISO-8859-1\n\nGr\xfc\xdfe\n\nbody\n") ||
		!strings.HasPrefix(c.Payload, "tree "+tree+"\n") ||
		!reflect.DeepEqual(c.Parents, []SHA{SHA(parent), SHA(tree)}) || c.Tree != SHA(tree) {
		t.Errorf("got %+v", c)
	}
	if got := c.Author.When.Format(time.RFC3339); got != "2011-03-13T12:36:40+05:30" {
		t.Errorf("author's date %s", got)
	}
	for line, want := range map[string]Signature{
		"A <a@b> 5 +0000":         {"A", "a@b", time.Unix(5, 0).UTC()},
		"A <a@b>5 +0000":          {"A", "a@b", time.Unix(5, 0).UTC()},
		"<a@b>":                   {"", "a@b", time.Unix(0, 0).UTC()},
		"A <a <b>> 5 +051800":     {"A", "a <b>", time.Unix(5, 0).UTC()},
		"A":                       {"A", "", time.Unix(0, 0).UTC()},
		"":                        {"", "", time.Unix(0, 0).UTC()},
		"A <a> 99999999999999999": {"A", "a", time.Unix(0, 0).UTC()},
	} {
		if got := parseSignature(line); got.Name != want.Name || got.Email != want.Email ||
			!got.When.Equal(want.When) {
			t.Errorf("%q: %+v", line, got)
		}
	}
	for _, bad := range []string{"", "author A <a> 1 +0000\n\nx", "tree xyz\n\nx",
		"tree " + tree + "\nparent 1\n\nx"} {
		if c, err := ParseCommit([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, c)
		}
	}
}

func FuzzCommit(f *testing.F) {
	f.Add([]byte("tree " + strings.Repeat("a1",
		20) + "\nauthor A <a@b> 1 +0000\nencoding EUC-JP\ngpgsig x\n y\n\nmessage"))
	f.Add([]byte("\nx"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := ParseCommit(in)
		if err != nil {
			return
		}
		for _, s := range []string{c.Message, c.Author.Name, c.Author.Email, c.Committer.Name} {
			if !utf8.ValidString(s) {
				t.Errorf("%q is not UTF-8", s)
			}
		}
		if y := c.Author.When.Year(); y < 1969 || y > 9999 {
			t.Errorf("year %d", y)
		}
	})
}

// Who checks a signature needs the very bytes that were signed.
func TestParseSignedTag(t *testing.T) {
	t.Parallel()
	signed := "object " + strings.Repeat("a1",
		20) + "\ntype commit\ntag v1\ntagger A <a@b> 5 +0000\n\nSpring\n"
	const signature = "-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n"
	tag, err := ParseTag([]byte(signed + signature))
	if err != nil || tag.Payload != signed || tag.Signed != signature || tag.Message != "Spring\n" {
		t.Errorf("%+v, %v", tag, err)
	}
	if tag, err = ParseTag([]byte(signed)); err != nil || tag.Payload != "" || tag.Signed != "" {
		t.Errorf("unsigned: %+v, %v", tag, err)
	}
}
