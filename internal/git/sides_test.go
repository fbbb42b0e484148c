package git_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// side is a commit of a history that a test describes: its files by path, each
// "MODE TEXT", where text ended by "\n" is as it stands.
type side map[string]string

// treeCommit is a commit to be written, and where its parents stand in a list.
type treeCommit struct {
	files   side
	at      int // seconds after gittest.Start
	parents []git.SHA
	before  []int // parents among the commits of the same list
}

// commitTrees writes commits with the given files.
func commitTrees(tb testing.TB, dir string, list []treeCommit) []git.SHA {
	tb.Helper()
	var in bytes.Buffer
	for n, c := range list {
		fmt.Fprintf(&in, "reset refs/temporary\ncommit refs/temporary\nmark :%d\ncommitter %s %d +0000\ndata 1\nc\n", n+1, gittest.Author, gittest.Start+c.at)
		parents := slices.Clone(c.parents)
		for _, b := range c.before {
			parents = append(parents, git.SHA(fmt.Sprint(":", b+1)))
		}
		for i, p := range parents {
			fmt.Fprintf(&in, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
		}
		in.WriteString("deleteall\n")
		for path, file := range c.files {
			mode, text, _ := strings.Cut(file, " ")
			if mode == "160000" {
				fmt.Fprintf(&in, "M 160000 %s %s\n", text, quoted(path))
				continue
			}
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, quoted(path), len(text), text)
		}
	}
	in.WriteString("reset refs/temporary\nfrom " + string(git.ZeroSHA) + "\ndone\n")
	marks := filepath.Join(tb.TempDir(), "marks")
	gittest.Pipe(tb, dir, &in, "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force",
		"--export-marks="+marks)
	written, err := os.ReadFile(marks)
	testkit.NoError(tb, err)
	shas := make([]git.SHA, len(list))
	for line := range strings.Lines(string(written)) {
		var n int
		var sha string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &sha); err != nil {
			tb.Fatal(err)
		}
		shas[n-1] = git.SHA(sha)
	}
	return shas
}

func commitTree(tb testing.TB, dir string, files side, at int, parents ...git.SHA) git.SHA {
	tb.Helper()
	return commitTrees(tb, dir, []treeCommit{{files: files, at: at, parents: parents}})[0]
}

// quoted is a path as fast-import reads any.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// text is a file with enough lines for git to know it again.
func text(name string) string {
	var b strings.Builder
	b.WriteString("100644 ")
	for i := range 12 {
		fmt.Fprintf(&b, "%s has a line of its own, the number %d\n", name, i)
	}
	return b.String()
}

// with is a copy with other files; an empty one is removed.
func (s side) with(pairs ...string) side {
	out := side{}
	for k, v := range s {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		if out[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(out, pairs[i])
		}
	}
	return out
}

// moved is a copy with a directory or file renamed.
func (s side) moved(from, to string) side {
	out := side{}
	for k, v := range s {
		if k == from {
			k = to
		} else if rest, ok := strings.CutPrefix(k, from+"/"); ok {
			k = strings.TrimPrefix(to+"/"+rest, "/")
		}
		out[k] = v
	}
	return out
}
