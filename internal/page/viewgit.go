package page

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Valid is a text that Git stores, as UTF-8: each other byte becomes U+FFFD, as in JSON.
func Valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

// Segments is the escaped path of a branch or a file with a slash before it; empty for none.
func Segments(path string) string {
	if path == "" {
		return ""
	}
	return web.Path(strings.Split(path, "/")...)
}

// RepoPath is the address of the repository's page.
func RepoPath(a *repo.Access) string { return web.Path(a.Owner.Login, a.Name) }

func newSignature(s git.Signature) Signature {
	return Signature{Name: Valid(s.Name), Email: Valid(s.Email), Date: s.When.UTC()}
}

// NewCommit returns the view of a commit.
func NewCommit(v *gitdata.CommitView) Commit {
	c := Commit{SHA: string(v.SHA), Author: NewUser(v.WrittenBy), HTMLURL: RepoPath(v.In) + "/commit/" + string(v.SHA),
		Verified: NewVerified(v.Verification)}
	c.Commit.Message = Valid(strings.TrimRight(v.Message, "\n"))
	c.Commit.Author, c.Commit.Committer = newSignature(v.Author), newSignature(v.Committer)
	return c
}

// NewCommits returns the views of commits.
func NewCommits(list []*gitdata.CommitView) []Commit {
	commits := make([]Commit, len(list))
	for n, c := range list {
		commits[n] = NewCommit(c)
	}
	return commits
}

// NewChangedFiles returns the views of changed files.
func NewChangedFiles(c *gitdata.Changes) []ChangedFile {
	files := make([]ChangedFile, len(c.Files))
	for n := range c.Files {
		files[n] = newChangedFile(c, &c.Files[n])
	}
	return files
}

// newChangedFile returns the view of a file; the address of a deleted one leads to where it was last.
func newChangedFile(c *gitdata.Changes, f *diff.File) ChangedFile {
	sha, at := f.SHA, c.To
	if f.Status == 'D' {
		sha, at = f.OldSHA, c.From
	}
	out := ChangedFile{SHA: string(sha), Filename: Valid(f.Path), Previous: Valid(f.OldPath), Status: f.StatusName(),
		Additions: int64(f.Additions), Deletions: int64(f.Deletions), Changes: int64(f.Additions + f.Deletions),
		BlobURL: RepoPath(c.In) + "/blob/" + string(at) + Segments(f.Path),
		Brief:   &FileBrief{f.OldMode.String(), f.Mode.String(), f.Binary, f.Unread}}
	raw := func(at git.SHA, name string) string { return RepoPath(c.In) + "/raw/" + string(at) + Segments(name) }
	if f.OldMode != 0 {
		out.Old = raw(c.From, cmp.Or(f.OldPath, f.Path))
	}
	if f.Mode != 0 {
		out.New = raw(c.To, f.Path)
	}
	if f.HasPatch {
		out.Patch = new(Valid(f.Patch))
	}
	return out
}

// IsPicture reports a name of a picture that browsers show.
func IsPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".svg":
		return true
	}
	return false
}
