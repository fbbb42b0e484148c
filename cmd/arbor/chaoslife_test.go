//go:build long

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/forge"
)

// there is the state of a repository or a star; without it, its state is empty.
const there = "there"

// liveAndDie makes a repository with a first commit, and perhaps a fork of it, and mostly deletes them again.
func (c *chaos) liveAndDie(id int, text string) {
	made := []string{"alice/new-" + text}
	if !c.live(id, made[0], "/user/repos", `{"name": "new-`+text+`", "auto_init": true}`) {
		return
	}
	fork := chaosOrg + "/fork-" + text
	if rand.IntN(2) == 0 && c.live(id, fork, "/repos/"+made[0]+"/forks",
		`{"organization": "`+chaosOrg+`", "name": "fork-`+text+`"}`) {
		made = append(made, fork)
	}
	rand.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
	for _, full := range made {
		if rand.IntN(5) > 0 {
			c.die(id, full)
			continue
		}
		c.mustHave("/repos/" + full + "/contents/README.md")
		c.mu.Lock()
		c.kept = append(c.kept, full)
		c.mu.Unlock()
	}
}

// live makes a repository by a request, and stars it.
func (c *chaos) live(id int, full, path, body string) (made bool) {
	begun := c.elapsed()
	status, answer := c.ask(c.any(), "POST", path, body)
	c.noteWrite(id, operation{register: full, value: there, from: new(string)}, status, begun)
	if status/100 != 2 {
		if isKnown(status) && status != http.StatusTooManyRequests {
			c.t.Errorf("%s is not made: %d %s", full, status, answer)
		}
		return false
	}
	c.readState(id, full, "/repos/"+full)
	c.mustHave("/repos/" + full + "/contents/README.md")
	c.change(id, "star of "+full, "PUT", "/user/starred/"+full, there)
	c.readState(id, "star of "+full, "/user/starred/"+full)
	return true
}

// die takes the star from a repository, and deletes it.
func (c *chaos) die(id int, full string) {
	star := "/user/starred/" + full
	c.change(id, "star of "+full, "DELETE", star, "")
	c.readState(id, "star of "+full, star)
	c.change(id, full, "DELETE", "/repos/"+full, "")
	for range 2 {
		c.readState(id, full, "/repos/"+full)
	}
}

// change asks a node for a new state of a register.
func (c *chaos) change(id int, register, method, path, value string) {
	begun := c.elapsed()
	status, _ := c.ask(c.any(), method, path, "")
	c.noteWrite(id, operation{register: register, value: value}, status, begun)
}

// readState asks a node whether something is there.
func (c *chaos) readState(id int, register, path string) {
	begun := c.elapsed()
	switch status, _ := c.ask(c.any(), "GET", path, ""); status {
	case http.StatusOK, http.StatusNoContent:
		c.noteRead(id, register, there, begun)
	case http.StatusNotFound:
		c.noteRead(id, register, "", begun)
	}
}

// chaosToken is a token that clients revoke.
type chaosToken struct {
	id     int64
	value  string
	cookie string // of a session of its owner
}

// register is the token in the history.
func (k chaosToken) register() string { return fmt.Sprint("token ", k.id) }

// ended is the state of a token that was revoked.
const ended = "revoked"

// makeTokens makes tokens of alice for clients to revoke.
func (c *chaos) makeTokens(s *instance, n int) {
	s.operate(func(ctx context.Context, f *forge.Forge) error {
		const password = "a long secret"
		if err := f.Sessions.SetPassword(ctx, "alice", password, nil); err != nil {
			return err
		}
		cookie, _, err := f.Sessions.SignIn(ctx, "alice", password, session.Origin{Agent: "test"})
		for range n {
			if err != nil {
				return err
			}
			k := chaosToken{cookie: cookie}
			k.value, k.id, err = f.Tokens.CreateToken(ctx, token.NewToken{Login: "alice"})
			c.tokens = append(c.tokens, k)
		}
		return err
	})
}

// revoke revokes a token through one node. From then on all refuse it, and those that were revoked before.
func (c *chaos) revoke(id int) {
	c.mu.Lock()
	if len(c.tokens) == 0 {
		c.mu.Unlock()
		return
	}
	k := c.tokens[0]
	c.tokens = c.tokens[1:]
	before := k
	if len(c.revoked) > 0 {
		before = c.revoked[rand.IntN(len(c.revoked))]
	}
	c.mu.Unlock()
	c.useToken(id, k)
	c.useToken(id, before)
	begun := c.elapsed()
	status, text := c.send(c.any(), "POST", "/settings/tokens", fmt.Sprint("id=", k.id), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: session.Cookie, Value: k.cookie})
	})
	if status == http.StatusSeeOther && text == "/settings/tokens" {
		status = http.StatusOK
		c.mu.Lock()
		c.revoked = append(c.revoked, k)
		c.mu.Unlock()
	} else if isKnown(status) && status != http.StatusTooManyRequests {
		c.t.Errorf("a token is not revoked: %d %s", status, text)
	}
	c.noteWrite(id, operation{register: k.register(), value: ended}, status, begun)
	for range 2 {
		c.useToken(id, k)
	}
}

// useToken asks a node whose a token is.
func (c *chaos) useToken(id int, k chaosToken) {
	begun := c.elapsed()
	switch status, _ := c.withToken(c.any(), k); status {
	case http.StatusOK:
		c.noteRead(id, k.register(), "", begun)
	case http.StatusUnauthorized:
		c.noteRead(id, k.register(), ended, begun)
	}
}

// withToken asks a node with a token.
func (c *chaos) withToken(node int, k chaosToken) (status int, text string) {
	return c.send(node, "GET", "/user", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+k.value) })
}
