package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/packfile"
	"arbor/internal/git/serve"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// Conversation is git's own protocol on a connection on which both sides talk, as over SSH. What would be a
// request of HTTP is a message here: before each, access is checked again.
type Conversation struct {
	Protocol int // from wire.ProtocolVersion
	In       io.Reader
	Out      io.Writer
	// Access finds the repository, and checks that the caller may do there what the service needs.
	Access func(context.Context) (*repo.Access, error)
	// Pause sets how long the client may be silent before the next byte that is read.
	Pause func(time.Duration)
}

// services are those of git that there are, by the words with which a client asks for them, with the role
// that each takes.
var services = map[string]struct {
	need  account.Role
	serve func(*Service, context.Context, *Conversation, *bufio.Reader) error
}{
	wire.ServiceUploadPack:  {account.Pull, (*Service).conversedFetch},
	wire.ServiceReceivePack: {account.Push, (*Service).conversedPush},
}

// RoleOfService returns the role that a git service requires; ok is false for an unknown service.
func RoleOfService(service string) (need account.Role, ok bool) {
	s, ok := services[service]
	return s.need, ok
}

// Converse runs one of git's services to its end. Errors that git's protocol can express are sent to the
// client; others are returned.
func (s *Service) Converse(ctx context.Context, service string, c Conversation) error {
	return services[service].serve(s, ctx, &c, bufio.NewReaderSize(c.In, 64<<10))
}

// greet begins a conversation: it lists the refs, or in protocol 2 what the server can do. After that only
// git computes for the request.
func (s *Service) greet(ctx context.Context, c *Conversation, service string, kind admission.Kind) error {
	a, err := c.Access(ctx)
	if err != nil {
		return err
	}
	refs, more, err := s.advertised(ctx, a, c.Protocol)
	if err != nil {
		return err
	}
	admission.As(ctx, kind)
	return wire.WriteGreeting(c.Out, service, c.Protocol, refs, more...)
}

// hear reads the next message whole, while memory is asked for as it comes. It is empty when the client has
// hung up.
func (c *Conversation) hear(ctx context.Context, in *bufio.Reader) ([]byte, error) {
	if err := c.wait(in); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	message, _, err := admission.From(ctx).ReadAll(ctx,
		io.LimitReader(wire.NewSection(in, false), serve.MaxFetchRequest+1), -1)
	if err != nil {
		return nil, wire.MalformedEOF(err)
	}
	if len(message) > serve.MaxFetchRequest {
		return nil, errs.Newf(errs.TooLarge, "the request is too large (maximum is %d bytes)",
			serve.MaxFetchRequest)
	}
	return message, nil
}

// conversedFetch serves a fetch: in protocol 2 one command after the other, as by HTTP; before that, one
// negotiation.
func (s *Service) conversedFetch(ctx context.Context, c *Conversation, in *bufio.Reader) error {
	ctx = db.WithReplicaReads(ctx)
	if err := s.greet(ctx, c, wire.ServiceUploadPack, admission.Stream); err != nil {
		return err
	}
	for {
		message, err := c.hear(ctx, in)
		if err != nil || len(message) == 0 || string(message) == wire.FlushPkt {
			return err
		}
		a, err := c.Access(ctx)
		if err != nil {
			return err
		}
		if err := s.answerFetch(ctx, c, a, message, in); err != nil || c.Protocol != 2 {
			return err
		}
	}
}

// maxNegotiation is how long a client may be silent in all while a process of git waits for what it has.
const maxNegotiation = 30 * time.Second

func (s *Service) answerFetch(
	ctx context.Context, c *Conversation, a *repo.Access, message []byte, in *bufio.Reader,
) error {
	open := func(ctx context.Context) (*git.Repository, func(), error) { return s.repos.GitInUse(ctx, a) }
	o := serve.Request{Protocol: c.Protocol, In: bytes.NewReader(message), Out: c.Out,
		Absent: s.repos.AbsentTo(a), Shared: s.Shared,
		Refs:   func(ctx context.Context) (git.Refs, error) { return s.repos.Refs(ctx, a) },
		Bundle: func(ctx context.Context) *wire.Bundle { return s.Bundles.OfferedBundle(ctx, a) }}
	if c.Protocol == 2 {
		return serve.UploadPack(ctx, open, o)
	}
	objects, release, err := open(ctx)
	if err != nil {
		return err
	}
	defer release()
	ctx, end := context.WithCancel(ctx)
	defer end()
	o.In = patient{in, c.Pause, time.Now().Add(maxNegotiation), ctx}
	return serve.Negotiate(ctx, objects, message, o)
}

// patient reads what a client says while it may be the server that keeps it waiting.
type patient struct {
	*bufio.Reader
	pause func(time.Duration)
	until time.Time
	ctx   context.Context //nolint:containedctx // of the one negotiation that it is for
}

func (p patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	p.pause(max(time.Until(p.until), time.Second))
	return p.Reader.Read(b)
}

// wait waits until the client says something, which may take long.
func (c *Conversation) wait(in *bufio.Reader) error {
	c.Pause(admission.MaxPause)
	_, err := in.Peek(1)
	c.Pause(0)
	return err
}

// conversedPush serves a push.
func (s *Service) conversedPush(ctx context.Context, c *Conversation, in *bufio.Reader) error {
	if c.Protocol == 2 {
		c.Protocol = 0 // pushing has no version 2
	}
	if err := s.greet(ctx, c, wire.ServiceReceivePack, admission.Push); err != nil {
		return err
	}
	if err := c.wait(in); errors.Is(err, io.EOF) {
		return nil // nothing to push
	}
	request, pack, err := wire.ReadPushRequest(in, maxCommands)
	if err != nil || len(request.Commands) == 0 {
		return err
	}
	if request.HasPack() {
		if err := c.wait(in); err != nil { // git packs, which takes long
			return wire.MalformedEOF(err)
		}
	}
	a, err := c.Access(ctx)
	if err != nil {
		return err
	}
	release, err := admission.Slot(ctx, admission.Upload)
	if err != nil {
		return err
	}
	defer release()
	return s.receivePack(ctx, a, request, packfile.UntilEnd(pack), c.Out)
}
