package git

import (
	"bytes"
	"io"
	"strings"

	"arbor/internal/git/object"
)

// progressFilter passes on git's messages for people about a pack:
// its progress, and what is wrong with an object. All else may name paths of
// the server and stays in the log.
type progressFilter struct {
	out     io.Writer                 // may be nil
	mayTell func(problem string) bool // whether the person may read of a problem
	line    []byte
	problem string // the first complaint about an object that may be told
}

// maxProgressLine bounds a line, in bytes; git's own are far shorter.
const maxProgressLine = 4 << 10

func (f *progressFilter) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			f.line = append(f.line, p[:min(len(p), maxProgressLine)]...)
			break
		}
		f.line = append(f.line, p[:end+1]...)
		f.emit()
		p = p[end+1:]
	}
	if len(f.line) > maxProgressLine {
		f.line = f.line[:0]
	}
	return total, nil
}

// emit passes on one whole line, if it is fit for it.
func (f *progressFilter) emit() {
	defer func() { f.line = f.line[:0] }()
	text := string(f.line)
	problem, ok := strings.CutPrefix(text, "error: object ")
	if ok && len(problem) > 42 && object.IsSHA(problem[:40]) {
		if !f.mayTell(problem) {
			return
		}
		if f.problem == "" {
			f.problem = "object " + strings.TrimSpace(problem)
		}
	} else if !strings.HasPrefix(text, "Resolving deltas:") {
		return
	}
	if f.out != nil {
		_, _ = f.out.Write(f.line)
	}
}
