package diff

import (
	"strings"

	textdiff "github.com/rogpeppe/go-internal/diff"

	"arbor/internal/page"
)

// Between sets what changed from one text to another: f's patch, and its numbers of lines.
func Between(f *page.ChangedFile, was, now string) {
	patch := string(textdiff.Diff("a", []byte(was), "b", []byte(now)))
	at := strings.Index(patch, "\n@@ ")
	if at < 0 {
		return
	}
	patch = strings.TrimSuffix(patch[at+1:], "\n")
	for line := range strings.SplitSeq(patch, "\n") {
		if strings.HasPrefix(line, "+") {
			f.Additions++
		} else if strings.HasPrefix(line, "-") {
			f.Deletions++
		}
	}
	f.Changes, f.Patch = f.Additions+f.Deletions, &patch
}
