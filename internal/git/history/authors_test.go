package history

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"arbor/internal/git"
	"arbor/internal/test/testkit"
)

// Whatever names people commit under, counting them ends and gives text.
func FuzzReadAuthors(f *testing.F) {
	f.Add("     3\tAlice <a@example.org>\n     1\tB <b> <b@example.org>\n")
	f.Add("     3\tAlice\n\t<>\n-1\tx <y>\n 2\t\xff <\xfe>")
	f.Add(strings.Repeat("x", 100) + "\n 2\tA <a>\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := readAuthors(bufio.NewReaderSize(strings.NewReader(text), 16), 1000)
		testkit.NoError(t, err)
		for _, a := range list {
			if a.Commits < 1 || !utf8.ValidString(a.Name) || !utf8.ValidString(a.Email) {
				t.Errorf("%+v", a)
			}
		}
	})
}

func TestReadAuthors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	few := "   12\tA <b> C <a@example.org>\n    7\t" + long + " <l>\n    1\t <>\nnobody\n"
	list, err := readAuthors(bufio.NewReaderSize(strings.NewReader(few), 64), 1000)
	if err != nil || len(list) != 2 || list[0] != (AuthorCount{"A <b> C", "a@example.org", 12}) ||
		list[1] != (AuthorCount{"", "", 1}) {
		t.Errorf("%+v, %v", list, err)
	}
	// Of a million authors only those that are shown are read, without names of tens of
	// kilobytes.
	many := strings.Repeat("    1\t"+long+" <l>\n", 3) + strings.Repeat("    1\tA <a@example.org>\n", 5000)
	list, err = readAuthors(bufio.NewReaderSize(strings.NewReader(many), 64<<10), 2000)
	if !errors.Is(err, git.ErrStop) || len(list) != 2000 || list[0].Name != "A" {
		t.Errorf("%d authors, %v", len(list), err)
	}
}
