package review

import (
	"fmt"
	"strings"

	"arbor/internal/git/diff"
)

// Side is the side of a diff.
type Side uint8

// Sides as stored.
const (
	Left  Side = 1 // before the change
	Right Side = 2 // after the change
)

// String returns the name used in payloads.
func (s Side) String() string {
	if s == Left {
		return "LEFT"
	}
	return "RIGHT"
}

func parseSide(name string) Side {
	if name == "LEFT" {
		return Left
	}
	return Right
}

// patchLine is a line of a patch.
type patchLine struct {
	kind     byte  // space, + or -; @ for a hunk header; \ for a missing newline at the end of the file
	position int64 // distance from the first line of the patch, as in GitHub's API
	old, new int64 // line numbers before and after; for a hunk header, those of the next line
	text     string
}

// parsePatch splits a patch into lines. diff.File limits its size.
func parsePatch(patch string) []patchLine {
	if patch == "" {
		return nil
	}
	list := make([]patchLine, 0, strings.Count(patch, "\n")+1)
	var left, right int64 // numbers of the next line
	for text := range strings.SplitSeq(patch, "\n") {
		l := patchLine{kind: '\\', position: int64(len(list)), text: text}
		if text != "" {
			l.kind = text[0]
		}
		switch l.kind {
		case '@':
			left, right = parseHeader(text)
			l.old, l.new = left, right
		case ' ':
			l.old, l.new = left, right
			left, right = left+1, right+1
		case '-':
			l.old = left
			left++
		case '+':
			l.new = right
			right++
		}
		list = append(list, l)
	}
	return list
}

// parseHeader parses "@@ -A,B +C,D @@" and returns the numbers of the next lines. An empty range has the
// number of the line before it.
func parseHeader(text string) (left, right int64) {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return 0, 0
	}
	next := func(field string) int64 {
		start, count := int64(0), int64(1)
		if n, _ := fmt.Sscanf(field[1:], "%d,%d", &start, &count); n > 0 && count == 0 {
			start++
		}
		return start
	}
	return next(fields[1]), next(fields[2])
}

// find returns the index of a file's line in the patch, or -1.
func find(lines []patchLine, s Side, number int64) int {
	for n := range lines {
		l := &lines[n]
		onRight := l.new == number && (l.kind == ' ' || l.kind == '+')
		onLeft := l.old == number && (l.kind == ' ' || l.kind == '-')
		if s == Right && onRight || s == Left && onLeft {
			return n
		}
	}
	return -1
}

// hunkOf returns the index of the header of the hunk that contains a line.
func hunkOf(lines []patchLine, at int) int {
	for at > 0 && lines[at].kind != '@' {
		at--
	}
	return at
}

// maxHunk is the maximum size of a stored diff_hunk in bytes. Of a longer hunk the lines next to the
// comment are kept.
const maxHunk = 16 << 10

// hunkText returns the hunk up to and including a line.
func hunkText(lines []patchLine, at int) string {
	head := hunkOf(lines, at)
	from, size := at, len(lines[head].text)+len(lines[at].text)
	for from-1 > head && size+len(lines[from-1].text)+1 <= maxHunk {
		from--
		size += len(lines[from].text) + 1
	}
	parts := []string{lines[head].text}
	for n := from; n <= at && n > head; n++ {
		parts = append(parts, lines[n].text)
	}
	text := strings.Join(parts, "\n")
	return storable(text[:min(len(text), 2*maxHunk)])
}

// storable replaces bytes that are not valid text, because files may contain any bytes.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// after maps a line number through the changes of a patch. It reports false if the line was changed.
func after(lines []patchLine, number int64) (int64, bool) {
	var delta int64
	for n := range lines {
		l := &lines[n]
		switch l.kind {
		case '@':
			if number < l.old {
				return number + delta, true
			}
		case ' ':
			if l.old == number {
				return l.new, true
			}
			delta = l.new - l.old
		case '-':
			if l.old == number {
				return 0, false
			}
			delta--
		case '+':
			delta++
		}
	}
	return number + delta, true
}

// byPath returns the file with this path, or with this former path if it was deleted.
func byPath(c *diff.Changes, path string) *diff.File {
	for n := range c.Files {
		if c.Files[n].Path == path {
			return &c.Files[n]
		}
	}
	return nil
}

// Locate returns the position of a line in the patch of its file, as in GitHub's API, and the hunk up to that
// line. left means a line before the change. The position is 0 if the patch does not show the line.
func Locate(patch string, left bool, line int64) (position int64, hunk string) {
	side := Right
	if left {
		side = Left
	}
	lines := parsePatch(patch)
	at := find(lines, side, line)
	if at < 0 || line < 1 {
		return 0, ""
	}
	return lines[at].position, hunkText(lines, at)
}
