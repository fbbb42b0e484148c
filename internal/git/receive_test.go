package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// push receives and keeps a pack whose tips become new refs.
func push(t testing.TB, r *git.Repository, pack []byte, have []git.SHA, tips ...git.SHA) {
	t.Helper()
	q, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(pack), Tips: have,
		Commands: creates(tips...)})
	testkit.NoError(t, err)
	testkit.NoError(t, errors.Join(q.Keep(t.Context()), q.Discard()))
}

// receive pushes objects of which one is the new tip of a branch.
func receive(t testing.TB, r *git.Repository, tip git.SHA, pack []byte) (*git.Quarantine, error) {
	return r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(pack), Commands: creates(tip)})
}

// importFile creates a commit of one file the tip of main.
func importFile(t testing.TB, dir, name, contents string) {
	t.Helper()
	stream := gittest.CommitLine("main", 0, "c") + gittest.FileLines(name, contents)
	gittest.Import(t, dir, strings.NewReader(stream))
}

func creates(tips ...git.SHA) []wire.Command {
	var commands []wire.Command
	for i, tip := range tips {
		commands = append(commands, wire.Command{Name: fmt.Sprintf("refs/heads/b%d", i),
			Old: git.ZeroSHA, New: tip})
	}
	return commands
}

// What was pushed is there, also for a reader that looked before; what is not
// kept yet is not.
func TestPushThenRead(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	source := gittest.Repository(t, 60, 40)
	first, last := gittest.Run(t, source, "rev-parse", "main~30"), gittest.Run(t, source, "rev-parse", "main")
	r := g.Repository(filepath.Join(t.TempDir(), "a:b \"c\\d", "1.git")) // wherever the data directory is
	if _, err := r.Info(t.Context(), git.SHA(last)); !errs.Is(err, errs.NotFound) {
		t.Fatalf("without a directory: %v", err)
	}
	push(t, r, packOf(t, source, []string{first}, nil), nil, git.SHA(first))
	for range 3 { // these processes stay
		if _, err := r.Info(t.Context(), git.SHA(first)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Info(t.Context(), git.SHA(last)); !errs.Is(err, errs.NotFound) {
			t.Fatal(err)
		}
	}
	q, err := r.Receive(t.Context(), git.ReceiveOptions{Tips: []git.SHA{git.SHA(first)},
		Commands: creates(git.SHA(last)),
		Pack:     bytes.NewReader(packOf(t, source, []string{last}, []string{first}))})
	testkit.NoError(t, err)
	if _, err := r.Info(t.Context(), git.SHA(last)); !errs.Is(err, errs.NotFound) {
		t.Errorf("quarantined objects are visible: %v", err)
	}
	object, peeled, err := q.Peeled(git.SHA(last))
	if err != nil || object.Type != git.TypeCommit || peeled != object {
		t.Errorf("the tip is %v, %v, %v", object, peeled, err)
	}
	testkit.NoError(t, errors.Join(q.Keep(t.Context()), q.Discard(), q.Discard()))
	if o, err := r.Info(t.Context(), git.SHA(last)); err != nil || o.Type != git.TypeCommit {
		t.Errorf("after the push: %v, %v", o, err)
	}
	gittest.Run(t, r.Dir(), "fsck", "--strict", "--full", last)
	for _, name := range files(t, r) {
		if strings.Contains(name, "incoming-") {
			t.Errorf("%s is left", name)
		}
	}
}

// Annotated tags, tags of tags, trees and blobs may all be pushed.
func TestPushPeelsTags(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	blob := entry{kind: 3, contents: "hello"}
	tree := treeOf(t, "100644", "f", blob.sha())
	commit := commitOf(tree.sha())
	tag := entry{kind: 4, contents: "object " + string(commit.sha()) + "\ntype commit\ntag v1\ntagger " +
		gittest.Author + " 1300000000 +0000\n\nx\n"}
	outer := entry{kind: 4, contents: "object " + string(tag.sha()) + "\ntype tag\ntag v2\ntagger " +
		gittest.Author + " 1300000000 +0000\n\nx\n"}
	r := g.Repository(t.TempDir() + "/r.git")
	pack := makePack(t, 0, blob, tree, commit, tag, outer)
	q, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(pack),
		Commands: creates(outer.sha(), tag.sha(), tree.sha())})
	testkit.NoError(t, err)
	defer q.Discard()
	for tip, want := range map[git.SHA]git.SHA{outer.sha(): commit.sha(), tag.sha(): commit.sha(),
		tree.sha(): tree.sha()} {
		if object, peeled, err := q.Peeled(tip); err != nil || object.SHA != tip || peeled.SHA != want {
			t.Errorf("%s: %v, %v, %v", tip, object, peeled, err)
		}
	}
	if _, _, err := q.Peeled(blob.sha()); !errs.Is(err, errs.NotFound) {
		t.Errorf("what is no tip: %v", err)
	}
	testkit.NoError(t, q.Keep(t.Context()))
	if got, err := r.PeelToTree(t.Context(), outer.sha()); err != nil || got != tree.sha() {
		t.Errorf("PeelToTree: %v, %v", got, err)
	}
	if _, err := r.PeelToTree(t.Context(), blob.sha()); !errs.Is(err, errs.Invalid) {
		t.Errorf("PeelToTree of a blob: %v", err)
	}
}

// Branches of what is there already, and deletions, need no objects.
func TestPushWithoutObjects(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	source := gittest.Repository(t, 5, 5)
	tip, old := gittest.Resolve(t, source, "main"), gittest.Resolve(t, source, "main~3")
	r := g.Repository(t.TempDir() + "/r.git")
	push(t, r, packOf(t, source, []string{"main"}, nil), nil, tip)
	before := files(t, r)
	empty := makePack(t, 0)
	push(t, r, empty, []git.SHA{tip}, tip) // a second branch
	push(t, r, empty, []git.SHA{tip}, old) // a branch of an old commit
	// the same, nothing known to be whole
	push(t, r, empty, nil, old)
	push(t, r, packOf(t, source, []string{"main"}, nil), []git.SHA{tip}, tip) // all of it again
	q, err := r.Receive(t.Context(),
		git.ReceiveOptions{Commands: []wire.Command{{Name: "refs/heads/b0", Old: tip, New: git.ZeroSHA}}})
	if err != nil || errors.Join(q.Keep(t.Context()), q.Discard()) != nil {
		t.Error(err)
	}
	if after := files(t, r); len(after) != len(before) {
		t.Errorf("files %q became %q", before, after)
	}
	none := git.SHA(strings.Repeat("12", 20))
	if _, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(empty),
		Commands: creates(none)}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a branch of nothing: %v", err)
	}
	damaged := append([]byte{}, empty...)
	damaged[len(damaged)-1]++
	if _, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(damaged),
		Commands: creates(tip)}); !errs.Is(err, errs.Invalid) {
		t.Errorf("a damaged empty pack: %v", err)
	}
}

// A refused push must not cost the server memory or disk, nor leave objects.
func TestRefusedPacks(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{MaxPackObjects: 1000, MaxPackBytes: 1 << 20})
	blob := entry{kind: 3, contents: "hello"}
	tree := treeOf(t, "100644", "f", blob.sha())
	commit := commitOf(tree.sha())
	good := makePack(t, 0, blob, tree, commit)
	wrongSum := append([]byte{}, good...)
	wrongSum[len(wrongSum)-3] ^= 1
	flipped := append([]byte{}, good...)
	flipped[30] ^= 0x10
	noise := strings.Repeat("x", 100)
	tip := []git.SHA{commit.sha()}
	huge := entry{kind: 2, size: 1 << 42, contents: tree.contents}
	// A delta of few bytes that makes gigabytes: copies of one base.
	delta := "\x05\x80\x80\x80\x80\x20" + strings.Repeat("\x90\x05", 1000)
	for name, c := range map[string]struct {
		pack []byte
		tips []git.SHA
		kind errs.Kind
	}{
		"nothing":            {nil, tip, errs.Invalid},
		"half a header":      {good[:7], tip, errs.Invalid},
		"no pack":            {[]byte(noise), tip, errs.Invalid},
		"a future version":   {[]byte("PACK\x00\x00\x00\x09\x00\x00\x00\x01" + noise), tip, errs.Invalid},
		"truncated":          {good[:len(good)-30], tip, errs.Invalid},
		"without checksum":   {good[:len(good)-20], tip, errs.Invalid},
		"wrong checksum":     {wrongSum, tip, errs.Invalid},
		"a flipped bit":      {flipped, tip, errs.Invalid},
		"fewer than claimed": {makePack(t, 900, blob, tree, commit), tip, errs.Invalid},
		"too many claimed":   {makePack(t, 1001, blob, tree, commit), tip, errs.TooLarge},
		"too many bytes":     {append(good[:len(good):len(good)], make([]byte, 2<<20)...), tip, errs.TooLarge},
		"no blob":            {makePack(t, 0, tree, commit), tip, errs.Invalid},
		"no tree":            {makePack(t, 0, blob, commit), tip, errs.Invalid},
		"no parent":          {makePack(t, 0, blob, tree, commitOf(tree.sha(), tree.sha()[:39]+"0")), []git.SHA{commitOf(tree.sha(), tree.sha()[:39]+"0").sha()}, errs.Invalid},
		"a tree as parent":   {makePack(t, 0, blob, tree, commitOf(tree.sha(), tree.sha())), []git.SHA{commitOf(tree.sha(), tree.sha()).sha()}, errs.Invalid},
		"another tip":        {good, []git.SHA{git.SHA(strings.Repeat("ab", 20))}, errs.Invalid},
		"no base":            {makePack(t, 0, entry{kind: 7, base: strings.Repeat("\x12", 20), contents: "\x05\x05\x90\x05"}), tip, errs.Invalid},
		"a huge claim":       {makePack(t, 0, blob, huge, commit), tip, errs.Invalid},
		"a huge delta":       {makePack(t, 0, blob, tree, commit, entry{kind: 7, base: hexBytes(t, blob.sha()), contents: delta}), tip, errs.Invalid},
		"an unknown type":    {makePack(t, 0, entry{kind: 5, contents: "x"}), tip, errs.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := g.Repository(t.TempDir() + "/r.git")
			q, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(c.pack),
				Commands: creates(c.tips...)})
			if !errs.Is(err, c.kind) {
				t.Errorf("got %v, %v", q, err)
			}
			nothingLeft(t, r)
			if n := processes(t, r.Dir()); n != 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

// Names that a file system takes for ".git", and other traps for people who
// clones, are refused; flaws of old histories are not.
func TestFsck(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	blob := entry{kind: 3, contents: "hello"}
	modules := entry{kind: 3, contents: "[submodule \"x\"]\n\tpath = -x\n\turl = --upload-pack=evil\n"}
	gitTree := func(mode, name string) []entry {
		tree := treeOf(t, mode, name, blob.sha())
		return []entry{blob, tree, commitOf(tree.sha())}
	}
	raw := hexBytes(t, blob.sha())
	two := entry{kind: 2, contents: "100644 f\x00" + raw + "100644 f\x00" + raw}
	unsorted := entry{kind: 2, contents: "100644 g\x00" + raw + "100644 f\x00" + raw}
	null := entry{kind: 2, contents: "100644 f\x00" + strings.Repeat("\x00", 20)}
	modulesTree := treeOf(t, "100644", ".gitmodules", modules.sha())
	plain := treeOf(t, "100644", "f", blob.sha())
	person := func(line string) []entry {
		c := entry{kind: 1, contents: "tree " + string(plain.sha()) + "\nauthor " + line + "\ncommitter " +
			line + "\n\nx\n"}
		return []entry{blob, plain, c}
	}
	padded := entry{kind: 2, contents: "0100644 f\x00" + raw}
	for name, c := range map[string]struct {
		objects []entry
		ok      bool
	}{
		".git":                  {gitTree("100644", ".git"), false},
		".GIT":                  {gitTree("100644", ".GIT"), false},
		"git~1":                 {gitTree("100644", "git~1"), false},
		"HFS":                   {gitTree("100644", ".g\u200cit"), false},
		"NTFS stream":           {gitTree("100644", ".git::$INDEX_ALLOCATION"), false},
		"NTFS backslash":        {gitTree("100644", ".git\\hooks"), false},
		"dot":                   {gitTree("100644", "."), false},
		"dot dot":               {gitTree("100644", ".."), false},
		"slash":                 {gitTree("100644", "a/b"), false},
		"linked .gitmodules":    {gitTree("120000", ".gitmodules"), false},
		"linked gitmod~1":       {gitTree("120000", "gitmod~1"), false},
		"hostile .gitmodules":   {[]entry{modules, modulesTree, commitOf(modulesTree.sha())}, false},
		"twice":                 {[]entry{blob, two, commitOf(two.sha())}, false},
		"unsorted":              {[]entry{blob, unsorted, commitOf(unsorted.sha())}, false},
		"null":                  {[]entry{null, commitOf(null.sha())}, false},
		"bad date":              {person("A <a@b> soon +0000"), false},
		"zero-padded mode":      {[]entry{blob, padded, commitOf(padded.sha())}, true},
		"bad zone":              {person("A <a@b> 1300000000 +051800"), true},
		"no space before date":  {person("A <a@b>1300000000 +0000"), true},
		"no date":               {person("A <a@b>"), true},
		"no name":               {person("<a@b> 1300000000 +0000"), true},
		"no space before email": {person("A<a@b> 1300000000 +0000"), true},
		"fine":                  {person("A <a@b> 1300000000 +0000"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := g.Repository(t.TempDir() + "/r.git")
			var progress strings.Builder
			q, err := r.Receive(t.Context(),
				git.ReceiveOptions{Pack: bytes.NewReader(makePack(t, 0, c.objects...)),
					Commands: creates(c.objects[len(c.objects)-1].sha()), Progress: &progress})
			if c.ok {
				testkit.NoError(t, err)
				defer q.Discard()
				return
			}
			if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), "fails a check: object") {
				t.Errorf("got %v", err)
			}
			if !strings.Contains(progress.String(), "error: object ") ||
				strings.Contains(progress.String(), r.Dir()) {
				t.Errorf("the client reads %q", progress.String())
			}
			nothingLeft(t, r)
		})
	}
}

// A person who presses Ctrl-C in a push leaves nothing running and nothing behind.
// While the client sends, no process waits: it would hold memory that other pushes need.
func TestCancelledPush(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	source := gittest.Repository(t, 10, 50)
	noise := make([]byte, 512<<10) // more than is held in memory
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	importFile(t, source, "noise", string(noise))
	pack := packOf(t, source, []string{"main"}, nil)
	r := g.Repository(t.TempDir() + "/r.git")
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = out.Write(pack[:len(pack)*3/4])
		if n := processes(t, r.Dir()); n != 0 {
			t.Errorf("%d processes wait for the client", n)
		}
		cancel()
		time.Sleep(50 * time.Millisecond)
		_ = out.CloseWithError(context.Canceled) // as net/http ends a body
	})
	_, err := r.Receive(ctx, git.ReceiveOptions{Pack: in,
		Commands: creates(gittest.Resolve(t, source, "main"))})
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, r)
	if n := processes(t, r.Dir()); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// A server that was killed in a push has its leavings swept, and no others.
func TestSweepQuarantines(t *testing.T) {
	t.Parallel()
	g := gittest.New(t, git.Options{})
	blob := entry{kind: 3, contents: "x"}
	r := g.Repository(t.TempDir() + "/r.git")
	if err := r.SweepQuarantines(0); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	q, err := r.Receive(t.Context(), git.ReceiveOptions{Pack: bytes.NewReader(makePack(t, 0, blob)),
		Commands: creates(blob.sha())})
	testkit.NoError(t, err)
	if err := r.SweepQuarantines(time.Hour); err != nil || len(files(t, r)) == 0 {
		t.Errorf("a push in progress was swept: %v", err)
	}
	if err := r.SweepQuarantines(-time.Second); err != nil || len(files(t, r)) != 0 {
		t.Errorf("left: %q, %v", files(t, r), err)
	}
	if err := q.Keep(t.Context()); err == nil {
		t.Error("a swept push was kept")
	}
}

func TestInitRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a/b/r.git"
	var wg sync.WaitGroup
	for range 8 {
		g := gittest.New(t, git.Options{})
		wg.Go(func() {
			r := g.Repository(dir)
			if err := r.Init(); err != nil || !r.Exists() {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := gittest.Run(t, dir, "rev-parse", "--is-bare-repository"); got != "true" {
		t.Errorf("git says %q", got)
	}
	gittest.Run(t, dir, "fsck")
}
