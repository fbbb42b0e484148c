package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// garden is a server with alice/garden, whose branch main is in the bare
// repository dir too.
func garden(t testing.TB, engine db.Engine) (s *instance, dir string) {
	t.Helper()
	s = serving(t, engine)
	s.user("alice", "bob")
	dir = gittest.Bare(t)
	add(t, dir, "main", "one")
	s.repo("alice/garden", dir)
	return s, dir
}

// packOf is a pack with these objects of dir, and nothing else.
func packOf(t testing.TB, dir string, objects ...git.SHA) []byte {
	t.Helper()
	var names strings.Builder
	for _, sha := range objects {
		names.WriteString(string(sha) + "\n")
	}
	return gittest.Pipe(t, dir, strings.NewReader(names.String()), "pack-objects", "-q", "--stdout")
}

// line is a command of a push.
func line(old, new git.SHA, name string) string { return string(old) + " " + string(new) + " " + name }

// rawPush sends a push byte by byte as alice, without git's own checks.
func (s *instance) rawPush(capabilities string, lines []string, after []byte) (*http.Response, string) {
	s.t.Helper()
	var b []byte
	for i, l := range lines {
		if i == 0 {
			l += "\x00 report-status " + capabilities
		}
		b = wire.AppendPkt(b, l)
	}
	b = append(append(b, "0000"...), after...)
	return s.do("alice", "POST", "/alice/garden.git/git-receive-pack",
		http.Header{"Content-Type": {"application/x-git-receive-pack-request"}}, bytes.NewReader(b))
}

// unchanged checks, when it is called, that nothing was written since unchanged
// was: no ref, no object, and no file of git's configuration.
func (s *instance) unchanged() func(t testing.TB) {
	s.t.Helper()
	remote := s.remote("alice", "alice/garden")
	state := func(t testing.TB) string {
		text := fmt.Sprintf("refs %v\nobjects %q\n", refs(t, remote), s.objects())
		for _, name := range []string{"hooks", "config", "config.worktree", "alternates", "attributes",
			"grafts", "shallow", "*.lock"} {
			for _, path := range s.find(name) {
				contents, _ := os.ReadFile(path)
				text += fmt.Sprintf("%s %q\n", path, contents)
			}
		}
		return text
	}
	before := state(s.t)
	return func(t testing.TB) {
		t.Helper()
		s.quiet()
		if after := state(t); after != before {
			t.Errorf("something was written. Before:\n%s\nafter:\n%s", before, after)
		}
	}
}

// Packs that are damaged, incomplete or made to harm people who clones. If one got
// through, every clone of the repository would fail, or run what a stranger
// wrote.
func TestHostilePacks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, dir := garden(t, engine)
		blob := gittest.Object(t, dir, git.TypeBlob, "evil")
		raw, err := hex.DecodeString(string(blob))
		testkit.NoError(t, err)
		commit := func(mode, name string) []git.SHA {
			tree := gittest.Object(t, dir, git.TypeTree, mode+" "+name+"\x00"+string(raw))
			return []git.SHA{git.SHA(gittest.Run(t, dir, "commit-tree", "-m", "x", string(tree))), tree, blob}
		}
		fine := commit("100644", "file")
		whole := packOf(t, dir, fine...)
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0x20
		counted := bytes.Clone(whole)
		copy(counted[8:], "\x7f\xff\xff\xff")
		modules := gittest.Object(t, dir, git.TypeBlob,
			"[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=touch owned\n")
		rawModules, _ := hex.DecodeString(string(modules))
		modulesTree := gittest.Object(t, dir, git.TypeTree, "100644 .gitmodules\x00"+string(rawModules))
		modulesCommit := git.SHA(gittest.Run(t, dir, "commit-tree", "-m", "x", string(modulesTree)))
		check := s.unchanged()
		for name, c := range map[string]struct {
			pack   []byte
			tip    git.SHA
			reason string
		}{
			"damaged":   {flipped, fine[0], "unpack "},
			"cut short": {whole[:len(whole)-25], fine[0], "unpack the pack is"},
			"no pack":   {[]byte(strings.Repeat("<html>", 20)), fine[0], "unpack what was sent is not a pack"},
			"nothing":   {nil, fine[0], "unpack the pack is truncated"},
			"endless":   {counted, fine[0], "unpack the pack has 2147483647 objects"},
			"without its blob": {packOf(t, dir, fine[:2]...), fine[0],
				"unpack the pack is damaged, fails a check, or is missing"},
			"without its tree": {packOf(t, dir, fine[0], blob), fine[0],
				"unpack the pack is damaged, fails a check, or is missing"},
			"another tip": {whole, git.SHA(strings.Repeat("ab", 20)), "unpack missing necessary objects"},
			"a link as modules": {packOf(t, dir, commit("120000", ".gitmodules")...),
				commit("120000", ".gitmodules")[0], "gitmodulesSymlink"},
			"an option as url": {packOf(t, dir, modules, modulesTree, modulesCommit), modulesCommit,
				"gitmodulesUrl"},
			".git": {packOf(t, dir, commit("100644", ".git")...), commit("100644", ".git")[0], "hasDotgit"},
			".GIT": {packOf(t, dir, commit("100644", ".GIT")...), commit("100644", ".GIT")[0], "hasDotgit"},
			"git~1": {packOf(t, dir, commit("100644", "git~1")...), commit("100644", "git~1")[0],
				"hasDotgit"},
			"HFS": {packOf(t, dir, commit("100644", ".g\u200cit")...), commit("100644", ".g\u200cit")[0],
				"hasDotgit"},
			"a path upwards": {packOf(t, dir, commit("100644", "..")...), commit("100644", "..")[0],
				"hasDotdot"},
			"a path in one name": {packOf(t, dir, commit("100644", "a/b")...), commit("100644", "a/b")[0],
				"fullPathname"},
		} {
			res, body := s.rawPush("", []string{line(git.ZeroSHA, c.tip, "refs/heads/evil")}, c.pack)
			if res.StatusCode != 200 || !strings.Contains(body, c.reason) ||
				!strings.Contains(body, "ng refs/heads/evil ") {
				t.Errorf("%s: %d %q, want the reason %q", name, res.StatusCode, body, c.reason)
			}
			if strings.Contains(body, s.data) {
				t.Errorf("%s: the answer %q shows where data are", name, body)
			}
		}
		check(t)
		// The reasons above are not those of the way of asking: a sound pack goes through.
		if _, body := s.rawPush("", []string{line(git.ZeroSHA, fine[0], "refs/heads/fine")},
			whole); !strings.Contains(body, "ok refs/heads/fine") {
			t.Errorf("a sound pack: %q", body)
		}
	})
}

// What a person reads whose client sends such a pack.
func TestHostileTreeIsExplained(t *testing.T) {
	t.Parallel()
	s, dir := garden(t, db.SQLite)
	blob := gittest.Object(t, dir, git.TypeBlob, "evil")
	raw, _ := hex.DecodeString(string(blob))
	tree := gittest.Object(t, dir, git.TypeTree, "100644 .GIT\x00"+string(raw))
	commit := gittest.Run(t, dir, "commit-tree", "-m", "x", string(tree))
	check := s.unchanged()
	r := try(t, dir, "push", s.remote("alice", "alice/garden"), commit+":refs/heads/evil")
	if r.err == nil || !strings.Contains(r.out, "remote unpack failed: ") ||
		!strings.Contains(r.out, string(tree)+": hasDotgit") ||
		!strings.Contains(r.out, "[remote rejected]") {
		t.Errorf("git says:\n%s", r.out)
	}
	check(t)
}

// Names of refs that are options, paths or lines. If one got through, a client
// could run programs on the server, or write its files.
func TestHostileRefNames(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, dir := garden(t, engine)
		tip := git.SHA(gittest.Run(t, dir, "rev-parse", "main"))
		empty := gittest.Pipe(t, dir, strings.NewReader(""), "pack-objects", "-q", "--stdout")
		check := s.unchanged()
		for _, name := range []string{
			"--upload-pack=touch owned", "-c", "-", "--exec=x", "HEAD", "main", "config", "hooks/pre-receive",
			"objects/info/alternates",
			"refs", "refs/", "refs//heads/x", "refs/heads/", "refs/heads/../../config", "refs/../config",
			"/etc/passwd",
			"refs/heads/a\nb", "refs/heads/a\n" + line(git.ZeroSHA, tip, "refs/heads/smuggled"),
			"refs/heads/a\x00b", "refs/heads/a b",
			"refs/heads/a\tb", "refs/heads/a\x7f", "refs/heads/.hidden", "refs/heads/x.lock", "refs/heads/x.",
			"refs/heads/a..b",
			"refs/heads/@{x", "refs/heads/a~1", "refs/heads/a^", "refs/heads/a:b", "refs/heads/a?",
			"refs/heads/a*", "refs/heads/a[", `refs/heads/a\b`,
			"refs/heads/\xff\xfe", "refs/heads/" + strings.Repeat("x", 256),
			"refs/heads/" + strings.Repeat("x/", 600) + "x",
			"refs/heads/" + string(tip), "refs/pull/1/head", "refs/pull/../heads/x", "refs/heads/-x",
			"refs/heads/--upload-pack=x", "refs/heads/a/-x",
		} {
			// The first command is fine, so that the name stands behind no NUL.
			res, body := s.rawPush("atomic", []string{line(tip, tip, "refs/heads/main"),
				line(git.ZeroSHA, tip, name)}, empty)
			told := res.StatusCode == 200 && strings.Contains(body, "ng refs/heads/main") &&
				!strings.Contains(body, "ok ")
			if !told && (res.StatusCode != 400 ||
				res.Header.Get("Content-Type") != "text/plain; charset=utf-8") {
				t.Errorf("%q: %d %q", name, res.StatusCode, body)
			}
		}
		check(t)
		// Names that look bad and are not, to git either.
		for _, name := range []string{
			"refs/heads/x-", "refs/heads/$(touch${IFS}owned)", "refs/heads/ünïcode", "refs/heads/;x",
		} {
			if _, body := s.rawPush("", []string{line(git.ZeroSHA, tip, name)},
				empty); !strings.Contains(body, "ok "+name) {
				t.Errorf("%q: %q", name, body)
			}
		}
		gittest.Run(t, dir, "fetch", "-q", s.remote("", "alice/garden"), "refs/*:refs/copied/*")
		if owned := s.find("owned"); len(owned) != 0 {
			t.Errorf("a client ran a program: %q", owned)
		}
	})
}

// Requests that a client of git would not send: each has a plain answer and no
// effect.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s, dir := garden(t, db.SQLite)
	tip := git.SHA(gittest.Run(t, dir, "rev-parse", "main"))
	empty := gittest.Pipe(t, dir, strings.NewReader(""), "pack-objects", "-q", "--stdout")
	check := s.unchanged()
	push := func(b []byte) []byte {
		return append(append(wire.AppendPkt(nil,
			line(git.ZeroSHA, tip, "refs/heads/x")+"\x00report-status push-options"), b...), empty...)
	}
	many := []byte{}
	for n := range 20_001 {
		many = wire.AppendPkt(many, line(git.ZeroSHA, tip, fmt.Sprintf("refs/heads/b%d", n)))
	}
	options := []byte("0000")
	for range 65 {
		options = wire.AppendPkt(options, "x")
	}
	const receive = "application/x-git-receive-pack-request"
	for name, c := range map[string]struct {
		method, path, mediaType string
		body                    []byte
		status                  int
	}{
		"dumb":            {"GET", "/alice/garden.git/info/refs", "", nil, 403},
		"another service": {"GET", "/alice/garden.git/info/refs?service=git-upload-archive", "", nil, 403},
		"an option as service": {"GET", "/alice/garden.git/info/refs?service=--upload-pack%3Dtouch+owned",
			"", nil, 403},
		"NUL in the service": {"GET", "/alice/garden.git/info/refs?service=git-upload-pack%00", "", nil, 403},
		"a newline in it":    {"GET", "/alice/garden.git/info/refs?service=git-upload-pack%0Agit-receive-pack", "", nil, 403},
		"dumb HEAD":          {"GET", "/alice/garden.git/HEAD", "", nil, 404},
		"dumb packs":         {"GET", "/alice/garden.git/objects/info/packs", "", nil, 404},
		"dumb object":        {"GET", "/alice/garden.git/objects/" + string(tip[:2]) + "/" + string(tip[2:]), "", nil, 404},
		"config":             {"GET", "/alice/garden.git/config", "", nil, 404},
		"a path upwards":     {"GET", "/alice/garden.git/../../../arbor.db", "", nil, 404},
		"a coded path upwards": {"GET", "/alice/..%2f..%2fgarden.git/info/refs?service=git-upload-pack",
			"", nil, 404},
		"NUL in the name":      {"GET", "/alice/garden%00.git/info/refs?service=git-upload-pack", "", nil, 404},
		"another method":       {"GET", "/alice/garden.git/git-receive-pack", "", nil, 405},
		"another method still": {"DELETE", "/alice/garden.git/git-upload-pack", "", nil, 405},
		"another media type":   {"POST", "/alice/garden.git/git-receive-pack", "text/plain", push(nil), 415},
		"a fetch as a push":    {"POST", "/alice/garden.git/git-receive-pack", "application/x-git-upload-pack-request", nil, 415},
		"no line":              {"POST", "/alice/garden.git/git-receive-pack", receive, []byte("zzzz"), 400},
		"a line without end":   {"POST", "/alice/garden.git/git-receive-pack", receive, []byte("fff0abc"), 400},
		"no command":           {"POST", "/alice/garden.git/git-receive-pack", receive, append(wire.AppendPkt(nil, "do as I say"), "0000"...), 400},
		"too many commands":    {"POST", "/alice/garden.git/git-receive-pack", receive, append(many, "0000"...), 413},
		"too many options":     {"POST", "/alice/garden.git/git-receive-pack", receive, push(append(options, "0000"...)), 413},
		"a large option":       {"POST", "/alice/garden.git/git-receive-pack", receive, push(append(wire.AppendPkt([]byte("0000"), strings.Repeat("x", 2000)), "0000"...)), 413},
		"NUL in an option":     {"POST", "/alice/garden.git/git-receive-pack", receive, push(append(wire.AppendPkt([]byte("0000"), "a\x00b"), "0000"...)), 400},
		"unknown fetch command": {"POST", "/alice/garden.git/git-upload-pack",
			"application/x-git-upload-pack-request",
			append(wire.AppendPkt(nil, "command=--exec=x"), "0000"...), 400},
		"an endless fetch": {"POST", "/alice/garden.git/git-upload-pack",
			"application/x-git-upload-pack-request",
			bytes.Repeat(wire.AppendPkt(nil, "command=fetch"), 32<<20/17+1000), 413},
		"an endless line of ref": {"POST", "/alice/garden.git/git-upload-pack",
			"application/x-git-upload-pack-request",
			append(wire.AppendPkt(nil, "command=ls-refs"), bytes.Repeat([]byte("0001"), 1<<20)...), 400},
	} {
		header := http.Header{"Content-Type": {c.mediaType}, "Git-Protocol": {"version=2"}}
		res, body := s.do("alice", c.method, c.path, header, bytes.NewReader(c.body))
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
			body == "" {
			t.Errorf("%s: %d %s %.200q, want %d as text", name, res.StatusCode,
				res.Header.Get("Content-Type"), body, c.status)
		}
		if c.status == 405 && res.Header.Get("Allow") == "" {
			t.Errorf("%s: no Allow", name)
		}
	}
	check(t)
}

// The header that chooses the protocol is data, however it is written.
func TestHostileProtocolHeaders(t *testing.T) {
	t.Parallel()
	s, dir := garden(t, db.SQLite)
	check := s.unchanged()
	for _, protocol := range []string{"version=2;touch owned", "version=$(touch owned)",
		"version=2:--upload-pack=touch owned", "version=99", "version=2 -c core.hooksPath=/tmp",
		strings.Repeat("version=0:", 3000) + "version=2"} {
		header := http.Header{"Git-Protocol": {protocol}}
		res, body := s.do("", "GET", "/alice/garden.git/info/refs?service=git-upload-pack", header, nil)
		if res.StatusCode != 200 || !strings.Contains(body, "# service=git-upload-pack") &&
			!strings.HasPrefix(body, "000eversion 2\n") {
			t.Errorf("Git-Protocol %.60q: %d %q", protocol, res.StatusCode, body)
		}
		// Whether git makes sense of the answer or not, no process gets the header.
		try(t, dir, "-c", "http.extraHeader=Git-Protocol: "+protocol, "fetch",
			s.remote("", "alice/garden"), "main")
	}
	if owned := append(s.find("owned"), glob(t, "owned")...); len(owned) != 0 {
		t.Errorf("a client ran a program: %q", owned)
	}
	check(t)
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	testkit.NoError(t, err)
	return found
}
