package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// answers starts a server with one handler, and returns a client of it that does not wait, and how long it would have.
func answers(t *testing.T, h http.HandlerFunc) (c *Client, waited *time.Duration) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	base, names, err := Server(server.URL + "/prefix/acme/tool.git")
	testkit.NoError(t, err)
	if strings.Join(names, " ") != "acme tool" || !strings.HasSuffix(base.String(), "/prefix") {
		t.Fatalf("the server is %s, the path %s", base, names)
	}
	c = NewClient(base, base.JoinPath("api/v3/"), Options{Token: "secret", Progress: func(string, int64, int64) {}})
	waited = new(time.Duration)
	c.Sleep = func(ctx context.Context, d time.Duration) error {
		*waited += d
		return ctx.Err()
	}
	return c, waited
}

// Whatever the server says about its rate limit is obeyed; failures are tried again; a refusal ends it in words.
func TestWaits(t *testing.T) {
	t.Parallel()
	asked := 0
	steps := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "60"); w.WriteHeader(429) },
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "30"); w.WriteHeader(503) },
		func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(20*time.Minute).Unix()))
			w.WriteHeader(403)
		},
		func(w http.ResponseWriter) {
			w.Header().Set("RateLimit-Remaining", "0")
			w.Header().Set("RateLimit-Reset", fmt.Sprint(time.Now().Add(time.Hour).Unix()))
			w.WriteHeader(429)
		},
		func(w http.ResponseWriter) { w.WriteHeader(502) },
		func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { // ends in the middle
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		},
		func(w http.ResponseWriter) { fmt.Fprint(w, `{"full_name":"acme/tool"}`) },
		func(w http.ResponseWriter) { w.WriteHeader(403); fmt.Fprint(w, `{"message":"No \u001b[2J"}`) },
	}
	c, waited := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("the token is %q", r.Header.Get("Authorization"))
		}
		asked++
		steps[asked-1](w)
	})
	var r struct {
		FullName string `json:"full_name"`
	}
	testkit.NoError(t, c.Get(t.Context(), "repos/acme/tool", &r))
	if asked != 8 || *waited < 81*time.Minute || *waited > 85*time.Minute || r.FullName != "acme/tool" {
		t.Errorf("%d requests, waited %s, got %+v", asked, waited, r)
	}
	err := c.Get(t.Context(), "repos/acme/tool", &r)
	if !Absent(err) || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "403") {
		t.Errorf("a refusal: %q", err)
	}
}

// An answer of another shape, or without an end, is an error.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	var body string
	c, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
	list := func(fn func(*User) error) error {
		text, _, err := c.Page(t.Context(), c.At("list"))
		if err == nil {
			_, err = EachOf(c, text, "list", 100, fn)
		}
		return err
	}
	for _, body = range []string{"", "<html>", `{"a":1}`, `[1]`, `[{"login":1}]`, strings.Repeat("[", 20000), `[` + strings.Repeat("{},", 100) + `{}]`, `[{}`,
		`["` + strings.Repeat("x", maxAnswer) + `"]`} {
		if err := list(func(*User) error { return nil }); err == nil {
			t.Errorf("%.40q is taken", body)
		}
	}
	body = `[null]`
	testkit.NoError(t, list(func(*User) error { return json.Unmarshal([]byte("x"), new(int)) }))
}

// A server that sends a byte now and then does not keep an import busy.
func TestAnswersKeepComing(t *testing.T) {
	t.Parallel()
	for name, drips := range map[string]bool{"silent": false, "slow": true} {
		c, _ := answers(t, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `[`)
			for {
				if drips {
					io.WriteString(w, ` `)
				}
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
		c.minute = 50 * time.Millisecond
		if err := c.Get(t.Context(), "issues", new([]int)); !errors.Is(err, errSlow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 10 {
			w.Write(bytes.Repeat([]byte(" "), leastBytes))
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		io.WriteString(w, "[1]")
	})
	c.minute = 50 * time.Millisecond
	var list []int
	if err := c.Get(t.Context(), "issues", &list); err != nil || len(list) != 1 {
		t.Errorf("a steady answer: %v, %v", list, err)
	}
}
