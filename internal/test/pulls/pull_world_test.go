package pulls_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// pullWorld is a history that a test describes, commit by commit.
type pullWorld struct {
	in      strings.Builder
	commits int
	tips    map[string]int // the mark of a branch
}

// as is a file of another mode than that of a plain file.
func as(mode, text string) string { return mode + "\x00" + text }

// gone is a file that a commit removes.
const gone = "\x00"

// commit adds a commit to a branch. from is where a new branch begins, empty
// for a root or for the branch as it is; merge is another parent, or empty.
func (w *pullWorld) commit(branch, message, from, merge string, files map[string]string) {
	w.commits++
	fmt.Fprintf(&w.in, "commit refs/heads/%s\nmark :%d\ncommitter %s %d +0000\ndata %d\n%s\n", branch,
		w.commits, gittest.Author, gittest.Start+60*w.commits, len(message), message)
	if from != "" {
		fmt.Fprintf(&w.in, "from :%d\n", w.tips[from])
	}
	if merge != "" {
		fmt.Fprintf(&w.in, "merge :%d\n", w.tips[merge])
	}
	if w.tips == nil {
		w.tips = map[string]int{}
	}
	w.tips[branch] = w.commits
	for _, path := range slices.Sorted(maps.Keys(files)) {
		mode, text, special := strings.Cut(files[path], "\x00")
		name := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
		switch {
		case files[path] == gone:
			fmt.Fprintf(&w.in, "D %s\n", name)
		case mode == "160000" && special:
			fmt.Fprintf(&w.in, "M 160000 %s %s\n", text, name)
		case special && (mode == "120000" || mode == "100755"):
			fmt.Fprintf(&w.in, "M %s inline %s\ndata %d\n%s\n", mode, name, len(text), text)
		default:
			fmt.Fprintf(&w.in, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[path]), files[path])
		}
	}
}

// one is the files of a commit of one file.
func one(path, text string) map[string]string { return map[string]string{path: text} }

// write creates a bare repository of the history.
func (w *pullWorld) write(t testing.TB) string {
	t.Helper()
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(w.in.String()+"done\n"))
	return dir
}

// plant creates a repository of the history and returns also its source.
func (w *pullWorld) plant(t *testing.T, s *apitest.Server, name string, private bool) (r *repo.Repo, dir string) {
	t.Helper()
	dir = w.write(t)
	r = s.Repo(t, name, private)
	s.Import(t, r, dir)
	return r, dir
}

// request is what the tests look at in the payload of a pull request.
type request struct {
	Number         int64
	State          string
	Merged         bool
	Mergeable      *bool
	MergeableState string                  `json:"mergeable_state"`
	MergeCommit    *string                 `json:"merge_commit_sha"`
	MergedBy       *struct{ Login string } `json:"merged_by"`
	Updated        string                  `json:"updated_at"`
	Head, Base     struct {
		Ref, SHA string
		Repo     *struct {
			FullName string `json:"full_name"`
		}
	}
	Commits   int
	Additions int
	Deletions int
	Files     int `json:"changed_files"`
}

// propose creates a pull request.
func propose(t testing.TB, s *apitest.Server, who, name, head, base string) request {
	t.Helper()
	made := proposeNow(t, s, who, name, head, base)
	// A busy machine says later whether it can be merged.
	testkit.Eventually(t, func() bool {
		if made.Mergeable == nil {
			made = read(t, s, who, name, made.Number)
		}
		return made.Mergeable != nil
	}, "whether "+head+" can be merged")
	return made
}

// proposeNow is propose that returns the first answer, in which mergeable may be null.
func proposeNow(t testing.TB, s *apitest.Server, who, name, head, base string) request {
	t.Helper()
	var made request
	s.Check(t, apitest.Case{Do: "POST /repos/" + name + "/pulls", As: who, Status: 201,
		Send: fmt.Sprintf(`{"title": %q, "head": %q, "base": %q}`, "About "+head, head, base)}).JSON(t, &made)
	return made
}

// read reads a pull request.
func read(t testing.TB, s *apitest.Server, who, name string, number int64) request {
	t.Helper()
	var p request
	s.Check(t, apitest.Case{Do: fmt.Sprintf("GET /repos/%s/pulls/%d", name, number), As: who,
		Status: 200}).JSON(t, &p)
	return p
}

// truth holds all that the API says of the pull requests of a repository against
// what a mirror of it has, and returns them.
func truth(t *testing.T, s *apitest.Server, who, name string) []request {
	t.Helper()
	all, _ := truthIn(t, s, who, name)
	return all
}

// truthIn is truth that gives the mirror, too.
func truthIn(t *testing.T, s *apitest.Server, who, name string) (all []request, mirror string) {
	t.Helper()
	var list []request
	s.Check(t, apitest.Case{Do: "GET /repos/" + name + "/pulls?state=all&per_page=100&direction=asc", As: who,
		Status: 200}).JSON(t, &list)
	for _, p := range list {
		all = append(all, read(t, s, who, name, p.Number))
	}
	dir := t.TempDir() + "/mirror.git"
	gittest.Run(t, "", "clone", "-q", "--mirror", s.Remote(t, who, name), dir)
	gittest.Run(t, dir, "fsck", "--strict", "--full")
	refs := map[string]string{}
	for line := range strings.Lines(gittest.Run(t, dir, "for-each-ref",
		"--format=%(refname) %(objectname)")) {
		name, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = sha
	}
	for _, p := range all {
		holds(t, dir, refs, p, name)
	}
	return all, dir
}

// holds is truth of one pull request.
func holds(t *testing.T, dir string, refs map[string]string, p request, name string) {
	t.Helper()
	head := refs[fmt.Sprintf("refs/pull/%d/head", p.Number)]
	if head != p.Head.SHA {
		t.Errorf("#%d: refs/pull/N/head is %s, the API says %s", p.Number, head, p.Head.SHA)
	}
	test, base := refs[fmt.Sprintf("refs/pull/%d/merge", p.Number)], refs["refs/heads/"+p.Base.Ref]
	switch {
	case p.Merged:
		if p.State != "closed" || p.MergeCommit == nil || p.Mergeable != nil || p.MergedBy == nil {
			t.Errorf("#%d is merged, but: %+v", p.Number, p)
		} else if _, _, err := gittest.Try(t, dir, nil, "merge-base", "--is-ancestor", *p.MergeCommit,
			base); err != nil {
			t.Errorf("#%d: its merge %s is not in %s", p.Number, *p.MergeCommit, p.Base.Ref)
		}
	case p.State == "open":
		if branch := refs["refs/heads/"+p.Head.Ref]; p.Head.Repo != nil && p.Head.Repo.FullName == name &&
			branch != p.Head.SHA {
			t.Errorf("#%d: its branch is at %s, the API says %s", p.Number, branch, p.Head.SHA)
		}
		if p.Mergeable == nil {
			t.Errorf("#%d: nobody knows whether it can be merged: %+v", p.Number, p)
		} else if !*p.Mergeable {
			if test != "" || p.MergeCommit != nil || p.MergeableState != "dirty" {
				t.Errorf("#%d cannot be merged, and has the test merge %q: %+v", p.Number, test, p)
			}
		} else if p.MergeCommit == nil || test != *p.MergeCommit {
			t.Errorf("#%d: the test merge is %q, the API says %v", p.Number, test, p.MergeCommit)
		} else if parents := gittest.Run(t, dir, "log", "-1", "--format=%P", test); parents != base+" "+head {
			t.Errorf("#%d: the test merge is of %s, not of %s and %s", p.Number, parents, base, head)
		}
	}
}
