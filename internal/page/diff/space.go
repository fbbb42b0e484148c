package diff

import (
	"strings"
	"unicode"
)

// maxAligned is how many pairs of lines of one run are compared to find those that differ in white space alone.
// In a longer run only lines at its begin and its end are found.
const maxAligned = 40_000

// withoutSpace replaces lines that differ in white space alone by unchanged ones, as `git diff -w` does, and leaves
// out hunks in which nothing else changed.
func withoutSpace(rows []Row) (list []Row) {
	hunk, changed := 0, false // where the last hunk begins in list, and whether anything changed in it
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && (rows[to].Kind == "d" || rows[to].Kind == "a" || rows[to].Kind == "n" && to > from) {
			to++
		}
		if to > from {
			run := alignRun(rows[from:to])
			for n := range run {
				changed = changed || run[n].Kind != ""
			}
			list, from = append(list, run...), to
			continue
		}
		if rows[from].Kind == "h" {
			if !changed {
				list = list[:hunk]
			}
			hunk, changed = len(list), false
		}
		list = append(list, rows[from])
		from++
	}
	if !changed {
		list = list[:hunk]
	}
	return list
}

// alignRun pairs deleted and added lines of a run that are the same but for white space. Notes of git stay at
// the end of a run that ends with a changed line.
func alignRun(run []Row) (list []Row) {
	var gone, came, notes []Row
	for _, row := range run {
		switch row.Kind {
		case "d":
			gone = append(gone, row)
		case "a":
			came = append(came, row)
		default:
			notes = append(notes, row)
		}
	}
	old, now := bare(gone), bare(came)
	i, j := 0, 0
	for _, p := range aligned(old, now) {
		list = append(append(list, gone[i:p[0]]...), came[j:p[1]]...)
		same := came[p[1]]
		same.Kind, same.Old = "", gone[p[0]].Old
		list = append(list, same)
		i, j = p[0]+1, p[1]+1
	}
	list = append(append(list, gone[i:]...), came[j:]...)
	if i < len(gone) || j < len(came) {
		list = append(list, notes...)
	}
	return list
}

// bare returns the lines of rows without white space.
func bare(rows []Row) []string {
	lines := make([]string, len(rows))
	for n := range rows {
		lines[n] = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, rows[n].Text.Before)
	}
	return lines
}

// aligned returns places of equal lines, each with its place in both lists, in order: as many as can be found
// within maxAligned.
func aligned(a, b []string) (pairs [][2]int) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		pairs = append(pairs, [2]int{head, head})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	pairs = append(pairs, common(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for n := tail; n > 0; n-- {
		pairs = append(pairs, [2]int{len(a) - n, len(b) - n})
	}
	return pairs
}

// common returns a longest common subsequence, with places that count from a number on.
func common(a, b []string, from int) (pairs [][2]int) {
	if len(a)*len(b) == 0 || len(a)*len(b) > maxAligned {
		return nil
	}
	length := make([][]int, len(a)+1) // of what is common to a[i:] and b[j:]
	length[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		length[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			pairs = append(pairs, [2]int{from + i, from + j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// recount counts the lines that are still changed.
func (f *File) recount(rows []Row) {
	f.Additions, f.Deletions = 0, 0
	for n := range rows {
		switch rows[n].Kind {
		case "a":
			f.Additions++
		case "d":
			f.Deletions++
		}
	}
}
