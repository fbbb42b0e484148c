package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
)

// refusal is an error of the interface.
type refusal struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Errors  []struct {
		Field   string `json:"field"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"errors"`
}

// Error is what the interface said.
func (r *refusal) Error() string {
	parts := []string{r.Message}
	for _, e := range r.Errors {
		text := e.Message
		if text == "" {
			text = e.Field + " is " + strings.ReplaceAll(e.Code, "_", " ")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ": ")
}

// send sends a user's request with a body of JSON to the server, and decodes
// the answer into into, unless that is nil. Errors: *refusal.
func (a *applier) send(ctx context.Context, login, method, path string, body, into any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://seed"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth(login, "")
	w := &answer{header: http.Header{}, status: http.StatusOK}
	a.server.ServeHTTP(w, r)
	if w.status >= 300 {
		said := &refusal{Status: w.status}
		if err := json.Unmarshal(w.Bytes(), said); err != nil || said.Message == "" {
			said.Message = http.StatusText(w.status)
		}
		return said
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(w.Bytes(), into)
}

// answer records what the server answers. It is an http.ResponseWriter.
type answer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

// authenticate finds the user whose login a request names. A seed's server asks for no password.
func (a *applier) authenticate(r *http.Request) (*account.Caller, error) {
	login, _, _ := r.BasicAuth()
	return a.caller(login)
}

// caller is a user who acts.
func (a *applier) caller(login string) (*account.Caller, error) {
	c := a.callers[account.Fold(login)]
	if c == nil {
		return nil, fmt.Errorf("seed: user %q not found", login)
	}
	return c, nil
}

// errorAt puts an error where the seed says what led to it. What is not the seed's
// fault passes unchanged.
func (s *Seed) errorAt(p *position, err error) error {
	var said *refusal
	var known *errs.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Status < 500:
		key := ""
		for _, e := range said.Errors {
			if p.lines[e.Field] > 0 {
				key = e.Field
				break
			}
		}
		return &Error{s.File, []Problem{p.problem(key, "%s", said)}}
	case errors.As(err, &known) && known.Kind != errs.Internal && known.Kind != errs.Unavailable &&
		known.Kind != errs.Paused && known.Kind != errs.Canceled:
		text := known.Message
		for _, f := range known.Fields {
			text += ": " + strings.TrimSpace(f.Field+" "+f.Message)
		}
		return &Error{s.File, []Problem{p.problem("", "%s", text)}}
	}
	return fmt.Errorf("%s: %w", p.key, err)
}
