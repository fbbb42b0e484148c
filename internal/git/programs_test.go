package git_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/git/serve"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// fakes creates a git on whose path all other programs only note that they ran. It
// gives that git and the file of the notes.
func fakes(t *testing.T) (binary, notes string) {
	t.Helper()
	dir := t.TempDir()
	notes = filepath.Join(dir, "notes")
	fake := "echo \"$0 $*\" >> " + notes + "\ncat\n"
	for _, name := range []string{
		"gpg", "gpgsm", "ssh", "ssh-keygen", "less", "vi", "pager", "editor", "sh-driver", "gzip", "iconv",
	} {
		testkit.Program(t, filepath.Join(dir, name), fake)
	}
	binary = filepath.Join(dir, "git")
	script := "PATH=" + dir + ":$PATH\nexport PATH\n" +
		"exec $(PATH=${PATH#*:} command -v git) \"$@\"\n"
	testkit.Program(t, binary, script)
	return binary, notes
}

// hostile is a repository whose second commit changes a file that attributes give
// to every kind of program, and whose configuration has all of them.
func hostile(t *testing.T, notes string) string {
	t.Helper()
	dir := gittest.Bare(t)
	attributes := "* export-subst diff=evil merge=evil filter=evil ident\n" +
		"wide working-tree-encoding=UTF-32 text eol=crlf\nhidden export-ignore\n"
	files := map[string]string{
		".gitattributes":     attributes,
		"sub/.gitattributes": attributes,
		"hidden":             "hidden\n",
		"wide":               "wide\n",
		"f":                  "$Format:%B%G?%GG%(trailers)$\n$Id$\n",
		"sub/.x":             "$Format:%B$\n$Id$\n",
	}
	var b strings.Builder
	signature := "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
	for i, branch := range []string{"main", "main", "other"} {
		message := strings.Repeat("long message\n", 1000)
		fmt.Fprintf(&b, "commit refs/heads/%s\nmark :%d\ncommitter %s %d +0000\n",
			branch, i+1, gittest.Author, gittest.Start+i)
		fmt.Fprintf(&b, "data %d\n%s", len(message), message)
		if i == 2 {
			b.WriteString("from :1\n")
		}
		for name, text := range files {
			text = strings.ReplaceAll(text, "hidden\n", fmt.Sprintf("hidden %d\n", i))
			if name == "f" {
				text = strings.Repeat("same\n", 10) + text + fmt.Sprintf("%d\n", i)
			}
			b.WriteString(gittest.FileLines(name, text))
		}
	}
	gittest.Import(t, dir, strings.NewReader(b.String()))
	// A signed commit, for gpg.
	commit := string(gittest.Pipe(t, dir, nil, "cat-file", "commit", "main"))
	commit = strings.Replace(commit, "\n\n", "\n"+signature+"\n", 1)
	signed := gittest.Object(t, dir, git.TypeCommit, commit)
	gittest.Run(t, dir, "update-ref", "refs/heads/main", string(signed))
	evil := filepath.Join(filepath.Dir(notes), "sh-driver")
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
		"core.alternateRefsCommand", "core.hooksPath", "sequence.editor", "credential.helper",
		"gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program",
		"gpg.ssh.defaultKeyCommand", "diff.external", "interactive.diffFilter", "uploadpack.packObjectsHook",
	} {
		gittest.Run(t, dir, "config", key, evil)
	}
	return dir
}

// git starts no other program, whatever a push or a repository's configuration names.
func TestNoOtherProgramRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	t.Parallel()
	binary, notes := fakes(t)
	dir := hostile(t, notes)
	g := gittest.New(t, git.Options{Binary: binary})
	r := g.Repository(dir)
	from, to := gittest.Resolve(t, dir, "main~1"), gittest.Resolve(t, dir, "main")
	other := gittest.Resolve(t, dir, "other")
	for _, f := range []serve.ArchiveFormat{serve.Zip, serve.TarGz} {
		if err := serve.Archive(t.Context(), r, io.Discard, to, f, "x/"); err != nil {
			t.Error(err)
		}
	}
	if err := diff.Write(t.Context(), io.Discard, r, from, to); err != nil {
		t.Error(err)
	}
	if err := diff.WritePatches(t.Context(), io.Discard, r, to, from); err != nil {
		t.Error(err)
	}
	options := diff.Options{Max: 10, Lines: 100, Bytes: 10000, Sum: 10000}
	if _, err := diff.Compare(t.Context(), r, from, to, options); err != nil {
		t.Error(err)
	}
	if _, err := r.MergeTree(t.Context(), to, other); err != nil {
		t.Error(err)
	}
	copied := g.Repository(t.TempDir() + "/copy.git")
	if err := git.CopyObjects(t.Context(), r, copied, to, nil, admitAll); err != nil {
		t.Error(err)
	}
	if err := r.Pack(t.Context()); err != nil {
		t.Error(err)
	}
	s := startServer(t, dir)
	s.point("refs/heads/main", to)
	gittest.Run(t, t.TempDir(), "clone", "-q", "--bare", "--depth=1", s.url, "clone.git")
	if ran, err := os.ReadFile(notes); err == nil {
		t.Errorf("ran: %s", ran)
	}
}

// An archive has the bytes that were pushed, with nothing substituted. Files that the
// tree's attributes keep out of archives are left out.
func TestArchivesAreAsPushed(t *testing.T) {
	t.Parallel()
	dir := hostile(t, filepath.Join(t.TempDir(), "notes"))
	r := gittest.New(t, git.Options{}).Repository(dir)
	var b bytes.Buffer
	testkit.NoError(t, serve.Archive(t.Context(), r, &b, gittest.Resolve(t, dir, "main"), serve.Zip, "x/"))
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	testkit.NoError(t, err)
	files := 0
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		files++
		in, err := f.Open()
		testkit.NoError(t, err)
		got, _ := io.ReadAll(in)
		path := strings.TrimPrefix(f.Name, "x/")
		if want := gittest.Pipe(t, dir, nil, "cat-file", "blob", "main:"+path); !bytes.Equal(got, want) {
			t.Errorf("%s is %q and was %q", f.Name, got, want)
		}
	}
	if files != 5 {
		t.Errorf("%d files", files)
	}
}

// A partial clone may leave out blobs and trees. Patterns and combinations with them
// are refused in git's words: git would match each pattern with each path.
func TestFilters(t *testing.T) {
	t.Parallel()
	dir := gittest.Repository(t, 3, 20)
	s := startServer(t, dir)
	s.point("refs/heads/main", gittest.Resolve(t, dir, "main"))
	for filter, ok := range map[string]bool{
		"blob:none": true, "blob:limit=1k": true, "tree:0": true, "tree:1000000": true,
		"sparse:oid=main:dir1": false, "object:type=tree": false,
		"combine:blob:none+tree:1": false, "combine:tree:1+sparse:oid=main:dir1": false,
	} {
		_, said, err := gittest.Try(t, t.TempDir(), nil,
			"clone", "-q", "--bare", "--filter="+filter, s.url, "clone.git")
		if (err == nil) != ok || !ok && !strings.Contains(string(said), "not supported") {
			t.Errorf("%s: %v, %s", filter, err, said)
		}
	}
}

// A tree bomb may be stored from before there were bounds. Its archive ends, and git
// takes no more memory than its cage.
func TestArchiveOfTreeBomb(t *testing.T) {
	onLinux(t)
	t.Parallel()
	r := gittest.New(t, git.Options{Memory: 256 << 20}).Repository(t.TempDir() + "/r.git")
	blob := entry{kind: 3, contents: "x"}
	objects := []entry{blob, treeOf(t, "100644", "f", blob.sha())}
	for range 10 {
		objects = append(objects, tenfold(t, objects[len(objects)-1].sha()))
	}
	commit := commitOf(objects[len(objects)-1].sha())
	store(t, r, append(objects, commit)...)
	var out counter
	peak := peakOf(r.Dir(), func() {
		if err := serve.Archive(t.Context(), r, &out, commit.sha(), serve.TarGz, "x/"); err == nil {
			t.Error("ten thousand million files were packed")
		}
	})
	if peak > 32<<20+slack {
		t.Errorf("git took %d bytes", peak)
	}
}
