package history

import (
	"bufio"
	"strings"
	"testing"
)

// Whatever names of files and authors hold, a commit is a commit, and its lines are numbers.
func FuzzReadChanges(f *testing.F) {
	f.Add(">2026-11-29T10:00:00+01:00 a@x\n\n3\t1\tREADME\n-\t-\tp.png\n>2026-11-28T10:00:00Z b@x\n")
	f.Add(">nothing\n>\n\t\t\n99999999999999\t-5\tx\n" + strings.Repeat(">", 5000))
	f.Fuzz(func(t *testing.T, text string) {
		commits := 0
		err := readChanges(bufio.NewReaderSize(strings.NewReader(text), 16), func(c Change) {
			commits++
			if c.Added < 0 || c.Deleted < 0 || len(c.Email) > 3*maxAuthor {
				t.Errorf("%+v", c)
			}
		})
		want := strings.Count("\n"+text, "\n>")
		if err != nil || commits != want {
			t.Errorf("%d commits, want %d: %v", commits, want, err)
		}
	})
}
