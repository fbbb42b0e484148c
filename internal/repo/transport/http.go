package transport

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// WithGit returns a web.Handler of a git route (decision 49). Anonymous
// callers get 401 unless a public repository answers: git sends credentials only
// after one, so absent and invisible look the same. role
// decides by the request, since info/refs serves fetch and push. To push, one
// of the caller's maintainerBranches will do: the push is held to them.
func (s *Service) WithGit(role func(*http.Request) account.Role, h repo.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		caller := account.CallerFrom(r.Context())
		need := role(r)
		if caller == nil && need > account.Pull {
			return errs.New(errs.Unauthenticated, "Authentication required: use a token as password.")
		}
		a, err := s.FindRepo(r.Context(), caller, web.Param(r, "owner"), web.Param(r, "repo"))
		switch {
		case errs.Is(err, errs.NotFound) && caller == nil:
			return errs.New(errs.Unauthenticated, "Authentication required: use a token as password.")
		case err != nil:
			return err
		case a.Moved:
			return repo.Redirect(w, r, a.Access.Repo)
		}
		if err := s.Check(r.Context(), &a.Access, need); err != nil {
			return err
		}
		err = h(w, r, &a.Access)
		if err != nil && r.Method == http.MethodPost {
			io.CopyN(io.Discard, r.Body, maxRefusedRequest)
		}
		return err
	}
}

// FindRepo is Find for an address of git's, where NAME may end in .git. Error: 404, in the same words for
// what is not there and what the caller may not see.
func (s *Service) FindRepo(
	ctx context.Context, caller *account.Caller, owner, name string,
) (repo.Found, error) {
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".git") {
		name = name[:len(name)-4]
	}
	a, err := s.repos.Find(ctx, caller, owner, name)
	if errs.Is(err, errs.NotFound) {
		err = errs.New(errs.NotFound, "Repository not found.")
	}
	return a, err
}

// Check checks that the caller may fetch, which takes Pull, or push: for that one of the caller's
// maintainerBranches will do. Errors: 403, 507.
func (s *Service) Check(ctx context.Context, a *repo.Access, need account.Role) error {
	if need <= account.Pull {
		return a.TokenLets(false)
	}
	if !a.MayChange() {
		return a.Caller.Insufficient(scope.PublicRepo)
	}
	if a.Archived {
		return repo.ErrArchived()
	}
	if a.MirrorURL != "" {
		return repo.ErrMirror()
	}
	if a.Role < need {
		branches, err := s.maintainerBranchesNow(ctx, a)
		if err != nil {
			return err
		}
		if len(branches) == 0 {
			return errs.Newf(errs.Forbidden, "You may read %s but not push to it: ask for push access.",
				a.FullName())
		}
	}
	return s.repos.Room.Check()
}

// maxRefusedRequest is how much of a refused request is read to its end, in
// bytes, so that git hears why instead of seeing a broken connection.
const maxRefusedRequest = 64 << 20

// Roles of the git routes: fetching for git-upload-pack, pushing for
// git-receive-pack, serviceRole for info/refs, which names the service.
func fetching(*http.Request) account.Role { return account.Pull }

// pushing is the role of git-receive-pack.
func pushing(*http.Request) account.Role { return account.Push }

// serviceRole is the role of info/refs.
func serviceRole(r *http.Request) account.Role {
	if r.URL.Query().Get("service") == "git-receive-pack" {
		return account.Push
	}
	return account.Pull
}

// unpack returns the body of a git request, decompressed (decision 53). Errors: 400,
// 415.
func unpack(r *http.Request) (io.Reader, error) {
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		return r.Body, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r.Body)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // not even a header
		}
		if err != nil {
			return nil, damagedGzip(err)
		}
		return unzipped{z}, nil
	default:
		return nil, errs.New(errs.UnsupportedMedia,
			"the request's Content-Encoding is not supported: use gzip")
	}
}

// unzipped distinguishes bad compression by the client from a broken connection.
type unzipped struct{ z *gzip.Reader }

func (u unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	return n, damagedGzip(err)
}

// damagedGzip is Malformed where the compression is at fault, else err.
func damagedGzip(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return errs.Wrap(errs.Malformed, "the request's gzip compression is damaged", err)
	}
	return err
}

// prompt sends each write on at once: git shows progress, and a pack has no use for
// our buffers.
type prompt struct {
	http.ResponseWriter
	wait time.Duration // before the first write
}

// afterRequest is how long the answer to a proxy waits at least. A proxy made of Go's
// ReverseProxy sends the last byte of a request, and then reads on to find its end. If the
// answer begins in between, that proxy closes the connection in the middle of the answer.
const afterRequest = 20 * time.Millisecond

// answerTo returns the prompt of a request that was read to its end.
func answerTo(w http.ResponseWriter, r *http.Request) *prompt {
	p := &prompt{ResponseWriter: w}
	for _, name := range [...]string{"X-Forwarded-For", "Forwarded", "Via"} {
		if len(r.Header[name]) > 0 && r.ProtoMajor < 2 {
			p.wait = afterRequest
		}
	}
	return p
}

func (w *prompt) Write(p []byte) (int, error) {
	if w.wait > 0 {
		time.Sleep(w.wait)
		w.wait = 0
	}
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(w.ResponseWriter).Flush()
	}
	return n, err
}

// noCache forbids proxies to cache an answer of git.
func noCache(h http.Header) {
	h.Set("Cache-Control", "no-cache, max-age=0, must-revalidate")
	h.Set("Expires", "Fri, 01 Jan 1980 00:00:00 GMT")
	h.Set("Pragma", "no-cache")
}
