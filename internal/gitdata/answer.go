package gitdata

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// basis describes what a response depends on besides its address and the repository.
type basis struct {
	refs   bool      // the refs
	people bool      // logins and avatars of authors, and whose signatures are verified
	sha    git.SHA   // of the returned object, for the ETag; may be empty
	pair   string    // two commits that are not in the address; may be empty
	named  []git.SHA // SHAs given by the client in full

	turn      int64 // with people: changes when a key expires
	elsewhere bool  // depends on another repository: not cached
}

// named returns the basis of a response about a revision. A full SHA is immutable and becomes part of the
// ETag (decision 27).
func named(revision string, people bool) basis {
	sha, err := git.ParseSHA(revision)
	if err != nil {
		return basis{refs: true, people: people}
	}
	return basis{people: people, sha: sha, named: []git.SHA{sha}}
}

// signed returns the basis of a response about a commit or tag with a full SHA, whose signature it shows.
func signed(sha git.SHA) basis { return basis{people: true, sha: sha, named: []git.SHA{sha}} }

// renderer is a value that renders itself while it is read, without encoding/json.
type renderer interface {
	render(ctx context.Context, out *web.Output) error
}

// large is a value with texts that may be large.
type large struct {
	value any
	size  int // of the texts in bytes
}

func (l large) render(_ context.Context, out *web.Output) error {
	if err := reserve(out, l.size); err != nil {
		return err
	}
	return out.JSON(l.value)
}

// reserve reserves memory for rendering a large text: a control character becomes six bytes in JSON, and
// encoding/json copies it twice.
func reserve(out *web.Output, size int) error {
	if size <= 64<<10 {
		return nil
	}
	return out.Reserve(12 * int64(size))
}

// cached sends the cached response or renders it. read may set Link and Last-Modified; it returns a
// renderer or a value for encoding/json. It checks the SHAs given by the client: responses that only some
// readers of the repository may get are not cached (decision 60).
func (api *API) cached(
	w http.ResponseWriter, r *http.Request, a *repo.Access, on basis, read func(context.Context) (any, error),
) error {
	render := func(out *web.Output) error {
		value, err := read(out.Context())
		if err != nil {
			return err
		}
		if special, ok := value.(renderer); ok {
			err = special.render(out.Context(), out)
		} else {
			err = out.JSON(value)
		}
		if err == nil && !out.Begun() {
			out.ETag = etagOf(on, out.Buf)
		}
		return err
	}
	if on.elsewhere {
		return web.Answer(w, r, http.StatusOK, render)
	}
	reached, err := api.s.repos.Reached(r.Context(), a, on.named...)
	switch {
	case err != nil:
		return err
	case !reached:
		return web.Answer(w, r, http.StatusOK, render)
	default:
		if on.people {
			if on.turn, err = api.s.signatures.Turn(r.Context(), a.AccountsGeneration); err != nil {
				return err
			}
		}
		return api.answers.Serve(w, r, on.state(a), keyOf(r, a, on), render)
	}
}

// dated sets Last-Modified to the time of a commit or tag (decision 27), if a header can represent it.
func dated(w http.ResponseWriter, by git.Signature) {
	if year := by.When.UTC().Year(); year >= 1 && year <= 9999 {
		web.LastModified(w, by.When)
	}
}

// etagOf returns an ETag that includes the SHA of the object, if any.
func etagOf(on basis, body []byte) string {
	tag := web.Tag(body)
	if on.sha != "" {
		tag = `W/"` + string(on.sha) + "-" + tag[len(`W/"`):]
	}
	return tag
}

// state returns the generations that the response depends on.
func (on basis) state(a *repo.Access) cache.State {
	var refs, accounts int64
	if on.refs {
		refs = a.RefsGeneration
	}
	if on.people {
		accounts = a.AccountsGeneration
	}
	return cache.Generations(refs, accounts, a.Purges)
}

// keyOf returns a cache key with everything else that a response depends on.
func keyOf(r *http.Request, a *repo.Access, on basis) string {
	info := web.From(r.Context())
	b := make([]byte, 0, 200)
	b = strconv.AppendInt(append(strconv.AppendInt(b, int64(a.ID), 36), ' '), on.turn, 36)
	for _, s := range [...]string{a.Owner.Login, a.Name, on.pair, info.Media.Kind, info.Prefix,
		r.URL.EscapedPath(), r.URL.RawQuery} {
		b = append(append(b, ' '), s...)
	}
	return web.ShortKey(b)
}

// opened renders an object without its closing brace, so that members can be appended.
func opened(v any) ([]byte, error) {
	b, err := web.Marshal(v)
	return bytes.TrimSuffix(b, []byte("}")), err
}

// text writes a response that is not JSON.
func text(w http.ResponseWriter, r *http.Request, body []byte, etag string) error {
	if web.NotModified(w, r, etag) {
		return nil
	}
	if err := admission.Hold(r.Context(), int64(len(body))); err != nil {
		return err
	}
	textHeader(w, r)
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(body)
	return err
}

// textHeader prevents browsers from treating committed files as pages of this site.
func textHeader(w http.ResponseWriter, r *http.Request) {
	w.Header()["Content-Type"] = []string{web.From(r.Context()).Media.Text()}
	w.Header()["X-Content-Type-Options"] = []string{"nosniff"}
}

// stream sends the output of a running git process. An error before the first byte is returned as usual.
func stream(w http.ResponseWriter, r *http.Request, write func(io.Writer) error) error {
	textHeader(w, r)
	if r.Method == http.MethodHead {
		return nil
	}
	admission.As(r.Context(), admission.Stream)
	return write(w)
}
