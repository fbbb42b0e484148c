package git_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// server is the least smart HTTP server that this package makes possible, its
// refs in a map where Arbor has SQL.
type server struct {
	t   testing.TB
	url string
	r   *git.Repository

	mu         sync.Mutex
	refs       map[string]git.Ref
	head       string
	generation int64
	options    []string // push options of the last push
}

func startServer(t testing.TB, dir string) *server {
	s := &server{t: t, r: gittest.New(t, git.Options{}).Repository(dir),
		refs: make(map[string]git.Ref), head: "refs/heads/main"}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL + "/r.git"
	return s
}

// point creates a ref of it name an object.
func (s *server) point(name string, sha git.SHA) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refs[name] = git.Ref{Name: name, SHA: sha}
}

func (s *server) snapshot(context.Context) (git.Refs, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := git.Refs{Head: s.head, Generation: s.generation}
	for _, ref := range s.refs {
		refs.List = append(refs.List, ref)
	}
	slices.SortFunc(refs.List, func(a, b git.Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			s.t.Error(err)
			return
		}
		body = z
	}
	protocol := wire.ProtocolVersion(req.Header.Get("Git-Protocol"))
	var err error
	switch {
	case strings.HasSuffix(req.URL.Path, "/info/refs"):
		service := req.FormValue("service")
		w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
		refs, _ := s.snapshot(req.Context())
		err = wire.WriteAdvertisement(w, service, protocol, refs)
	case strings.HasSuffix(req.URL.Path, "/git-upload-pack"):
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		err = serve.UploadPack(req.Context(), gittest.Opened(s.r),
			serve.Request{Protocol: protocol, In: body, Out: w, Refs: s.snapshot})
	case strings.HasSuffix(req.URL.Path, "/git-receive-pack"):
		w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		err = s.receive(req.Context(), body, w)
	}
	if err != nil && !errs.Is(err, errs.Canceled) {
		s.t.Errorf("%s: %v", req.URL, err)
	}
}

func (s *server) receive(ctx context.Context, body io.Reader, w http.ResponseWriter) error {
	push, pack, err := wire.ReadPushRequest(body, 1000)
	if err != nil || len(push.Commands) == 0 {
		return err
	}
	if !push.HasPack() {
		pack = nil
	}
	refs, _ := s.snapshot(ctx)
	var tips []git.SHA
	for _, ref := range refs.List {
		tips = append(tips, ref.SHA)
	}
	bands := wire.NewSideband(w, w.(http.Flusher).Flush)
	var report wire.Report
	o := git.ReceiveOptions{Pack: pack, Commands: push.Commands, Tips: tips}
	if push.Capabilities.SideBand64k {
		o.Progress = bands.Band(wire.BandProgress)
	}
	q, err := s.r.Receive(ctx, o)
	if e, ok := errors.AsType[*errs.Error](err); ok {
		report.Unpack = e.Message
	} else if err != nil {
		return err
	} else if err := q.Keep(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = push.Options
	for _, c := range push.Commands {
		result := wire.RefResult{Name: c.Name}
		old, ok := s.refs[c.Name]
		switch {
		case report.Unpack != "":
			result.Error = "unpacker error"
		case git.CheckRefName(c.Name) != nil:
			result.Error = "bad name"
		case ok && old.SHA != c.Old || !ok && c.Old != git.ZeroSHA:
			result.Error = "stale info"
		case c.IsDelete():
			delete(s.refs, c.Name)
		default:
			ref := git.Ref{Name: c.Name, SHA: c.New}
			if object, peeled, err := q.Peeled(c.New); err != nil {
				return err
			} else if object.Type == git.TypeTag {
				ref.Peeled = peeled.SHA
			}
			s.refs[c.Name] = ref
		}
		report.Refs = append(report.Refs, result)
	}
	s.generation++
	return wire.WriteReport(w, bands, push.Capabilities, report)
}

// Clone, push, fetch, tags, deletions, shallow and partial clones by a real
// git, in every protocol version.
func TestGitClient(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"0", "1", "2"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, t.TempDir()+"/server.git")
			dir := t.TempDir()
			run := func(args ...string) string {
				t.Helper()
				return gittest.Run(t, dir, append([]string{"-c", "protocol.version=" + protocol}, args...)...)
			}
			_, stderr, err := gittest.Try(t, dir, nil, "-c", "protocol.version="+protocol, "clone",
				s.url, "empty")
			if err != nil || !strings.Contains(string(stderr), "cloned an empty repository") {
				t.Errorf("cloning nothing: %v, %s", err, stderr)
			}
			source := gittest.Repository(t, 30, 20)
			gittest.Run(t, source, "tag", "-a", "-m", "x", "v1", "main~10")
			gittest.Run(t, source, "branch", "old", "main~20")
			run("--git-dir", source, "push", "-q", s.url, "old", "main", "v1")
			run("clone", "-q", s.url, "one")
			if got, want := run("-C", "one", "rev-parse", "HEAD"), gittest.Run(t, source, "rev-parse",
				"main"); got != want {
				t.Errorf("cloned %s, want %s", got, want)
			}
			run("-C", "one", "fsck", "--strict")
			if got := run("ls-remote", "--symref", s.url); !strings.Contains(got,
				"ref: refs/heads/main\tHEAD") ||
				!strings.Contains(got, "refs/tags/v1^{}") || !strings.Contains(got, "refs/heads/old") {
				t.Errorf("ls-remote: %s", got)
			}
			for i := range 3 {
				name := fmt.Sprintf("new%d", i)
				testkit.NoError(t, os.WriteFile(filepath.Join(dir, "one", name), []byte(name), 0o644))
				run("-C", "one", "add", name)
				run("-C", "one", "commit", "-q", "-m", name)
				run("-C", "one", "push", "-q", "--atomic", "origin", "HEAD:refs/heads/main",
					"HEAD:refs/heads/"+name)
			}
			run("clone", "-q", "--depth", "2", s.url, "shallow")
			if got := run("-C", "shallow", "rev-list", "--count", "HEAD"); got != "2" {
				t.Errorf("a shallow clone has %s commits", got)
			}
			// A CI job pushes from a shallow clone: all history is here already.
			run("-C", "shallow", "commit", "-q", "--allow-empty", "-m", "from CI")
			run("-C", "shallow", "push", "-q", "origin", "HEAD:refs/heads/ci")
			run("-C", "shallow", "fetch", "-q", "--unshallow")
			run("clone", "-q", "--bare", "--filter=blob:none", s.url, "partial")
			run("-C", "one", "push", "-q", "origin", ":old", ":v1")
			run("-C", "one", "fetch", "-q", "--prune")
			if got := run("-C", "one", "branch", "-r"); strings.Contains(got, "old") {
				t.Errorf("a deleted branch is still there: %s", got)
			}
			run("clone", "-q", "--mirror", s.url, "mirror")
			refs, _ := s.snapshot(t.Context())
			if got := strings.Count(run("-C", "mirror", "for-each-ref"), "\n") + 1; got != len(refs.List) {
				t.Errorf("a mirror has %d refs, the server %d", got, len(refs.List))
			}
		})
	}
}

// What is refused is said to the person who pushed, ref by ref.
func TestGitClientRefusals(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir()+"/server.git")
	source := gittest.Repository(t, 3, 3)
	_, stderr, err := gittest.Try(t, source, nil, "push", "-o", "hello", s.url, "main",
		"main:refs/heads/"+strings.Repeat("1", 40))
	if err == nil || !strings.Contains(string(stderr), "bad name") ||
		!strings.Contains(string(stderr), "new branch") {
		t.Errorf("%v: %s", err, stderr)
	}
	if len(s.options) != 1 || s.options[0] != "hello" {
		t.Errorf("push options %q", s.options)
	}
	blob := gittest.Object(t, source, git.TypeBlob, "evil")
	tree := gittest.Object(t, source, git.TypeTree, "100644 .GIT\x00"+hexBytes(t, blob))
	commit := gittest.Run(t, source, "commit-tree", "-m", "evil", string(tree))
	_, stderr, err = gittest.Try(t, source, nil, "push", s.url, commit+":refs/heads/evil")
	if err == nil || !strings.Contains(string(stderr), "hasDotgit") {
		t.Errorf("%v: %s", err, stderr)
	}
	// The client may ask for whatever it likes; it gets a plain answer.
	empty := startServer(t, t.TempDir()+"/server.git")
	for _, protocol := range []string{"0", "2"} {
		_, stderr, err = gittest.Try(t, source, nil, "-c", "protocol.version="+protocol, "fetch", s.url,
			strings.Repeat("12", 20))
		if err == nil || !strings.Contains(string(stderr), "not our ref") {
			t.Errorf("%v: %s", err, stderr)
		}
		if _, stderr, err = gittest.Try(t, source, nil, "-c", "protocol.version="+protocol, "fetch",
			empty.url, strings.Repeat("12", 20)); err == nil {
			t.Errorf("fetched from nothing: %s", stderr)
		}
	}
}

// A client that hangs up in a fetch leaves no process behind.
func TestCancelledFetch(t *testing.T) {
	t.Parallel()
	source := gittest.Repository(t, 1000, 100)
	s := startServer(t, source)
	tip := gittest.Resolve(t, source, "main")
	s.refs["refs/heads/main"] = git.Ref{Name: "refs/heads/main", SHA: tip}
	request := wire.AppendPkt(nil, "want "+string(tip)+" side-band-64k ofs-delta\n")
	request = append(append(request, "0000"...), wire.AppendPkt(nil, "done\n")...)
	gone := &hangUp{left: 1000}
	err := serve.UploadPack(t.Context(), gittest.Opened(s.r),
		serve.Request{In: bytes.NewReader(request), Out: gone, Refs: s.snapshot})
	if !errs.Is(err, errs.Canceled) {
		t.Errorf("hung up: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = serve.UploadPack(ctx, gittest.Opened(s.r), serve.Request{In: bytes.NewReader(request), Refs: s.snapshot,
		Out: writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// What upload-pack itself started was killed with it, but nobody waits for
	// that to be done.
	testkit.Eventually(t, func() bool { return processes(t, source) == 0 }, "the end of its processes")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// hangUp is a client that goes away after some bytes.
type hangUp struct{ left int }

func (h *hangUp) Write(p []byte) (int, error) {
	if h.left -= len(p); h.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}
