package gitdata

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxBlob is the maximum size in bytes of a returned blob, as at GitHub.
const maxBlob = 100 << 20

// keptBlob is the maximum size in bytes of a blob whose response is cached.
const keptBlob = 256 << 10

// POST /repos/{owner}/{repo}/git/blobs
//
// CreateBlob creates a blob from content in the encoding utf-8 (the default) or base64. The request body is
// limited to 40 MiB (decision 19).
func (api *API) CreateBlob(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.refuseEmpty(r.Context(), a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Blob")
	if err != nil {
		return err
	}
	contents := readContent(body)
	if err := body.Err(); err != nil {
		return err
	}
	sha, err := api.s.CreateBlob(r.Context(), a, contents)
	if err != nil {
		return err
	}
	made := objectJSON{SHA: string(sha), URL: newPlace(r.Context(), a).api + "/git/blobs/" + string(sha)}
	return web.Created(w, r, made.URL, made)
}

// readContent reads content and encoding. An empty content is an empty blob.
func readContent(body *web.Object) []byte {
	var content string
	if raw := body.Raw("content"); len(raw) == 0 || string(raw) == "null" {
		body.Wrong("content", errs.MissingField, "")
	} else if !unquote(raw, &content) {
		body.Wrong("content", errs.InvalidField, `"content" must be a string`)
	}
	if body.Enum("encoding", "utf-8", "base64").Or("utf-8") != "base64" {
		return []byte(content)
	}
	contents, err := decodeBase64(content)
	if err != nil {
		body.Wrong("content", errs.InvalidField, "content is not valid Base64")
	}
	return contents
}

// decodeBase64 decodes Base64 with or without line breaks and padding.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, " \t\r\n") {
		s = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(s)
	}
	if len(s)%4 == 0 {
		return base64.StdEncoding.Strict().DecodeString(s)
	}
	return base64.RawStdEncoding.Strict().DecodeString(s)
}

// GET /repos/{owner}/{repo}/git/blobs/{sha}
//
// GetBlob returns a blob of up to 100 MB in Base64. The media type raw returns just its content as plain
// text.
func (api *API) GetBlob(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := fullSHA(r)
	if err != nil {
		return api.s.orEmpty(r.Context(), a, err)
	}
	raw := web.From(r.Context()).Media.Kind == "raw"
	b := &blobAnswer{w: w, r: r, api: api, sha: sha, raw: raw, place: newPlace(r.Context(), a),
		state: objectsOf(a)}
	b.key = keyOf(r, a, basis{sha: sha})
	b.etag = `W/"` + string(sha) + `"`
	if raw {
		b.etag = `W/"` + string(sha) + `-raw"`
	}
	err = api.s.repos.CheckNamed(r.Context(), a, sha)
	if err == nil {
		if k, ok := api.s.kept.Get(objectsOf(a), b.key); ok {
			return b.send(k.Body)
		}
		admission.As(r.Context(), admission.Stream) // it may be large
		err = b.read(a)
	}
	switch errs.KindOf(err) {
	case errs.NotFound, errs.Invalid:
		return api.s.orEmpty(r.Context(), a, errs.Absent())
	case errs.TooLarge:
		return &errs.Error{Kind: errs.Forbidden, Err: err,
			Message: "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API.",
			Fields:  []errs.Field{{Resource: "Blob", Field: "data", Code: "too_large"}}}
	}
	return err
}

// blobAnswer is the response with a blob.
type blobAnswer struct {
	w     http.ResponseWriter
	r     *http.Request
	api   *API
	sha   git.SHA
	raw   bool
	place *addresses
	state cache.State
	key   string
	etag  string
}

// read reads and writes the blob.
func (b *blobAnswer) read(a *repo.Access) error {
	ctx := b.r.Context()
	objects, release, err := b.api.s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	return objects.ReadBlob(ctx, b.sha, maxBlob, b.write)
}

// send sends a complete body.
func (b *blobAnswer) send(body []byte) error {
	if b.raw {
		sandbox(b.w)
		return text(b.w, b.r, body, b.etag)
	}
	return web.Bytes(b.w, b.r, http.StatusOK, body, b.etag)
}

// sandbox prevents browsers from treating a blob as anything but text.
func sandbox(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
}

// write renders the blob, in memory if it is small enough to be cached.
func (b *blobAnswer) write(size int64, contents io.Reader) error {
	if size <= keptBlob {
		var body bytes.Buffer
		if err := b.render(&body, size, contents); err != nil {
			return err
		}
		b.api.s.kept.Put(b.state, b.key, web.Kept{Body: body.Bytes()})
		return b.send(body.Bytes())
	}
	if web.NotModified(b.w, b.r, b.etag) {
		return nil
	}
	if err := holdBlob(b.r.Context(), size); err != nil {
		return err
	}
	if b.raw {
		sandbox(b.w)
		textHeader(b.w, b.r)
		b.w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	} else {
		b.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	if b.r.Method == http.MethodHead {
		return nil
	}
	return b.render(b.w, size, contents)
}

// blobJSON is GitHub's blob without content.
type blobJSON struct {
	SHA    string `json:"sha"`
	NodeID string `json:"node_id"`
	Size   int64  `json:"size"`
	URL    string `json:"url"`
}

// holdBlob reserves memory for a blob until it is sent: small ones are read completely, and a slow client
// may take minutes.
func holdBlob(ctx context.Context, size int64) error {
	return admission.Hold(ctx, min(size, git.HeldBlob))
}

// render writes the body. Like GitHub it breaks Base64 after 60 characters.
func (b *blobAnswer) render(w io.Writer, size int64, contents io.Reader) error {
	if b.raw {
		_, err := io.Copy(w, contents)
		return err
	}
	sha := string(b.sha)
	head, err := opened(blobJSON{sha, b.place.nodeID("Blob", sha), size, b.place.api + "/git/blobs/" + sha})
	if err == nil {
		_, err = w.Write(append(head, `,"content":"`...))
	}
	if err != nil {
		return err
	}
	const line = 45 // bytes for 60 characters
	buf, out := make([]byte, line*1000), make([]byte, 0, 62*1000)
	for {
		n, err := io.ReadFull(contents, buf)
		out = out[:0]
		for part := buf[:n]; len(part) > 0; {
			k := min(line, len(part))
			out = append(base64.StdEncoding.AppendEncode(out, part[:k]), `\n`...)
			part = part[k:]
		}
		if _, werr := w.Write(out); werr != nil {
			return werr
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, `","encoding":"base64"}`)
	return err
}
