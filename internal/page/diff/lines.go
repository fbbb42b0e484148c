package diff

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/page"
)

// lines counts the lines of a patch.
func lines(patch string) int { return strings.Count(patch, "\n") + 1 }

// read reads the rows of the file's patch.
func (f *File) read(noSpace bool) {
	rows := readPatch(*f.Patch)
	if noSpace {
		rows = withoutSpace(rows)
		f.recount(rows)
	}
	for from := 0; from < len(rows); from++ {
		if rows[from].Kind == "d" {
			from = markRun(rows, from)
		}
	}
	f.rows = rows
}

// readPatch reads the hunks of a unified diff. Lines that are none of a hunk are left out.
func readPatch(patch string) []Row {
	rows := make([]Row, 0, lines(patch))
	var before, after int64
	for line := range strings.SplitSeq(patch, "\n") {
		if at, to, ok := readHead(line); ok {
			before, after = at, to
			rows = append(rows, Row{Kind: "h", Text: Marked{Before: clip(line)}})
			continue
		}
		if line == "" || len(rows) == 0 {
			continue
		}
		row := Row{Text: Marked{Before: clip(line[1:])}}
		switch line[0] {
		case '+':
			row.Kind, row.New = "a", after
			after++
		case '-':
			row.Kind, row.Old = "d", before
			before++
		case ' ':
			row.Old, row.New = before, after
			before, after = before+1, after+1
		default:
			row.Kind = "n"
		}
		rows = append(rows, row)
	}
	return rows
}

// readHead reads "@@ -3,4 +5,6 @@", with the numbers of the first lines.
func readHead(line string) (before, after int64, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, 0, false
	}
	old, rest, ok := strings.Cut(rest, " +")
	if !ok {
		return 0, 0, false
	}
	now, _, ok := strings.Cut(rest, " @@")
	before, err := first(old)
	after, also := first(now)
	return before, after, ok && err == nil && also == nil
}

func first(numbers string) (int64, error) {
	start, _, _ := strings.Cut(numbers, ",")
	return strconv.ParseInt(start, 10, 64)
}

func clip(line string) string {
	c := page.Clip(strings.TrimSuffix(line, "\r"), maxLine)
	if c.Cut {
		return c.Text + " …"
	}
	return c.Text
}

// markRun marks what changed in a run of deleted lines that as many added ones replace, and returns its last
// row.
func markRun(rows []Row, from int) int {
	mid := from
	for mid < len(rows) && rows[mid].Kind == "d" {
		mid++
	}
	to := mid
	for to < len(rows) && rows[to].Kind == "a" {
		to++
	}
	if to-mid == mid-from {
		for n := from; n < mid; n++ {
			mark(&rows[n].Text, &rows[n+mid-from].Text)
		}
	}
	return to - 1
}

// mark finds the middle in which two lines differ, if enough of both is the same.
func mark(a, b *Marked) {
	old, now := a.Before, b.Before
	head := 0
	for head < len(old) && head < len(now) && old[head] == now[head] {
		head++
	}
	for head > 0 && (head < len(old) && !utf8.RuneStart(old[head]) ||
		head < len(now) && !utf8.RuneStart(now[head])) {
		head--
	}
	tail := 0
	for tail < len(old)-head && tail < len(now)-head && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	for tail > 0 && (!utf8.RuneStart(old[len(old)-tail]) || !utf8.RuneStart(now[len(now)-tail])) {
		tail--
	}
	same := len(strings.TrimSpace(old[:head])) + len(strings.TrimSpace(old[len(old)-tail:]))
	if same*3 < max(len(old), len(now)) {
		return
	}
	*a = Marked{old[:head], old[head : len(old)-tail], old[len(old)-tail:]}
	*b = Marked{now[:head], now[head : len(now)-tail], now[len(now)-tail:]}
}

// pairs pairs deleted lines with the lines that were added in their place.
func pairs(rows []Row) []Pair {
	list := make([]Pair, 0, len(rows))
	for n := 0; n < len(rows); {
		switch row := rows[n]; row.Kind {
		case "d", "a":
			var gone, came []Row
			for ; n < len(rows) && (rows[n].Kind == "d" || rows[n].Kind == "n" && len(gone) > 0); n++ {
				gone = append(gone, rows[n])
			}
			for ; n < len(rows) && (rows[n].Kind == "a" || rows[n].Kind == "n" && len(came) > 0); n++ {
				came = append(came, rows[n])
			}
			for i := range max(len(gone), len(came)) {
				p := Pair{Row{Kind: "e"}, Row{Kind: "e"}}
				if i < len(gone) {
					p.Old = gone[i]
				}
				if i < len(came) {
					p.New = came[i]
				}
				list = append(list, p)
			}
		case "h":
			list = append(list, Pair{Old: row})
			n++
		default:
			old, now := row, row
			old.New, now.Old = 0, 0
			list = append(list, Pair{old, now})
			n++
		}
	}
	return list
}
