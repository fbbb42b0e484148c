package migration

import (
	"fmt"
	"io"
)

// Count holds how many records of a kind an import has added, changed, skipped and refused.
type Count struct {
	New     int64 // came
	Changed int64 // were here, and changed at the source since
	Same    int64 // were here as they are
	Failed  int64 // did not come, see Report.Problems
}

// maxProblems is how many problems a report lists.
const maxProblems = 1000

// Report says what an import brought, what it did not, and why.
type Report struct {
	Repository string // OWNER/NAME here
	DryRun     bool
	Counts     map[Kind]*Count
	Refs       int64             // that moved
	Problems   []string          // the first of them
	Omitted    int64             // further problems
	Matched    map[string]string // logins there and here
	Mannequins []string          // logins there for whom there is nobody here
}

func newReport() *Report { return &Report{Counts: map[Kind]*Count{}, Matched: map[string]string{}} }

// of returns the count of a kind.
func (r *Report) of(k Kind) *Count {
	if r.Counts[k] == nil {
		r.Counts[k] = &Count{}
	}
	return r.Counts[k]
}

// problem notes what did not come, or not as it was.
func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, clip(fmt.Sprintf(format, args...)))
}

// clip shortens a line of a report, and replaces what would control a terminal.
func clip(line string) string { return Clip(line, 500) }

// Clip shortens a line to so many characters, and replaces what would control a terminal.
func Clip(line string, most int) string {
	out := []rune{}
	for _, c := range line {
		if len(out) == most {
			return string(out) + "..."
		}
		if c < ' ' || c == 0x7f || 0x80 <= c && c < 0xa0 {
			c = '?'
		}
		out = append(out, c)
	}
	return string(out)
}

// Write prints the report.
func (r *Report) Write(w io.Writer) error {
	print := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	head := "imported into " + r.Repository
	if r.DryRun {
		head = "would import into " + r.Repository
	}
	print("%s: %d refs", head, r.Refs)
	for _, k := range Kinds {
		c := r.Counts[k]
		if c == nil || *c == (Count{}) {
			continue
		}
		print("  %-16s %d new, %d changed, %d as before, %d not brought", k, c.New, c.Changed, c.Same, c.Failed)
	}
	if len(r.Matched) > 0 {
		print("people with accounts here:")
		for _, login := range sortedKeys(r.Matched) {
			print("  %s is %s", clip(login), r.Matched[login])
		}
	}
	if len(r.Mannequins) > 0 {
		print("people without accounts here, shown by name (see arbor user claim):")
		for _, login := range r.Mannequins {
			print("  %s", clip(login))
		}
	}
	if len(r.Problems) > 0 {
		print("not brought, or not as it was:")
	}
	for _, p := range r.Problems {
		print("  %s", p)
	}
	if r.Omitted > 0 {
		print("  and %d more", r.Omitted)
	}
	return nil
}
