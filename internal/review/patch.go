package review

import (
	"fmt"
	"strings"

	"arbor/internal/git/diff"
)

// Side tells which of two files a line is of.
type Side uint8

// The sides, as they are stored.
const (
	Left  Side = 1 // before
	Right Side = 2 // after
)

// String gives the name in payloads.
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

// patchLine is a line of a file's patch.
type patchLine struct {
	kind     byte  // space, + or -; @ opens a hunk, \ says that no newline ends the file
	position int64 // below the first line of the patch: GitHub's position
	old, new int64 // its number before and after; of @ those that come next
	text     string
}

// parsePatch cuts a patch, of which diff.File bounds the size.
func parsePatch(patch string) []patchLine {
	if patch == "" {
		return nil
	}
	list := make([]patchLine, 0, strings.Count(patch, "\n")+1)
	var left, right int64 // the next line's numbers
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

// parseHeader reads "@@ -A,B +C,D @@" and gives the numbers of the next lines. A
// range of no lines names the line before it.
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

// find gives the index of a file's line among those of the patch; -1: it is not
// there.
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

// hunkOf is the index of the line that opens the hunk of a line.
func hunkOf(lines []patchLine, at int) int {
	for at > 0 && lines[at].kind != '@' {
		at--
	}
	return at
}

// maxHunk bounds a comment's diff_hunk in bytes: of a longer one the lines next
// to the comment are kept.
const maxHunk = 16 << 10

// hunkText is the hunk up to a line.
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

// storable replaces what is no text, as files may hold any bytes.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// after tells where a line of a file is after the changes of a patch.
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

// byPath is a file among changes under the name that it has, or had before it
// was deleted.
func byPath(c *diff.Changes, path string) *diff.File {
	for n := range c.Files {
		if c.Files[n].Path == path {
			return &c.Files[n]
		}
	}
	return nil
}
