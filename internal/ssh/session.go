package ssh

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"

	"arbor/internal/errs"
	"arbor/internal/git/wire"
)

// Bounds of a session.
const (
	commandTime = 10 * time.Second // from the channel to the command
	maxAsked    = 64               // requests of a client on a channel, including variables
)

// session is one channel of a client, on which it runs one command.
type session struct {
	c        *connection
	channel  ssh.Channel
	protocol int // that the client speaks best, by GIT_PROTOCOL
}

// session accepts a channel and serves it to its end.
func (c *connection) session(ctx context.Context, opened ssh.NewChannel) {
	channel, requests, err := opened.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	defer func() { go ssh.DiscardRequests(requests) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{c: c, channel: channel}
	late := time.AfterFunc(commandTime, func() { c.net.Close() })
	defer late.Stop()
	done := make(chan struct{})
	started, asked := false, 0
	for open := true; open; {
		select {
		case <-done:
			return
		case r, ok := <-requests:
			if open = ok; !ok {
				break
			}
			if asked++; asked > maxAsked {
				c.net.Close()
			}
			run := s.answer(r, started)
			if run == nil {
				break
			}
			started = true
			late.Stop()
			go func() {
				defer close(done)
				defer c.s.survive()
				s.exit(run(ctx))
			}()
		}
	}
	cancel() // the client has closed the channel
	if started {
		<-done
	}
}

// Payloads of requests, as RFC 4254 has them.
type (
	variable struct{ Name, Value string }
	execute  struct{ Command string }
	exited   struct{ Status uint32 }
)

// answer accepts or rejects a request. It returns the function to run if it starts a command.
func (s *session) answer(r *ssh.Request, started bool) (run func(context.Context) int) {
	ok := false
	switch {
	case started:
	case r.Type == "env":
		ok = s.setProtocol(r.Payload)
	case r.Type == "shell":
		ok, run = true, s.greet
	case r.Type == "exec":
		var e execute
		if ok = ssh.Unmarshal(r.Payload, &e) == nil; ok {
			run = func(ctx context.Context) int { return s.execute(ctx, e.Command) }
		}
	}
	if r.WantReply && r.Reply(ok, nil) != nil {
		return nil
	}
	return run
}

// setProtocol takes GIT_PROTOCOL. Other variables are refused, and never reach a process.
func (s *session) setProtocol(payload []byte) bool {
	var v variable
	if ssh.Unmarshal(payload, &v) != nil || v.Name != "GIT_PROTOCOL" || len(v.Value) > 256 {
		return false
	}
	s.protocol = wire.ProtocolVersion(v.Value)
	return true
}

// say writes a message to the user, on standard error.
func (s *session) say(format string, args ...any) {
	timer := time.AfterFunc(longestWrite, func() { s.c.net.Close() })
	defer timer.Stop()
	fmt.Fprintf(s.channel.Stderr(), format+"\n", args...)
}

// exit sends the command's exit status to the client.
func (s *session) exit(status int) {
	_ = s.channel.CloseWrite()
	_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(exited{uint32(status)}))
	_ = s.channel.Close()
}

// greet answers a client that requests a shell with a message that its key works. As at GitHub the exit
// status is 1.
func (s *session) greet(ctx context.Context) int {
	r := s.begin("shell")
	caller, err := s.c.s.o.Tokens.CallerOfKey(ctx, s.c.fingerprint)
	switch {
	case err != nil:
		s.say("ERROR: %s", clientMessage(err))
	case caller.Grant != nil:
		r.caller = caller
		s.say("Hi! You've successfully authenticated with a deploy key, but Arbor does not provide shell access.")
	default:
		r.caller = caller
		s.say("Hi %s! You've successfully authenticated, but Arbor does not provide shell access.",
			caller.Login)
	}
	r.end(ctx, err)
	return 1
}

// clientMessage returns the part of an error that a client may read.
func clientMessage(err error) string {
	if errs.KindOf(err) == errs.Unauthenticated {
		return "This key can no longer sign in here."
	}
	return message(err)
}
