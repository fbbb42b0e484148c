//go:build long

package clients

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// A history created only by API calls, as bots do: blobs, trees, commits, refs and tags, then read back
// through every endpoint.
func gitByAPI(t *testing.T, h *hub) {
	tracker(t, h)
	first := filesByAPI(t, h)
	second := treesByAPI(t, h, first)
	refsByAPI(t, h, first, second)
	historiesByAPI(t, h, first, second)
	mergeByAPI(t, h, first, second)
}

// filesByAPI writes, reads and removes files, and returns the first commit.
func filesByAPI(t *testing.T, h *hub) string {
	ctx, c := t.Context(), h.as(t, "will").Repositories
	made := got[*github.RepositoryContentResponse](t)(c.CreateFile(ctx, "garden", "plot", "README.md",
		&github.RepositoryContentFileOptions{
			Message: github.Ptr("Begin"), Content: []byte("# Plot\n"),
			Author: &github.CommitAuthor{Name: github.Ptr("Sam"), Email: github.Ptr("sam@example.org")}}))
	equal(t, "the author", made.Commit.GetAuthor().GetName(), "Sam")
	docs := got[*github.RepositoryContentResponse](t)(c.CreateFile(ctx, "garden", "plot", "docs/README.md",
		&github.RepositoryContentFileOptions{Message: github.Ptr("Say more"), Content: []byte("More\n")}))
	readme := got[*github.RepositoryContent](t)(c.GetReadme(ctx, "garden", "plot",
		&github.RepositoryContentGetOptions{Ref: "main"}))
	text, err := readme.GetContent()
	equal(t, "the readme", text, "# Plot\n")
	equal(t, "without an error", err, nil)
	var inner github.RepositoryContent
	call(t, h.as(t, ""), http.MethodGet, "repos/garden/plot/readme/docs", &inner)
	equal(t, "the readme of docs", inner.GetPath(), "docs/README.md")
	for path, want := range map[string]string{"": "README.md docs", "docs": "README.md"} {
		_, entries, _, err := c.GetContents(ctx, "garden", "plot", path, nil)
		var names []string
		for _, e := range entries {
			names = append(names, e.GetName())
		}
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("in %q are %v: %v", path, names, err)
		}
	}
	var listed []*github.RepositoryContent
	call(t, h.as(t, ""), http.MethodGet, "repos/garden/plot/contents", &listed)
	equal(t, "at the root", len(listed), 2)
	body, _, err := c.DownloadContents(ctx, "garden", "plot", "docs/README.md", nil)
	testkit.NoError(t, err)
	defer body.Close()
	data, err := io.ReadAll(body)
	equal(t, "the download", string(data), "More\n")
	equal(t, "without an error", err, nil)
	var raw strings.Builder
	call(t, h.as(t, ""), http.MethodGet, readme.GetDownloadURL(), &raw)
	equal(t, "at download_url", raw.String(), "# Plot\n")
	_, _, err = c.UpdateFile(ctx, "garden", "plot", "README.md",
		&github.RepositoryContentFileOptions{Message: github.Ptr("x"), Content: []byte("x"),
			SHA: docs.Content.SHA})
	refused(t, err, http.StatusConflict, "", "")
	got[*github.RepositoryContentResponse](t)(c.DeleteFile(ctx, "garden", "plot", "docs/README.md",
		&github.RepositoryContentFileOptions{Message: github.Ptr("Say less"), SHA: docs.Content.SHA}))
	_, _, _, err = c.GetContents(ctx, "garden", "plot", "docs", nil)
	refused(t, err, http.StatusNotFound, "", "")
	return made.GetSHA()
}

// treesByAPI creates a commit on top of the first, on another branch than main.
func treesByAPI(t *testing.T, h *hub, first string) string {
	ctx, c := t.Context(), h.as(t, "will").Git
	blob := got[*github.Blob](t)(c.CreateBlob(ctx, "garden", "plot",
		github.Blob{Content: github.Ptr("AAEC/w=="), Encoding: github.Ptr("base64")}))
	raw := got[[]byte](t)(c.GetBlobRaw(ctx, "garden", "plot", blob.GetSHA()))
	equal(t, "the bytes", string(raw), "\x00\x01\x02\xff")
	equal(t, "the size", got[*github.Blob](t)(c.GetBlob(ctx, "garden", "plot", blob.GetSHA())).GetSize(), 4)
	tree := got[*github.Tree](t)(c.CreateTree(ctx, "garden", "plot", first, []*github.TreeEntry{
		{Path: github.Ptr("beds/east/peas.bin"), Mode: github.Ptr("100644"), Type: github.Ptr("blob"),
			SHA: blob.SHA},
		{Path: github.Ptr("beds/water.sh"), Mode: github.Ptr("100755"), Type: github.Ptr("blob"),
			Content: github.Ptr("#!/bin/sh\n")},
		{Path: github.Ptr("README.md"), Mode: github.Ptr("100644")}, // with neither SHA nor content: removed
	}))
	for recursive, want := range map[bool]string{false: "beds",
		true: "beds beds/east beds/east/peas.bin beds/water.sh"} {
		read := got[*github.Tree](t)(c.GetTree(ctx, "garden", "plot", tree.GetSHA(), recursive))
		var paths []string
		for _, e := range read.Entries {
			paths = append(paths, e.GetPath())
		}
		equal(t, "the paths", strings.Join(paths, " "), want)
		equal(t, "truncated", read.GetTruncated(), false)
	}
	_, _, err := c.CreateTree(ctx, "garden", "plot", "",
		[]*github.TreeEntry{{Path: github.Ptr(".git/hooks"), Mode: github.Ptr("100644"),
			Type: github.Ptr("blob"), Content: github.Ptr("x")}})
	if err == nil {
		t.Error("a tree with .git in it was made")
	}
	commit := got[*github.Commit](t)(c.CreateCommit(ctx, "garden", "plot",
		github.Commit{Message: github.Ptr("Lay beds"), Tree: tree, Parents: []*github.Commit{{SHA: &first}}},
		nil))
	read := got[*github.Commit](t)(c.GetCommit(ctx, "garden", "plot", commit.GetSHA()))
	equal(t, "the commit", read.GetMessage()+" "+read.GetTree().GetSHA()+" "+read.Parents[0].GetSHA(),
		"Lay beds "+tree.GetSHA()+" "+first)
	return commit.GetSHA()
}

func refsByAPI(t *testing.T, h *hub, first, second string) {
	ctx, c := t.Context(), h.as(t, "will").Git
	ref := got[*github.Reference](t)
	ref(c.CreateRef(ctx, "garden", "plot", github.CreateRef{Ref: "refs/heads/plan/beds", SHA: first}))
	ref(c.UpdateRef(ctx, "garden", "plot", "heads/plan/beds", github.UpdateRef{SHA: second}))
	_, _, err := c.UpdateRef(ctx, "garden", "plot", "heads/plan/beds", github.UpdateRef{SHA: first})
	if err == nil {
		t.Error("a ref went back without force")
	}
	equal(t, "the ref", ref(c.GetRef(ctx, "garden", "plot", "heads/plan/beds")).GetObject().GetSHA(), second)
	tag := got[*github.Tag](t)(c.CreateTag(ctx, "garden", "plot",
		github.CreateTag{Tag: "v1", Message: "One", Object: second, Type: "commit"}))
	ref(c.CreateRef(ctx, "garden", "plot", github.CreateRef{Ref: "refs/tags/v1", SHA: tag.GetSHA()}))
	equal(t, "the tag", got[*github.Tag](t)(c.GetTag(ctx, "garden", "plot",
		tag.GetSHA())).GetObject().GetSHA(), second)
	equal(t, "refs that begin so",
		len(got[[]*github.Reference](t)(c.ListMatchingRefs(ctx, "garden", "plot", "heads/plan"))), 1)
	var all []*github.Reference
	call(t, h.as(t, ""), http.MethodGet, "repos/garden/plot/git/refs", &all)
	equal(t, "all refs", len(all), 3)
	var one github.Reference
	call(t, h.as(t, ""), http.MethodGet, "repos/garden/plot/git/refs/tags/v1", &one)
	equal(t, "a tag's ref", one.GetObject().GetType(), "tag")
	ref(c.CreateRef(ctx, "garden", "plot", github.CreateRef{Ref: "refs/heads/gone", SHA: first}))
	done(t)(c.DeleteRef(ctx, "garden", "plot", "heads/gone"))
	_, _, err = c.GetRef(ctx, "garden", "plot", "heads/gone")
	refused(t, err, http.StatusNotFound, "", "")
}

// historiesByAPI reads what refs lead to.
func historiesByAPI(t *testing.T, h *hub, first, second string) {
	ctx, c := t.Context(), h.as(t, "sam").Repositories
	var names []string
	for b, err := range c.ListBranchesIter(ctx, "garden", "plot",
		&github.BranchListOptions{ListOptions: github.ListOptions{PerPage: 1}}) {
		testkit.NoError(t, err)
		names = append(names, b.GetName())
	}
	equal(t, "the branches", strings.Join(names, " "), "main plan/beds")
	equal(t, "a branch", got[*github.Branch](t)(c.GetBranch(ctx, "garden", "plot", "plan/beds",
		0)).GetCommit().GetSHA(), second)
	equal(t, "the tags", got[[]*github.RepositoryTag](t)(c.ListTags(ctx, "garden", "plot", nil))[0].GetName(),
		"v1")
	list := got[[]*github.RepositoryCommit](t)(c.ListCommits(ctx, "garden", "plot",
		&github.CommitsListOptions{SHA: "plan/beds"}))
	equal(t, "the commits", len(list), 2)
	equal(t, "of README.md",
		len(got[[]*github.RepositoryCommit](t)(c.ListCommits(ctx, "garden", "plot",
			&github.CommitsListOptions{Path: "README.md"}))), 1)
	commit := got[*github.RepositoryCommit](t)(c.GetCommit(ctx, "garden", "plot", "plan/beds", nil))
	equal(t, "its files", len(commit.Files), 3)
	patch := got[string](t)(c.GetCommitRaw(ctx, "garden", "plot", second,
		github.RawOptions{Type: github.Patch}))
	equal(t, "its patch", strings.HasPrefix(patch, "From "+second), true)
	equal(t, "its name", got[string](t)(c.GetCommitSHA1(ctx, "garden", "plot", "plan/beds", "")), second)
	equal(t, "whose head it is", got[[]*github.BranchCommit](t)(c.ListBranchesHeadCommit(ctx, "garden",
		"plot", second))[0].GetName(), "plan/beds")
	compared := got[*github.CommitsComparison](t)(c.CompareCommits(ctx, "garden", "plot", "main",
		"plan/beds", nil))
	equal(t, "the comparison", [2]int{compared.GetAheadBy(), compared.GetBehindBy()}, [2]int{1, 2})
	equal(t, "where they parted", compared.GetMergeBaseCommit().GetSHA(), first)
	diff := got[string](t)(c.CompareCommitsRaw(ctx, "garden", "plot", first, second,
		github.RawOptions{Type: github.Diff}))
	equal(t, "the difference", strings.HasPrefix(diff, "diff --git a/README.md b/README.md\n"), true)
}

func mergeByAPI(t *testing.T, h *hub, first, second string) {
	ctx, c := t.Context(), h.as(t, "will")
	got[*github.RepoStatus](t)(c.Repositories.CreateStatus(ctx, "garden", "plot", second,
		github.RepoStatus{State: github.Ptr("success"), Context: github.Ptr("build"),
			TargetURL: github.Ptr("https://ci.example.org/1")}))
	list := got[[]*github.RepoStatus](t)(c.Repositories.ListStatuses(ctx, "garden", "plot", "plan/beds", nil))
	equal(t, "the status", list[0].GetContext()+" "+list[0].GetCreator().GetLogin(), "build will")
	var older []*github.RepoStatus
	call(t, c, http.MethodGet, "repos/garden/plot/statuses/"+second, &older)
	equal(t, "at the older address", older[0].GetID(), list[0].GetID())
	pull := got[*github.PullRequest](t)(c.PullRequests.Create(ctx, "garden", "plot",
		&github.NewPullRequest{Title: github.Ptr("Beds"), Head: github.Ptr("plan/beds"),
			Base: github.Ptr("main")}))
	of := got[[]*github.PullRequest](t)(c.PullRequests.ListPullRequestsWithCommit(ctx, "garden", "plot",
		second, nil))
	equal(t, "the commit's pull request", of[0].GetNumber(), pull.GetNumber())
	got[*github.Reference](t)(c.Git.CreateRef(ctx, "garden", "plot",
		github.CreateRef{Ref: "refs/heads/older", SHA: first}))
	merged := got[*github.RepositoryCommit](t)(c.Repositories.Merge(ctx, "garden", "plot",
		&github.RepositoryMergeRequest{Base: github.Ptr("older"), Head: github.Ptr("plan/beds"),
			CommitMessage: github.Ptr("Bring beds")}))
	equal(t, "the merge", merged.GetCommit().GetMessage(), "Bring beds")
}
