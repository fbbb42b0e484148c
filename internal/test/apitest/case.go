package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// Case is one request and what must come back. {base} stands for the server's
// address wherever text is expected or sent.
type Case struct {
	Name    string            // why; Do when empty
	Do      string            // METHOD PATH
	As      string            // login of the caller; "" is anonymous
	Send    string            // the body
	Headers map[string]string // of the request

	Status int
	Want   string            // JSON that the body must contain, see Contains; "" checks nothing
	Body   string            // the whole body; "-" is an empty one; "" checks nothing
	Has    map[string]string // headers of the answer; "-" is one that must be absent
	Keep   func(*Answer)     // sees the answer, for the cases that follow
}

// Answer is what came back.
type Answer struct {
	Do     string // METHOD PATH of the request
	Proto  string // e.g. HTTP/2.0
	Status int
	Header http.Header
	Body   []byte
}

// Run sends the requests one after the other, each as a subtest.
func (s *Server) Run(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		name := c.Name
		if name == "" {
			name = c.Do
		}
		if c.As != "" {
			name += " as " + c.As
		}
		t.Run(name, func(t *testing.T) { s.Check(t, c) })
	}
}

// Ask sends a request as a user, with a body unless that is empty, and wants a status.
func (s *Server) Ask(t testing.TB, as, do, send string, status int) *Answer {
	t.Helper()
	return s.Check(t, Case{Do: do, As: as, Send: send, Status: status})
}

// Check sends one request and compares the answer with the case.
func (s *Server) Check(t testing.TB, c Case) *Answer {
	t.Helper()
	a := s.Do(t, c)
	if a.Status != c.Status {
		t.Fatalf("%s: status %d, want %d\n%s", c.Do, a.Status, c.Status, a.Body)
	}
	if c.Want != "" {
		if err := Contains(a.Body, s.fill(c.Want)); err != nil {
			t.Errorf("%s: %v\n%s", c.Do, err, a.Body)
		}
	}
	if c.Body != "" {
		want := s.fill(c.Body)
		if want == "-" {
			want = ""
		}
		if string(a.Body) != want {
			t.Errorf("%s: body %q, want %q", c.Do, a.Body, want)
		}
	}
	for name, want := range c.Has {
		got := strings.Join(a.Header.Values(name), ", ")
		if want == "-" {
			want = ""
		}
		if got != s.fill(want) {
			t.Errorf("%s: %s is %q, want %q", c.Do, name, got, s.fill(want))
		}
	}
	if c.Keep != nil {
		c.Keep(a)
	}
	return a
}

func (s *Server) fill(text string) string { return strings.ReplaceAll(text, "{base}", s.URL) }

// Together sends the requests at the same time and returns their statuses.
func (s *Server) Together(t testing.TB, cases ...Case) []int {
	t.Helper()
	statuses := make([]int, len(cases))
	var all sync.WaitGroup
	for i, c := range cases {
		all.Go(func() { statuses[i] = s.Do(t, c).Status })
	}
	all.Wait()
	return statuses
}

// Do sends the request of a case and returns any answer.
func (s *Server) Do(t testing.TB, c Case) *Answer {
	t.Helper()
	method, path, _ := strings.Cut(c.Do, " ")
	var body io.Reader
	if c.Send != "" {
		body = strings.NewReader(s.fill(c.Send))
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, body)
	testkit.NoError(t, err)
	if c.As != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token(t, c.As))
	}
	for name, value := range c.Headers {
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, s.fill(value))
	}
	answer, err := s.client.Do(r)
	testkit.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", c.Do, err)
	}
	return &Answer{c.Do, answer.Proto, answer.StatusCode, answer.Header, data}
}

// JSON decodes the body into v.
func (a *Answer) JSON(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, v); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
}

// Contains reports how body, a JSON text, differs from want: an object must
// have at least want's keys, an array exactly its elements, "$any" is anything
// that is there, "$absent" a key that is not, and anything else must be equal.
func Contains(body []byte, want string) error {
	var w, b any
	if err := decode([]byte(want), &w); err != nil {
		return fmt.Errorf("the test's own JSON: %w", err)
	}
	if err := decode(body, &b); err != nil {
		return fmt.Errorf("%w: %v", errNoJSON, err)
	}
	return contains("body", b, w)
}

// decode keeps numbers as they are written.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

func contains(at string, got, want any) error {
	if want == "$any" {
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %v, want an object", at, got)
		}
		for k, v := range w {
			have, ok := g[k]
			if v == "$absent" {
				if ok {
					return fmt.Errorf("%s.%s is there", at, k)
				}
				continue
			}
			if !ok {
				return fmt.Errorf("%s.%s is missing", at, k)
			}
			if err := contains(at+"."+k, have, v); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s has not %d elements: %v", at, len(w), got)
		}
		for i := range w {
			if err := contains(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); err != nil {
				return err
			}
		}
		return nil
	default:
		if got != want {
			return fmt.Errorf("%s is %v, want %v", at, got, want)
		}
		return nil
	}
}
