package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"arbor/internal/admission"
)

var (
	jsonType   = []string{"application/json; charset=utf-8"}
	gzipCoding = []string{"gzip"}
)

// JSON answers with v and the given status. A GET that answers 200 gets an
// ETag made of the body, and 304 when the caller has it already (decision 27).
func JSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	return answerPooled(w, r, status, func(out *Output) error { return out.JSON(v) })
}

// Bytes writes a body of rendered JSON. etag is the ETag for a 200, with its quotes; if it is empty, it is
// derived from the body.
func Bytes(w http.ResponseWriter, r *http.Request, status int, body []byte, etag string) error {
	h := w.Header()
	if status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		if etag == "" {
			etag = Tag(body)
		}
		if NotModified(w, r, etag) {
			return nil
		}
	}
	body, zipped := zipBody(r, status, body)
	if err := hold(r, cap(body)); err != nil {
		return err
	}
	if zipped {
		h["Content-Encoding"] = gzipCoding
	}
	setJSON(h)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// setJSON sets the type of an answer, unless the handler named one of JSON's kin.
func setJSON(h http.Header) {
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = jsonType
	}
}

// hold reserves the memory of a response until it is sent, because a slow client may take minutes. The
// response to a write is always sent.
func hold(r *http.Request, bytes int) error {
	if r.Method != http.MethodGet {
		return nil
	}
	return admission.Hold(r.Context(), int64(bytes))
}

// Tag returns a weak ETag from the content of a body. Users write parts of bodies: with a fast hash one
// could craft a comment so that an edit by others goes unnoticed.
func Tag(body []byte) string {
	sum := sha256.Sum256(body)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// NotModified sets the ETag of the answer and, when the caller has that entity
// already, answers 304 and reports true.
func NotModified(w http.ResponseWriter, r *http.Request, etag string) bool {
	if h := w.Header(); len(h["Etag"]) != 1 || h["Etag"][0] != etag {
		h["Etag"] = []string{etag}
	}
	given := r.Header["If-None-Match"]
	if len(given) == 0 || !matches(given, etag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matches compares weakly, as If-None-Match requires (RFC 9110, 13.1.2).
func matches(given []string, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for _, v := range given {
		for tag := range strings.SplitSeq(v, ",") {
			tag = strings.TrimSpace(tag)
			if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// NoContent answers 204.
func NoContent(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Created answers 201 with the address of the new resource and its full form.
func Created(w http.ResponseWriter, r *http.Request, location string, v any) error {
	w.Header().Set("Location", location)
	return JSON(w, r, http.StatusCreated, v)
}

// LastModified dates the single resource that the answer holds (decision 27).
func LastModified(w Headers, t time.Time) {
	w.Header().Set("Last-Modified", t.UTC().Format(http.TimeFormat))
}
