package object

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// What we accept git must accept, and the other way round but for our own
// additional rules: else a ref could be made that no client can fetch.
func checkAgainstGit(t *testing.T, name string) {
	if strings.IndexByte(name, 0) >= 0 || strings.HasPrefix(name, "-") || strings.Contains(name, "/-") ||
		name == "refs/heads/HEAD" || name == "refs/tags/HEAD" {
		if CheckRefName(name) == nil {
			t.Errorf("%q is accepted", name)
		}
		return
	}
	git := exec.CommandContext(t.Context(), "git", "check-ref-format", name).Run() == nil
	last := name[strings.LastIndexByte(name, '/')+1:]
	ours := strings.HasPrefix(name, "refs/") && utf8.ValidString(name) &&
		len(name) <= MaxRefName && !IsSHA(last)
	for part := range strings.SplitSeq(name, "/") {
		ours = ours && len(part) <= maxRefNamePart
	}
	if err := CheckRefName(name); (err == nil) != (git && ours) {
		t.Errorf("%q: git says %v, we say %v", name, git, err)
	}
}

func refNameSeeds() []string {
	long := strings.Repeat("x", 255)
	return []string{"refs/heads/main", "refs/heads/a/b", "refs/heads", "refs/", "refs", "", "HEAD",
		"refs/heads/HEAD", "refs/tags/HEAD", "refs/heads/a/HEAD", "refs/heads/HEAD/a", "refs/heads/head",
		"refs/heads/", "refs//heads", "/refs/heads/a", "refs/heads/.a", "refs/heads/a.", "refs/heads/a./b",
		"refs/heads/a.lock", "refs/heads/a.lock/b",
		"refs/heads/a..b", "refs/heads/@", "refs/heads/@{", "refs/heads/a b", "refs/heads/a~1",
		"refs/heads/a^", "refs/heads/a:b",
		"refs/heads/a?", "refs/heads/*", "refs/heads/[", "refs/heads/a\\b",
		"refs/heads/\x7f", "refs/heads/\x01", "refs/heads/-x", "refs/tags/-x", "refs/heads/a/-x",
		"refs/heads/a-/x",
		"refs/heads/\xff", "refs/heads/\u540d", "refs/heads/" + strings.Repeat("a", 40),
		"refs/heads/" + strings.Repeat("a", 40) + "/x",
		"refs/heads/" + strings.Repeat("A", 40), "refs/heads/" + long, "refs/heads/" + long + "x",
		"refs/" + strings.Repeat("ab/", 400) + "x",
		"@", "refs/heads/lock", "refs/heads/.lock", "refs/a"}
}

func TestCheckRefName(t *testing.T) {
	t.Parallel()
	for _, name := range refNameSeeds() {
		checkAgainstGit(t, name)
	}
}

func FuzzCheckRefName(f *testing.F) {
	for _, name := range refNameSeeds() {
		f.Add(name)
	}
	f.Fuzz(checkAgainstGit)
}
