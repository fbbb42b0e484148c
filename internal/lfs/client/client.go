// Package client gets objects of Git LFS from another server, and sends it some, by the API of Git LFS over HTTP.
//
// Requests go to addresses that outgoing.Networks allows. Credentials go to the host of the API alone: for another
// host, where a server may keep objects, a request has what the server said, and after a redirect nothing.
// Errors name neither addresses nor what the other server said, since that may repeat credentials.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
)

// MaxBatch is how many objects a Batch may name: as many as git lfs names.
const MaxBatch = 100

// Bounds of requests.
const (
	answerTime = time.Minute // until an answer begins
	batchTime  = 2 * time.Minute
	idleTime   = time.Minute // in which no byte of an object moves
	maxAnswer  = 8 << 20     // bytes of an answer to a batch
	minRate    = 64 << 10    // bytes a second of an object that is sent, after a minute
)

// MediaType is that of requests and answers.
const MediaType = "application/vnd.git-lfs+json"

// Server is another server's API for the objects of one repository.
type Server struct {
	base   *url.URL
	header http.Header
	http   *outgoing.Client
}

// New returns the API below an address, which ends in /info/lfs. header has the credentials for its
// host; it may be nil.
func New(base *url.URL, header http.Header, networks outgoing.Networks) *Server {
	if header == nil {
		header = http.Header{}
	}
	return &Server{base: base, header: header, http: outgoing.NewPatient(networks, answerTime)}
}

// Base is the address of the API for the repository at an address, as git lfs guesses it.
func Base(repository *url.URL) *url.URL {
	u := *repository
	u.Path, u.RawPath = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git")+".git", ""
	return u.JoinPath("info", "lfs")
}

// Refusal is an answer that says no.
type Refusal struct{ Status int }

// Error says it in words.
func (r *Refusal) Error() string {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("the other server denies access (%d)", r.Status)
	case http.StatusNotFound, http.StatusGone:
		return fmt.Sprintf("the other server does not have it (%d)", r.Status)
	case http.StatusTooManyRequests:
		return "the other server refuses further requests for now (429)"
	case http.StatusInsufficientStorage:
		return "the other server has no room (507)"
	}
	if r.Status >= 300 && r.Status < 400 {
		return "the other server redirects to another address"
	}
	return fmt.Sprintf("the other server answers %d", r.Status)
}

// Absent reports whether the other server does not have an object.
func Absent(err error) bool {
	var r *Refusal
	return errors.As(err, &r) && (r.Status == http.StatusNotFound || r.Status == http.StatusGone)
}

// errAnswer says that an answer is none of Git LFS.
var errAnswer = errors.New("the answer of the other server is not one of Git LFS")

// Batch asks what to do for each of at most MaxBatch objects. upload: to send them; otherwise to get them. Objects that
// the other server says nothing about are missing in the answer. Errors: *Refusal; those of outgoing.
func (s *Server) Batch(ctx context.Context, upload bool, list []lfs.Pointer) (map[string]lfs.BatchObject, error) {
	q := lfs.BatchRequest{Operation: "download", Transfers: []string{"basic"}, HashAlgo: "sha256", Objects: list}
	if upload {
		q.Operation = "upload"
	}
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	to := s.base.JoinPath("objects", "batch")
	answer, err := s.post(ctx, to, s.header, q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, errors.New("the connection ended in the middle")
	}
	var said lfs.BatchAnswer
	if json.Unmarshal(text, &said) != nil || said.Transfer != "" && said.Transfer != "basic" {
		return nil, errAnswer
	}
	found := make(map[string]lfs.BatchObject, len(said.Objects))
	for _, o := range said.Objects {
		found[o.OID] = o
	}
	return found, nil
}

// post sends JSON to an address of the API. Error: *Refusal.
func (s *Server) post(ctx context.Context, to *url.URL, header http.Header, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(text))
	if err != nil {
		return nil, errAnswer
	}
	r.Header = header.Clone()
	r.Header.Set("Accept", MediaType)
	r.Header.Set("Content-Type", MediaType)
	return s.do(r)
}

// do sends a request. Error: *Refusal for every answer but 2xx.
func (s *Server) do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", "arbor")
	answer, err := s.http.Do(r)
	if err == nil && (answer.StatusCode < 200 || answer.StatusCode > 299) {
		answer.Body.Close()
		err = &Refusal{answer.StatusCode}
	}
	return answer, err
}

// target reads where an action leads, and returns the header for it.
func (s *Server) target(a lfs.Action) (*url.URL, http.Header, error) {
	to, err := url.Parse(a.Href)
	if err != nil || to.Host == "" || !s.allows(to) {
		return nil, nil, errors.New("the other server names an address without TLS, or none by HTTP")
	}
	header := http.Header{}
	if to.Host == s.base.Host && to.Scheme == s.base.Scheme {
		header = s.header.Clone()
	}
	for name, value := range a.Header {
		header.Set(name, value)
	}
	return to, header, nil
}

// allows reports whether an object may be at an address: by HTTPS if the API is.
func (s *Server) allows(to *url.URL) bool {
	return to.User == nil && (to.Scheme == "https" || to.Scheme == "http" && s.base.Scheme == "http")
}

// Open reads an object from where a Batch said that it is. Whoever reads it compares it with its name. Errors:
// *Refusal; those of outgoing.
func (s *Server) Open(ctx context.Context, o lfs.BatchObject) (io.ReadCloser, error) {
	if o.Error != nil {
		return nil, &Refusal{o.Error.Code}
	}
	to, header, err := s.target(o.Actions["download"])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	answer, err := s.open(ctx, to, header)
	if err != nil {
		cancel()
		return nil, err
	}
	return &lively{Reader: answer.Body, timer: time.AfterFunc(idleTime, cancel), end: func() error {
		cancel()
		return answer.Body.Close()
	}}, nil
}

func (s *Server) open(ctx context.Context, to *url.URL, header http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, errAnswer
	}
	r.Header = header
	r.Header.Set("User-Agent", "arbor")
	answer, err := s.http.Do(r)
	if err == nil && answer.StatusCode >= 300 && answer.StatusCode < 400 {
		answer.Body.Close()
		at, bad := answer.Location()
		if bad != nil || !s.allows(at) {
			return nil, &Refusal{answer.StatusCode}
		}
		answer, err = s.http.Fetch(ctx, at.String(), http.Header{"User-Agent": {"arbor"}})
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		err = &Refusal{answer.StatusCode}
	}
	return answer, err
}

// Send sends an object to where a Batch said, and has the other server verify it. Nothing is sent if the other server
// has it. Errors: *Refusal; those of outgoing and of from.
func (s *Server) Send(ctx context.Context, o lfs.BatchObject, from io.Reader) error {
	if o.Error != nil {
		return &Refusal{o.Error.Code}
	}
	upload, wanted := o.Actions["upload"]
	if !wanted {
		return nil
	}
	to, header, err := s.target(upload)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime+time.Minute+time.Duration(o.Size/minRate)*time.Second)
	defer cancel()
	body := &lively{Reader: from, timer: time.AfterFunc(idleTime, cancel)}
	defer body.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, to.String(), body)
	if err != nil {
		return errAnswer
	}
	r.Header, r.ContentLength = header, o.Size
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	answer, err := s.do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	verify, wanted := o.Actions["verify"]
	if !wanted {
		return nil
	}
	if to, header, err = s.target(verify); err != nil {
		return err
	}
	if answer, err = s.post(ctx, to, header, o.Pointer); err == nil {
		answer.Body.Close()
	}
	return err
}

// lively is a body whose transfer ends if no byte of it moves for a time.
type lively struct {
	io.Reader
	timer *time.Timer
	end   func() error // nil: nothing
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != nil {
		l.timer.Stop() // what follows has times of its own
	} else {
		l.timer.Reset(idleTime)
	}
	return n, err
}

// Close ends the transfer.
func (l *lively) Close() error {
	l.timer.Stop()
	if l.end == nil {
		return nil
	}
	return l.end()
}
