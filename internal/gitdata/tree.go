package gitdata

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/git/trees/{sha...}
//
// GetTree returns the entries of a tree in Git's order, with recursive=1 or true also those of all subtrees
// (decision 43). The name is the SHA of a tree or commit, a branch or a tag.
func (api *API) GetTree(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.tree(r.Context(), a, web.Param(r, "sha"))
	if err != nil {
		return err
	}
	t := &treeAnswer{api: api, access: a, sha: sha, recursive: isRecursive(r)}
	t.prefix = web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name))
	t.etag = t.newETag()
	t.key = a.ID.String() + t.etag + t.prefix
	if web.NotModified(w, r, t.etag) {
		return nil
	}
	for {
		if k, ok := api.kept.Get(objectsOf(a), t.key); ok {
			return t.send(w, r, k)
		}
		alone, err := api.filling.Enter(r.Context(), t.key)
		if err != nil {
			return err
		}
		if alone {
			return t.fill(w, r)
		}
	}
}

// isRecursive reads the parameter recursive: 0 and false are like its absence.
func isRecursive(r *http.Request) bool {
	switch strings.ToLower(web.QueryOf(r).Get("recursive")) {
	case "", "0", "false":
		return false
	default:
		return true
	}
}

// treeAnswer is the response with a tree, with everything that its bytes depend on.
type treeAnswer struct {
	api       *API
	access    *repo.Access
	sha       git.SHA
	recursive bool
	prefix    string // API address of the repository
	etag      string
	key       string // in the cache
}

// newETag returns an ETag that contains the SHA. It never changes (decision 27) unless the operator changes
// the limit of entries.
func (t *treeAnswer) newETag() string {
	tag := `W/"` + string(t.sha)
	if t.recursive {
		tag += "-r"
	}
	if t.api.maxEntries != DefaultMaxTreeEntries {
		tag += "-" + strconv.Itoa(t.api.maxEntries)
	}
	return tag + `"`
}

// send sends the cached response.
func (t *treeAnswer) send(w http.ResponseWriter, r *http.Request, k web.Kept) error {
	if !k.Large {
		return web.Bytes(w, r, http.StatusOK, k.Body, t.etag)
	}
	s := &treeStream{w: w}
	return t.write(r.Context(), s)
}

// fill renders the tree once for concurrent requests, sends it, and caches it if it is small enough.
func (t *treeAnswer) fill(w http.ResponseWriter, r *http.Request) error {
	left := false
	leave := func() {
		if !left {
			left = true
			t.api.filling.Leave(t.key)
		}
	}
	defer leave()
	s := &treeStream{w: w, keep: maxKept, full: func() {
		t.api.kept.Put(objectsOf(t.access), t.key, web.Kept{Large: true})
		leave()
	}}
	s.release = func() {}
	s.reserve = func() (err error) {
		s.release, err = admission.Memory(r.Context(), 2*s.keep)
		return err
	}
	defer func() { s.release() }()
	if err := t.write(r.Context(), s); err != nil || s.started {
		return err
	}
	body := s.whole()
	t.api.kept.Put(objectsOf(t.access), t.key, web.Kept{Body: body, ETag: t.etag})
	leave()
	s.release() // Bytes reserves what a slow client needs
	s.release = func() {}
	return web.Bytes(w, r, http.StatusOK, body, t.etag)
}

// write renders the tree to the stream.
func (t *treeAnswer) write(ctx context.Context, s *treeStream) error {
	objects, release, err := t.api.repos.Git(ctx, t.access)
	if err != nil {
		return err
	}
	defer release()
	trees, blobs := t.prefix+"/git/trees/", t.prefix+"/git/blobs/"
	head, err := opened(objectJSON{SHA: string(t.sha), URL: trees + string(t.sha)})
	if err != nil {
		return err
	}
	s.buf = append(append(make([]byte, 0, chunkSize+4096), head...), `,"tree":[`...)
	entries, paths, truncated := 0, 0, false
	err = objects.WalkTree(ctx, t.sha, t.recursive, func(e *git.WalkEntry) error {
		if paths += len(e.Path); entries == t.api.maxEntries || paths > maxPaths {
			truncated = true
			return git.ErrStop
		}
		if entries > 0 {
			s.buf = append(s.buf, ',')
		}
		entries++
		s.buf = appendEntry(s.buf, e, trees, blobs)
		if len(s.buf) >= chunkSize {
			return s.next()
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.buf = append(s.buf, `],"truncated":`...)
	s.buf = strconv.AppendBool(s.buf, truncated)
	s.buf = append(s.buf, '}')
	return s.end()
}

// appendEntry renders an entry: size only for blobs, url not for submodules. It does not use encoding/json,
// which takes fourteen times as long for up to 100,000 entries (BenchmarkAppendEntry).
func appendEntry(b []byte, e *git.WalkEntry, trees, blobs string) []byte {
	b = append(b, `{"path":`...)
	b = web.AppendString(b, e.Path)
	b = append(b, `,"mode":"`...)
	b = append(b, e.Mode.String()...)
	b = append(b, `","type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","sha":"`...)
	b = append(b, e.SHA...)
	b = append(b, '"')
	url := ""
	switch e.Type {
	case git.TypeBlob:
		b = append(b, `,"size":`...)
		b = strconv.AppendInt(b, e.Size, 10)
		url = blobs
	case git.TypeTree:
		url = trees
	}
	if url != "" {
		b = append(b, `,"url":"`...)
		b = append(b, url...)
		b = append(b, e.SHA...)
		b = append(b, '"')
	}
	return append(b, '}')
}

// chunkSize is the size in bytes of the buffer that is written at once.
const chunkSize = 128 << 10

// treeStream receives the rendered tree. It collects up to keep bytes, so that a complete response can be
// cached and errors can still be reported. Beyond that it writes to the client, and the request's memory no
// longer grows.
type treeStream struct {
	w       http.ResponseWriter
	keep    int64
	full    func()       // called when keep is exceeded
	reserve func() error // called before more than web.MaxHeld is collected
	release func()
	started bool // the response has started
	buf     []byte
	chunks  [][]byte
	size    int64
}

// next moves the full buffer on.
func (s *treeStream) next() error {
	if !s.started && s.size+int64(len(s.buf)) <= s.keep {
		if s.size <= web.MaxHeld && s.size+int64(len(s.buf)) > web.MaxHeld {
			if err := s.reserve(); err != nil {
				return err
			}
		}
		s.chunks = append(s.chunks, s.buf)
		s.size += int64(len(s.buf))
		s.buf = make([]byte, 0, chunkSize+4096)
		return nil
	}
	if !s.started {
		s.started = true
		if s.full != nil {
			s.full()
		}
		s.w.Header().Set("Content-Type", "application/json; charset=utf-8")
		s.w.WriteHeader(http.StatusOK)
		for i, c := range s.chunks {
			s.chunks[i] = nil
			if err := s.write(c); err != nil {
				return err
			}
		}
		s.chunks = nil
	}
	err := s.write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *treeStream) write(b []byte) error {
	_, err := s.w.Write(b)
	return err
}

// end writes the rest if anything was written, else whole has the complete response.
func (s *treeStream) end() error {
	if s.started || s.keep == 0 {
		return s.next()
	}
	if s.size+int64(len(s.buf)) > s.keep {
		return s.next()
	}
	return nil
}

// whole returns the collected response.
func (s *treeStream) whole() []byte {
	if len(s.chunks) == 0 {
		return s.buf
	}
	body := make([]byte, 0, s.size+int64(len(s.buf)))
	for _, c := range s.chunks {
		body = append(body, c...)
	}
	return append(body, s.buf...)
}
