package git

import (
	"bytes"
	"io"
	"strings"

	"arbor/internal/git/object"
)

// messageLines splits what git writes for people into lines, which end with \n, or with \r for progress.
type messageLines struct {
	each func(line string) // with its end
	line []byte
}

// maxMessageLine bounds a line, in bytes; git's own are far shorter.
const maxMessageLine = 4 << 10

func (l *messageLines) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			l.line = append(l.line, p[:min(len(p), maxMessageLine)]...)
			break
		}
		l.each(string(append(l.line, p[:end+1]...)))
		l.line = l.line[:0]
		p = p[end+1:]
	}
	if len(l.line) > maxMessageLine {
		l.line = l.line[:0]
	}
	return total, nil
}

// progressFilter passes on git's messages for people about a pack:
// its progress, and what is wrong with an object. All else may name paths of
// the server and stays in the log.
type progressFilter struct {
	out     io.Writer                 // may be nil
	mayTell func(problem string) bool // whether the person may read of a problem
	problem string                    // the first complaint about an object that may be told
}

// pass passes on one whole line, if it is fit for it.
func (f *progressFilter) pass(text string) {
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
		_, _ = io.WriteString(f.out, text)
	}
}
