package ssh

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/git/wire"
	"arbor/internal/journal"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/repo/transport"
	"arbor/internal/web"
)

// request is a command on its way, with what the log has of it.
type request struct {
	s       *session
	id      string
	service string
	command command
	start   time.Time
	caller  *account.Caller
	ticket  *admission.Ticket
	stream  *admission.PacedStream // nil for one that never was a conversation
	moved   bool                   // the client was told the repository's current address
}

func (s *session) begin(service string) *request {
	return &request{s: s, id: s.c.s.o.NewID(), service: service, start: time.Now()}
}

// execute runs a command line and returns its exit status.
func (s *session) execute(ctx context.Context, line string) int {
	c, err := parseCommand(line)
	r := s.begin(c.service)
	if r.command = c; c.service == "" {
		r.service = "other"
	}
	if err == nil {
		err = r.serve(ctx)
	}
	if err != nil && ctx.Err() == nil {
		s.say("ERROR: %s", clientMessage(err))
	}
	r.end(ctx, err)
	if err != nil {
		return 1
	}
	return 0
}

// serve admits the request, like one over HTTP, and serves it.
func (r *request) serve(ctx context.Context) error {
	o := &r.s.c.s.o
	caller, err := o.Tokens.CallerOfKey(ctx, r.s.c.fingerprint)
	if err != nil {
		return err
	}
	r.caller = caller
	if err := o.Allow(caller); err != nil {
		return err
	}
	o.Tokens.NoteKeyUse(caller)
	r.ticket = r.s.c.ticket()
	ctx = admission.With(ctx, r.ticket)
	if err := r.ticket.Enter(ctx); err != nil {
		return err
	}
	defer r.ticket.Leave()
	if r.service == authenticate {
		return r.authorize(ctx)
	}
	r.stream = admission.NewPacedStream(r.ticket, r.s.channel, func() { r.s.c.net.Close() })
	defer r.stream.End()
	if r.service == transfer {
		return o.LFS.Converse(ctx, lfs.Conversation{In: r.stream, Out: r.stream, Upload: r.command.upload,
			Access: r.accessFor, Count: func() error { return o.Allow(caller) }, Pause: r.stream.Pause})
	}
	err = o.Transport.Converse(ctx, r.service, transport.Conversation{
		Protocol: r.s.protocol, In: r.stream, Out: r.stream, Access: r.access, Pause: r.stream.Pause})
	if err != nil && r.service == wire.ServiceReceivePack {
		err = o.Explain(err)
	}
	return err
}

// authorize answers git-lfs-authenticate: where objects are transferred over HTTP, and with what token.
func (r *request) authorize(ctx context.Context) error {
	a, err := r.find(ctx)
	if err != nil {
		return err
	}
	ticket, err := r.s.c.s.o.LFS.Authorize(ctx, a, r.command.upload, r.s.c.s.o.Site)
	if err != nil {
		return err
	}
	timer := time.AfterFunc(longestWrite, func() { r.s.c.net.Close() })
	defer timer.Stop()
	return json.NewEncoder(r.s.channel).Encode(ticket)
}

// access is find with the right that the service needs.
func (r *request) access(ctx context.Context) (*repo.Access, error) {
	need, _ := transport.RoleOfService(r.service)
	return r.accessFor(ctx, need)
}

// accessFor is find with a right.
func (r *request) accessFor(ctx context.Context, need account.Role) (*repo.Access, error) {
	a, err := r.find(ctx)
	if err != nil {
		return nil, err
	}
	return a, r.s.c.s.o.Transport.Check(ctx, a, need)
}

// find finds the repository for the key, as both are now.
func (r *request) find(ctx context.Context) (*repo.Access, error) {
	o := &r.s.c.s.o
	caller, err := o.Tokens.CallerOfKey(ctx, r.s.c.fingerprint)
	if err != nil {
		return nil, err
	}
	found, err := o.Transport.FindRepo(ctx, caller, r.command.owner, r.command.name)
	if err != nil {
		return nil, err
	}
	if found.Moved && !r.moved {
		r.moved = true
		r.s.say("This repository moved. Please use the new location:\n  %s", o.Address(found.Repo))
	}
	return &found.Access, nil
}

// message is what a client may read of an error.
func message(err error) string {
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Kind != errs.Internal {
		return e.Message
	}
	return "Internal error: the log of the server says more."
}

// statusOf returns the equivalent HTTP status of an outcome, for the log and the metrics.
func statusOf(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case ctx.Err() != nil:
		return web.Status(errs.Canceled)
	}
	return web.Status(errs.KindOf(err))
}

// end logs and counts the request.
func (r *request) end(ctx context.Context, err error) {
	now, status := time.Now(), statusOf(ctx, err)
	o := &r.s.c.s.o
	o.Observe(Served{r.service, status})
	level := slog.LevelInfo
	switch {
	case status == http.StatusInsufficientStorage:
		level = slog.LevelWarn // the guard logs the cause once
	case errs.Is(err, errs.Paused): // info: nothing is wrong
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	}
	if !o.Log.Enabled(ctx, level) {
		return
	}
	line := journal.Line{At: now, Level: level, Method: "SSH", Route: r.service, Owner: r.command.owner,
		Repo: strings.TrimSuffix(r.command.name, ".git"), Status: status, Took: now.Sub(r.start),
		Address: r.s.c.from,
		Cost:    r.ticket.Cost(), ID: r.id, Error: err}
	if r.caller != nil {
		line.Caller, line.KeyID = r.caller.Login, r.caller.KeyID
	}
	if r.stream != nil {
		line.Bytes = r.stream.Written()
	}
	journal.Log(ctx, o.Log, &line)
}
