package process

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// Command is a git command as a value. build checks it against the table, so
// that a client's bytes can become neither an option nor a path.
type Command struct {
	Sub   string
	Flags []string     // each from the table; a value stands behind "="
	Revs  []object.SHA // revisions, by full SHA only
	Path  string       // one absolute path of ours, where the sub-command takes it

	Not       []object.SHA // revisions whose histories are left out
	Symmetric bool         // the two revs stand for A...B
	Pathspec  string       // one path within a tree, behind "--"; see literalPaths
	Paths     []string     // several of them, instead

	Remote   string   // the address of another server's repository, by HTTP or HTTPS; or fd::3, for Task.Socket
	Refspecs []string // of a push to it: [+SHA]:REF
}

// rule says what a sub-command may take.
type rule struct {
	flags        []string // exact, or a prefix that ends in "="
	revs         bool
	path         bool
	pathspec     bool
	endOfOptions bool // "--end-of-options" before the operands
	remote       bool
	refspecs     bool
}

// ruleOf is the table of all git commands that this package runs.
func ruleOf(sub string) (rule, bool) {
	switch sub {
	case "cat-file":
		return rule{flags: []string{"--batch-command", "--batch-check", "--buffer"}}, true
	case "ls-tree":
		return rule{flags: []string{"-r", "-t", "-l", "-z", "--full-tree"}, revs: true, endOfOptions: true},
			true
	case "index-pack":
		return rule{flags: []string{"--stdin", "--fix-thin", "--strict=", "--max-input-size=",
			"--check-self-contained-and-connected", "--show-resolving-progress",
			"--rev-index", "--no-rev-index", "--verify"}, path: true}, true
	case "rev-list":
		return rule{flags: []string{"--objects", "--stdin", "--quiet", "--max-count=", "--max-age=",
			"--min-age=", "--author=",
			"--committer=", "--fixed-strings", "--regexp-ignore-case", "--all-match", "--topo-order",
			"--reverse", "--left-right",
			"--parents", "--no-merges", "--no-object-names", "--in-commit-order",
			"--ignore-missing", "--missing=allow-any"},
			revs: true, pathspec: true}, true
	case "log":
		return rule{flags: []string{"--format=", "--name-only", "-z", "--no-renames", "--no-color",
			"--no-merges", "--max-count=", "--numstat", "--no-ext-diff", "--no-textconv"},
			revs:         true,
			pathspec:     true,
			endOfOptions: true}, true
	case "blame": // which does not know --end-of-options; revisions are SHAs, and the path stands behind "--"
		return rule{flags: []string{"--porcelain", "--root", "--encoding="}, revs: true, pathspec: true}, true
	case "rev-parse":
		return rule{flags: []string{"--disambiguate="}}, true
	case "merge-base":
		return rule{revs: true}, true
	case "merge-tree":
		return rule{flags: []string{"--write-tree", "-z", "--name-only", "--no-messages"}, revs: true,
			endOfOptions: true}, true
	case "diff-tree":
		return rule{flags: []string{"-r", "-p", "--raw", "--numstat", "--find-renames", "--find-renames=100%",
			"-l1000", "--no-ext-diff", "--no-textconv", "--no-color"}, revs: true, pathspec: true}, true
	case "format-patch":
		return rule{flags: []string{"--stdout", "--root", "--no-ext-diff", "--no-color"}, revs: true}, true
	case "upload-pack":
		return rule{flags: []string{"--strict", "--stateless-rpc", "--timeout="}, path: true,
			endOfOptions: true}, true
	case "pack-objects":
		return rule{flags: []string{"-q", "--stdin-packs", "--threads=", "--delta-base-offset", "--window=0",
			"--all", "--stdout", "--revs", "--thin", "--local"},
			path: true, endOfOptions: true}, true
	case "for-each-ref":
		return rule{flags: []string{"--format="}}, true
	case "shortlog":
		return rule{flags: []string{"-s", "-n", "-e", "--no-merges"}, revs: true, endOfOptions: true}, true
	case "archive":
		return rule{flags: []string{"--format=", "--prefix="}, revs: true, endOfOptions: true}, true
	case "fsck":
		return rule{flags: []string{"--full", "--no-dangling", "--no-reflogs", "--no-progress"}}, true
	case "ls-remote": // by package git's remote.go alone, which pins the address
		return rule{flags: []string{"--symref"}, remote: true, endOfOptions: true}, true
	case "fetch":
		return rule{flags: []string{"--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
			"--no-recurse-submodules", "--stdin"}, remote: true, endOfOptions: true}, true
	case "push":
		return rule{flags: []string{"--quiet", "--porcelain", "--no-verify"}, remote: true, refspecs: true,
			endOfOptions: true}, true
	case "commit-graph":
		return rule{flags: []string{"write", "--no-progress", "--changed-paths"}}, true
	}
	return rule{}, false
}

// allows reports whether flag is in the table: as it stands, or as NAME=VALUE.
func (r rule) allows(flag string) bool {
	return slices.ContainsFunc(r.flags, func(f string) bool {
		if strings.HasSuffix(f, "=") {
			return len(flag) > len(f) && strings.HasPrefix(flag, f)
		}
		return flag == f
	})
}

// build returns the arguments after "git". An error is a defect in the caller.
func (c Command) build() ([]string, error) {
	r, ok := ruleOf(c.Sub)
	if !ok {
		return nil, fmt.Errorf("git: sub-command %q is not in the table", c.Sub)
	}
	args := make([]string, 0, len(c.Flags)+len(c.Revs)+4)
	args = append(args, c.Sub)
	for _, f := range c.Flags {
		if !r.allows(f) || strings.ContainsRune(f, 0) {
			return nil, fmt.Errorf("git %s: option %q is not in the table", c.Sub, f)
		}
		args = append(args, f)
	}
	if len(c.Revs)+len(c.Not) > 0 && !r.revs || c.Path != "" && !r.path ||
		(c.Pathspec != "" || len(c.Paths) > 0) && !r.pathspec {
		return nil, fmt.Errorf("git %s: unexpected revision or path", c.Sub)
	}
	if err := c.checkRemote(r); err != nil {
		return nil, err
	}
	if r.endOfOptions {
		args = append(args, "--end-of-options")
	}
	if c.Remote != "" {
		return append(append(args, c.Remote), c.Refspecs...), nil
	}
	revs, err := c.revisions()
	if err != nil {
		return nil, err
	}
	args = append(args, revs...)
	if c.Pathspec != "" {
		args = append(args, "--", c.Pathspec)
	} else if len(c.Paths) > 0 {
		args = append(append(args, "--"), c.Paths...)
	}
	if c.Path != "" {
		if !strings.HasPrefix(c.Path, "/") {
			return nil, fmt.Errorf("git %s: path %q is not absolute", c.Sub, c.Path)
		}
		args = append(args, c.Path)
	}
	return args, nil
}

// revisions returns the operands that name commits.
func (c Command) revisions() ([]string, error) {
	var args []string
	for i, rev := range slices.Concat(c.Revs, c.Not) {
		if !rev.Valid() {
			return nil, fmt.Errorf("git %s: %q is not a SHA", c.Sub, errs.Clip(string(rev)))
		}
		if i >= len(c.Revs) {
			rev = "^" + rev
		}
		args = append(args, string(rev))
	}
	if c.Symmetric {
		if len(args) != 2 {
			return nil, fmt.Errorf("git %s: a symmetric difference is of two revisions", c.Sub)
		}
		args = []string{args[0] + "..." + args[1]}
	}
	return args, nil
}

// refspec is [+SHA]:REF. CheckRefName of package git holds the name to more.
var refspec = regexp.MustCompile(`^(\+[0-9a-f]{40})?:refs/(heads|tags|notes)/[^\x00-\x20\x7f~^:?*\[\\]+$`)

// checkRemote checks the address of a remote and the refspecs for it.
func (c Command) checkRemote(r rule) error {
	if c.Remote == "" && (r.remote || len(c.Refspecs) > 0) || c.Remote != "" && !r.remote ||
		len(c.Refspecs) > 0 && !r.refspecs {
		return fmt.Errorf("git %s: unexpected or missing remote or refspec", c.Sub)
	}
	address := strings.HasPrefix(c.Remote, "https://") || strings.HasPrefix(c.Remote, "http://") || c.Remote == "fd::3"
	if c.Remote != "" && (!address || strings.ContainsFunc(c.Remote, func(c rune) bool { return c <= ' ' || c == 0x7f })) {
		return fmt.Errorf("git %s: %q is no address of a remote", c.Sub, errs.Clip(c.Remote))
	}
	for _, spec := range c.Refspecs {
		if !refspec.MatchString(spec) {
			return fmt.Errorf("git %s: %q is not a refspec", c.Sub, errs.Clip(spec))
		}
	}
	return nil
}
