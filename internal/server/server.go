// Package server puts the features behind one address.
//
//   - routes.go: the server's own endpoints, joined with the features'; testdata/routes.txt lists all
//   - address.go, table.go, notimplemented.go: finding the route of a request
//   - server.go, headers.go: the steps of every request
//   - grant.go, graphql.go: the checks of a route for GraphQL
//   - space.go: which requests need disk space, and limits of written text
//   - credentials.go, token.go: authentication, and what tokens permit
//   - wire.go: the server is assembled; apis.go and pages.go: its features
//   - root.go, docs.go: the root document, rate limits, the documentation
//   - metrics.go, collect.go, ready.go, listen.go: Prometheus, probes, listening and stopping
//
// The steps of a request: find the route; check the method; authenticate; negotiate the media type; take
// from the rate limit; read the body and admit the request (admit.go); call the handler. For a repository's
// routes the repository is found and access is checked before the handler is called (decision 51). Only
// web.Handle writes error responses.
package server

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/issue/live"
	"arbor/internal/journal"
	"arbor/internal/ldap"
	"arbor/internal/lfs"
	"arbor/internal/mail"
	"arbor/internal/migration/job"
	"arbor/internal/oidc"
	"arbor/internal/ratelimit"
	"arbor/internal/route"
	"arbor/internal/space"
	"arbor/internal/web"
)

// Server serves the whole interface. It is an http.Handler.
type Server struct {
	o           Options
	log         *slog.Logger
	accounts    *account.Service
	identities  *oidc.Service
	directories *ldap.Service
	mails       *mail.Sender
	imports     *job.Service
	forge       *forge.Forge
	home        web.Handler // the page at /
	setup       string      // the code for setting up an empty server
	runners     []runner
	live        *live.Service
	control     *admission.Control
	room        *space.Guard
	disks       []string // a directory on each disk that is written
	routes      []route.Route
	pageErrors  web.Form
	lostErrors  web.Form // for paths without a route
	table       *table
	metrics     *metrics
	limiter     *ratelimit.Limiter
	docs        *docs
	reserved    map[string]bool // logins that cannot be used
	refusals    refusals

	database    *probe
	folder      *probe
	broken      *probe
	depot       *probe
	brokenRepos atomic.Int64 // counted by the last look of broken

	stopping atomic.Bool // set by Retire
	idPrefix string      // random, so that ids of two runs differ
	lastID   atomic.Uint64
	inFlight atomic.Int64
	matches  sync.Pool
}

// ServeHTTP serves one request. Like http.ServeMux, it sets the route's pattern in r.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	from := s.control.Origin(r)
	info := web.From(r.Context())
	info.ID, info.From = s.newID(), from.Address
	ticket := s.control.NewTicket(admission.Holder{Network: admission.NetworkOf(from.Address)})
	given := r
	r = r.WithContext(admission.With(web.WithInfo(s.o.DB.Remember(r.Context()), info), ticket))
	w = admission.Pace(w, r)
	ww := &web.Writer{ResponseWriter: w}
	w.Header()["X-Request-Id"] = []string{info.ID}
	n := s.locate(r, info, &from)
	given.Pattern = info.Pattern
	leave, counted := s.control.Stream(r)
	defer leave()
	defer s.finish(ww, r, info, n, start)
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	defer ticket.Leave()
	if !counted {
		web.Handle(ww, r, fail(errs.New(errs.TooManyRequests,
			"too many requests at one time from your network; try again")))
		return
	}
	s.serve(ww, r, info, n)
}

// newID returns a unique request id.
func (s *Server) newID() string {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], s.lastID.Add(1))
	id := append(make([]byte, 0, 32), s.idPrefix...)
	return string(hex.AppendEncode(id, number[2:]))
}

func newIDPrefix() string {
	var b [5]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:]) + "-"
}

// fail returns a handler that returns err.
func fail(err error) web.Handler {
	return func(http.ResponseWriter, *http.Request) error { return err }
}

// serve checks the request and calls its handler.
func (s *Server) serve(w *web.Writer, r *http.Request, info *web.Info, n *node) {
	if s.o.RequireToken && withoutToken(r) && !n.isOpen() && !bringsSession(r, info, n) {
		web.Handle(w, r, fail(errs.New(errs.Unauthenticated, "Requires authentication")))
		return
	}
	if n == nil {
		s.commonHeaders(w.Header(), info, route.API)
		s.unrouted(w, r, info, nil, fail(errs.Absent()))
		return
	}
	group := n.group
	if group == route.API || group == route.Plants {
		media := web.ParseAccept(r.Header["Accept"])
		media.Graduated = media.Graduated || info.Media.Graduated
		info.Media = media
		s.commonHeaders(w.Header(), info, group)
		info.MayZip(r)
	}
	if r.Method == http.MethodOptions && group != route.Git {
		s.unrouted(w, r, info, n, func(http.ResponseWriter, *http.Request) error {
			preflight(w, n, !s.o.RequireToken)
			return nil
		})
		return
	}
	found := n.find(r.Method)
	if found == nil {
		w.Header().Set("Allow", n.allow)
		s.unrouted(w, r, info, n,
			fail(errs.Newf(errs.MethodNotAllowed, "Method not allowed: use %s", n.allow)))
		return
	}
	info.Docs += found.anchor
	web.Handle(w, r, func(_ http.ResponseWriter, r *http.Request) error {
		err := s.enter(w, r, info, n, found)
		if err != nil && !safe(r.Method) {
			err = space.Explain(err, s.disks...)
		}
		return err
	})
}

// unrouted answers a request without a route. It accepts a session cookie, so that error pages show the
// signed-in user. With --require-token it returns 401 unless the token or session is valid.
func (s *Server) unrouted(w *web.Writer, r *http.Request, info *web.Info, n *node, h web.Handler) {
	g := route.API
	if n != nil {
		g = n.group
	}
	web.Handle(w, r, func(_ http.ResponseWriter, r *http.Request) error {
		guarded := s.o.RequireToken && !n.isOpen()
		var caller *account.Caller
		var err error
		if guarded {
			caller, _, err = s.authenticate(r, g)
			if err := s.count(w, r, caller, info.Pattern); err != nil {
				return err
			}
		}
		if err == nil && isUnroutedPage(r, info, g) && withoutToken(r) {
			if caller, err = s.authenticateSession(w, r); caller != nil {
				cookieHeaders(w.Header(), true)
				info.Who = caller.Login
				info.Form = info.Form.For(r.WithContext(account.WithCaller(r.Context(), caller)))
			}
		}
		if err == nil && guarded && caller == nil {
			err = errs.New(errs.Unauthenticated, "Requires authentication")
		}
		if err != nil {
			return err
		}
		return h(w, r)
	})
}

// count charges a request to the caller's rate limit. Requesting the rate limit is free.
func (s *Server) count(w *web.Writer, r *http.Request, caller *account.Caller, pattern string) error {
	cost := int64(1)
	if pattern == rateLimitPath {
		cost = 0
	}
	return s.limiter.Take(w, r, caller, cost)
}

// enter authenticates the caller, applies the checks of the route's group, and calls the handler.
func (s *Server) enter(w *web.Writer, r *http.Request, info *web.Info, n *node, to *endpoint) error {
	if safe(r.Method) {
		r = r.WithContext(db.WithReplicaReads(r.Context()))
	} else {
		r = r.WithContext(db.WithRightRequired(r.Context())) // its operations write by a right
	}
	var caller *account.Caller
	var given bool
	var err error
	promised := false // by package lfs, so the request is counted
	switch {
	case to.LFS && lfs.IsToken(r):
		caller, err = s.forge.LFS.Authenticate(r)
		given, promised = true, to.Promised && err == nil
		if err == nil && caller == nil && s.o.RequireToken {
			err = errs.New(errs.Unauthenticated, "Requires authentication")
		}
	case !to.Client:
		caller, given, err = s.authenticate(r, to.Group)
	}
	if err == nil && !given && caller == nil && !to.Client && takesCookie(r, info, n) &&
		!(to.Elsewhere && s.crossOrigin(r, info)) {
		caller, err = s.authenticateSession(w, r)
		if err == nil && caller == nil && s.o.RequireToken && !n.open {
			err = errs.New(errs.Unauthenticated, "Requires authentication")
		}
	}
	if to.Group != route.Pages && takesCookie(r, info, n) {
		cookieHeaders(w.Header(), caller != nil && caller.Session)
	}
	if caller != nil && to.Group == route.Pages {
		info.Form = info.Form.For(r.WithContext(account.WithCaller(r.Context(), caller)))
	}
	if to.Counts() && !promised {
		// First, so that guessed credentials count too.
		if err := s.count(w, r, caller, info.Pattern); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := s.checkAccess(r.Context(), r.Method, caller, to); err != nil {
		return err
	}
	if caller != nil && !safe(r.Method) && fromOtherSite(r) {
		return errs.New(errs.Forbidden, "A request from another site must send its token as Bearer.")
	}
	if to.Group == route.Pages && !to.Elsewhere && s.crossOrigin(r, info) {
		return errs.New(errs.Forbidden, "This form was sent from another site.")
	}
	if caller != nil && caller.NeedsFactor && !to.Factorless {
		return factorFirst(w, r)
	}
	signedIn := caller
	if caller != nil {
		info.Who, info.TokenID = caller.Login, caller.TokenID
		if to.Group == route.API && !caller.Session {
			to.need.headers(w.Header(), caller.Grant)
		}
		ctx, err := s.permit(r.Context(), r.Method, caller, to)
		if err != nil {
			return err
		}
		r = r.WithContext(ctx)
	}
	if to.Group == route.API || to.Group == route.Plants {
		if safe(r.Method) {
			cacheControl(w.Header(), given || caller != nil)
		}
		if err := acceptsJSON(info); err != nil && !to.AnyMedia {
			return err
		}
	}
	if needsSpace(r.Method, to.Route) || announcesPush(r, to.Route) {
		ctx, err := s.checkSpace(r.Context(), signedIn, to.Route)
		if err != nil {
			return err
		}
		r = r.WithContext(ctx)
	}
	if !to.Unadmitted {
		if err := s.admit(w, r, signedIn, to.Route); err != nil {
			return err
		}
	}
	return to.Handler(w, r)
}

// acceptsJSON checks that the client accepts JSON. Error: 415.
func acceptsJSON(i *web.Info) error {
	if i.Media.JSON {
		return nil
	}
	return errs.New(errs.UnsupportedMedia,
		"Unsupported 'Accept' header: this resource is produced as application/json")
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// flushAnswer sends a complete response before the request is counted and logged, so that the client does
// not wait for that. A response of unknown length is left to net/http, which determines the length; with
// HTTP/2, net/http would end the stream without a deadline.
func flushAnswer(w *web.Writer, r *http.Request) {
	if !w.Started() || r.ProtoMajor < 2 && len(w.Header()["Content-Length"]) == 0 &&
		w.Status != http.StatusNoContent && w.Status != http.StatusNotModified {
		return
	}
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// isServerFault reports whether neither the client nor stored data caused the error.
func isServerFault(err error) bool {
	kind := errs.KindOf(err)
	return kind == errs.Internal || kind == errs.Unavailable || kind == errs.NoRoom
}

// finish counts and logs the request in one line, without headers, tokens or bodies. The line includes the
// cause of a 4xx or 5xx and of a response that broke off.
func (s *Server) finish(w *web.Writer, r *http.Request, info *web.Info, n *node, start time.Time) {
	now := time.Now()
	if !w.Started() && info.Note == nil {
		w.WriteHeader(http.StatusOK) // with its own deadline
	}
	flushAnswer(w, r)
	status := w.Status
	if status == 0 {
		status = http.StatusOK
		if errs.Is(info.Note, errs.Canceled) {
			status = 499
		}
	}
	if n != nil {
		n.metrics.observe(r.Method, status, now.Sub(start))
	}
	level := slog.LevelInfo
	brokeOff := status < 400 && info.Note != nil
	switch {
	case status == http.StatusInsufficientStorage:
		level = slog.LevelWarn // the guard logs the cause once
	case errs.Is(info.Note, errs.Paused): // not a fault: info
	case errors.Is(info.Note, admission.ErrRefused):
		level = slog.LevelWarn // metrics count these
	case status >= 500 || brokeOff && isServerFault(info.Note):
		level = slog.LevelError
	}
	if !s.log.Enabled(r.Context(), level) {
		return
	}
	line := journal.Line{At: now, Level: level, Method: r.Method, Route: cmp.Or(info.Pattern, "-"),
		Status: status,
		Took:   now.Sub(start), Address: info.From, Caller: info.Who, TokenID: info.TokenID, Bytes: w.Bytes,
		Cost: admission.From(r.Context()).Cost(), ID: info.ID}
	if strings.Contains(info.Pattern, "/{owner}/{repo}") {
		line.Owner, line.Repo = web.Param(r, "owner"), strings.TrimSuffix(web.Param(r, "repo"), ".git")
	}
	if status >= 400 || brokeOff {
		line.Error = info.Note
	}
	journal.Log(r.Context(), s.log, &line)
}
