package diff

import (
	"strings"

	"arbor/internal/lfs"
	"arbor/internal/page"
)

// LargeChange is a change of an object of Git LFS, as the patch of its pointer shows it.
type LargeChange struct {
	Old, New *lfs.Pointer // nil: the file was no pointer before, or is none now
}

// maxPointerPatch is the size in bytes of the largest patch between two pointers.
const maxPointerPatch = 4 * lfs.MaxPointer

// largeChange reads the patch of a pointer; nil: it is another file's. A pointer is so short that its patch has all of
// it.
func largeChange(patch *string) *LargeChange {
	if patch == nil || len(*patch) > maxPointerPatch || !strings.Contains(*patch, "oid sha256:") {
		return nil
	}
	var old, now strings.Builder
	for n, line := range strings.Split(*patch, "\n") {
		switch {
		case n == 0 && !strings.HasPrefix(line, "@@ -1,") && !strings.HasPrefix(line, "@@ -0,0"):
			return nil // it begins after the first line
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "\\"), line == "":
		case line[0] == '-':
			old.WriteString(line[1:] + "\n")
		case line[0] == '+':
			now.WriteString(line[1:] + "\n")
		default:
			old.WriteString(line[1:] + "\n")
			now.WriteString(line[1:] + "\n")
		}
	}
	var c LargeChange
	for _, side := range []struct {
		text string
		to   **lfs.Pointer
	}{{old.String(), &c.Old}, {now.String(), &c.New}} {
		p, ok := lfs.ParsePointer([]byte(side.text))
		if ok {
			*side.to = &p
		} else if side.text != "" {
			return nil // a file became a pointer: both are worth showing
		}
	}
	if c.Old == nil && c.New == nil {
		return nil
	}
	return &c
}

// Pictures reports that both sides are shown as pictures.
func (f *File) Pictures() bool {
	return f.Why == "picture" || f.Why == "lfs" && page.IsPicture(f.Filename) && f.Old+f.New != ""
}
