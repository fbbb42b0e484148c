package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// outputReader reads what `git diff-tree --raw --numstat -p` prints: a line a
// file that begins with a colon, a line a file with counts, an empty line, and
// the patches, all in one order. File names are quoted if they have special
// characters, so that none can pass for something else.
type outputReader struct {
	o       Options
	in      *bufio.Reader
	changes Changes

	bare    bool // without counts and patches
	phase   phase
	partial bool        // the line that was read last goes on
	counted int         // lines of counts read
	places  map[int]int // with Paths: where the n-th of all files is among those given
	next    int         // first of the files given whose patch may still come
	kept    int         // bytes of patches kept

	file  *File // whose patch is read; nil for one that is not given
	hunks bool  // its hunks have begun
	lines int   // of its hunks so far
	over  bool  // over a bound
	patch []byte
}

type phase uint8

const (
	rawLines phase = iota
	countLines
	patches
)

// read reads all of the output, or ends with ErrStop where nothing that comes
// is wanted.
func (d *outputReader) read() error {
	for {
		begins := !d.partial
		line, err := d.in.ReadSlice('\n')
		d.partial = errors.Is(err, bufio.ErrBufferFull)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			d.endFile()
			if !d.bare && d.counted != d.changes.Total {
				return fmt.Errorf("git diff-tree: %d files, but %d with counts", d.changes.Total, d.counted)
			}
			return nil
		}
		if err != nil && !d.partial && !errors.Is(err, io.EOF) {
			return fmt.Errorf("git diff-tree: %w", err)
		}
		if err := d.take(line, begins); err != nil {
			return err
		}
	}
}

// take takes a line or, where it is longer than the buffer, a part of one.
func (d *outputReader) take(line []byte, begins bool) error {
	if d.phase == patches {
		return d.patchLine(line, begins)
	}
	if !begins || d.partial {
		return errOutput(line) // names are bounded, the buffer holds any
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	switch {
	case len(line) == 0:
		d.phase = patches
		return nil
	case line[0] == ':' && d.phase == rawLines:
		return d.rawLine(string(line))
	}
	d.phase = countLines
	return d.countLine(string(line))
}

func errOutput(line []byte) error {
	return fmt.Errorf("git diff-tree: unexpected line %q", errs.Clip(string(line)))
}

// given returns the wanted file that is the n-th of all files, if that one is wanted.
func (d *outputReader) given(n int) (*File, bool) {
	i := n - d.o.Skip
	if d.o.Paths != nil {
		at, ok := d.places[n]
		if i = at; !ok {
			i = -1
		}
	}
	if i < 0 || i >= len(d.changes.Files) {
		return nil, false
	}
	return &d.changes.Files[i], true
}

// rawLine reads ":MODE MODE SHA SHA STATUS\tPATH[\tPATH]".
func (d *outputReader) rawLine(line string) error {
	n := d.changes.Total
	d.changes.Total++
	if d.o.List && n < MaxFiles {
		if err := d.list(line); err != nil {
			return err
		}
	}
	if n < d.o.Skip || len(d.changes.Files) >= d.o.Max {
		return nil
	}
	meta, names, ok := strings.Cut(line, "\t")
	fields := strings.Fields(meta)
	if !ok || len(fields) != 5 || len(fields[0]) != 7 {
		return errOutput([]byte(line))
	}
	f := File{Status: fields[4][0], OldMode: parseMode(fields[0][1:]), Mode: parseMode(fields[1])}
	var err error
	if f.OldSHA, err = git.ParseSHA(fields[2]); err != nil {
		return errOutput([]byte(line))
	}
	if f.SHA, err = git.ParseSHA(fields[3]); err != nil {
		return errOutput([]byte(line))
	}
	old, name, two := strings.Cut(names, "\t")
	if !two {
		name = old
	}
	f.header = "diff --git " + prefixed("a/", old) + " " + prefixed("b/", name) + "\n"
	if f.Path, err = unquotePath(name); err != nil {
		return err
	}
	if two {
		if f.OldPath, err = unquotePath(old); err != nil {
			return err
		}
	}
	if d.o.Paths != nil {
		if !d.o.Paths[f.Path] && !d.o.Paths[f.OldPath] {
			return nil
		}
		if d.places == nil {
			d.places = map[int]int{}
		}
		d.places[n] = len(d.changes.Files)
	}
	d.changes.Files = append(d.changes.Files, f)
	return nil
}

// list adds the file of a raw line to Changes.List.
func (d *outputReader) list(line string) error {
	name, err := unquotePath(line[strings.LastIndexByte(line, '\t')+1:])
	if err != nil {
		return err
	}
	fields := strings.Fields(line)
	if len(fields) < 5 {
		return errOutput([]byte(line))
	}
	d.changes.List = append(d.changes.List, Listed{Path: name, SHA: newer(git.SHA(fields[2]), git.SHA(fields[3]))})
	return nil
}

// newer returns the new version of a file, or the old one of a file that is gone.
func newer(old, now git.SHA) git.SHA {
	if now == git.ZeroSHA {
		return old
	}
	return now
}

// prefixed puts a prefix before a name, within its quotes if it has them.
func prefixed(prefix, name string) string {
	if strings.HasPrefix(name, `"`) {
		return `"` + prefix + name[1:]
	}
	return prefix + name
}

func parseMode(s string) git.Mode {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n == 0 {
		return 0
	}
	return git.Mode(n)
}

// countLine reads "ADDED\tDELETED\tPATH", with "-" twice for a binary file.
func (d *outputReader) countLine(line string) error {
	added, rest, ok := strings.Cut(line, "\t")
	deleted, _, ok2 := strings.Cut(rest, "\t")
	if !ok || !ok2 {
		return errOutput([]byte(line))
	}
	f, wanted := d.given(d.counted)
	d.counted++
	if added == "-" && deleted == "-" {
		if wanted {
			f.Binary = true
		}
		return nil
	}
	a, err1 := strconv.Atoi(added)
	b, err2 := strconv.Atoi(deleted)
	if err1 != nil || err2 != nil || a < 0 || b < 0 {
		return errOutput([]byte(line))
	}
	d.changes.Additions += a
	d.changes.Deletions += b
	if wanted {
		f.Additions, f.Deletions = a, b
	}
	if n := d.counted - 1; n < len(d.changes.List) {
		d.changes.List[n].Additions, d.changes.List[n].Deletions = a, b
	}
	return nil
}

// patchLine takes a line of the patches. Lines of a file's text begin with a
// space, a sign or a backslash, so "diff --git" opens a file.
func (d *outputReader) patchLine(line []byte, begins bool) error {
	if begins && bytes.HasPrefix(line, []byte("diff --git ")) {
		return d.open(line)
	}
	if d.file == nil || d.over {
		return nil
	}
	if begins && !d.hunks {
		d.hunks = bytes.HasPrefix(line, []byte("@@ "))
	}
	if !d.hunks {
		return nil
	}
	if begins {
		d.lines++
	}
	d.patch = append(d.patch, line...)
	if d.lines > d.o.Lines || len(d.patch) > d.o.Bytes {
		d.over, d.patch = true, d.patch[:0]
	}
	return nil
}

// open ends the patch before and finds the file that a header names. A file
// whose type changed has two patches: its deletion and its creation.
func (d *outputReader) open(line []byte) error {
	if f := d.file; f != nil && f.Status == 'T' && string(line) == f.header {
		d.hunks = false
		return nil
	}
	d.endFile()
	if d.next == len(d.changes.Files) {
		return git.ErrStop
	}
	for i := d.next; i < len(d.changes.Files); i++ {
		if f := &d.changes.Files[i]; f.header == string(line) {
			d.file, d.next = f, i+1
			break
		}
	}
	return nil
}

// endFile keeps the patch that has ended.
func (d *outputReader) endFile() {
	if f := d.file; f != nil && !d.over && len(d.patch) > 0 && d.kept+len(d.patch) <= d.o.Sum {
		d.kept += len(d.patch)
		f.Patch, f.HasPatch = string(bytes.TrimSuffix(d.patch, []byte("\n"))), true
	}
	d.file, d.hunks, d.lines, d.over, d.patch = nil, false, 0, false, d.patch[:0]
}

// unquotePath reads a name as git prints it: in quotes, with C's escapes and
// octal bytes, where it has special characters.
func unquotePath(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	bad := fmt.Errorf("git: bad quoted name %q", errs.Clip(s))
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", bad
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i++; i == len(s) {
			return "", bad
		}
		if at := strings.IndexByte(`abtnvfr"\`, s[i]); at >= 0 {
			out = append(out, "\a\b\t\n\v\f\r\"\\"[at])
			continue
		}
		if i+3 > len(s) {
			return "", bad
		}
		n, err := strconv.ParseUint(s[i:i+3], 8, 8)
		if err != nil {
			return "", bad
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), nil
}
