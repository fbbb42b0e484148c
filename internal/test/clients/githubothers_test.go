//go:build long

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// ask sends each request by a method of go-github, or by its route if there is none.
func (h *hub) ask(t *testing.T, requests []*fixture.Request) {
	t.Helper()
	methods, err := goGitHubMethods()
	testkit.NoError(t, err)
	for _, q := range requests {
		c := h.as(t, q.Who)
		if basic := q.Headers["Authorization"]; basic != "" { // of an OAuth App
			c = h.asClient(t, basic)
		}
		if m, ok := methods[shape(operation(q.Route))]; ok {
			err = m.call(t.Context(), c, q)
		} else {
			err = byRoute(t.Context(), c, q)
		}
		var accepted *github.AcceptedError // what go-github makes of a 202
		if err != nil && !errors.As(err, &accepted) {
			t.Errorf("%s: %v", q.Do, err)
		}
	}
}

// asClient is an OAuth App, which sends its credentials by Basic.
func (h *hub) asClient(t *testing.T, basic string) *github.Client {
	t.Helper()
	c, err := github.NewClient(h.options(h.URL), github.WithTransport(withHeader{"Authorization", basic}))
	testkit.NoError(t, err)
	return c
}

// withHeader sends requests with a header.
type withHeader struct{ name, value string }

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return http.DefaultTransport.RoundTrip(r)
}

// byRoute sends a request as programs do for operations that go-github has no method for.
func byRoute(ctx context.Context, c *github.Client, q *fixture.Request) error {
	method, path, _ := strings.Cut(q.Do, " /")
	var body any
	if q.Send != "" {
		body = json.RawMessage(q.Send)
	}
	r, err := c.NewRequest(ctx, method, path, body)
	if err != nil {
		return err
	}
	_, err = c.Do(r, nil)
	return err
}

// method is one of go-github's: of the service, such as IssuesService, by which the client has it.
type method struct{ service, name string }

var (
	declared     = regexp.MustCompile(`(?m)((?:^//.*\n)+)^func \(s \*(\w+Service)\) ([A-Z]\w*)\(`)
	operationOf  = regexp.MustCompile(`(?m)^//meta:operation (\S+ \S+)$`)
	placeholders = regexp.MustCompile(`\{[^}]*\}`)
)

// shape is an operation without the names of its placeholders, by which templates differ.
func shape(operation string) string {
	return strings.Replace(placeholders.ReplaceAllString(operation, "{}"), "{}...{}", "{}", 1)
}

// goGitHubMethods are go-github's methods by the shape of the operation that its source names.
var goGitHubMethods = sync.OnceValues(func() (map[string]method, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}",
		"github.com/google/go-github/v89/github").Output()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		return nil, err
	}
	methods := map[string]method{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, f := range declared.FindAllSubmatch(source, -1) {
			for _, o := range operationOf.FindAllSubmatch(f[1], -1) {
				if at := shape(string(o[1])); methods[at].name == "" {
					methods[at] = method{string(f[2]), string(f[3])}
				}
			}
		}
	}
	return methods, nil
})

// call calls the method: its parameters are a context, what stands for the placeholders, and for a request
// with a body what go-github makes of that. Others, such as options, are zero.
func (m method) call(ctx context.Context, c *github.Client, q *fixture.Request) error {
	f := m.of(c)
	if !f.IsValid() {
		return fmt.Errorf("go-github has %s.%s, and its client does not", m.service, m.name)
	}
	in := []reflect.Value{reflect.ValueOf(ctx)}
	values := q.Values
	if strings.HasSuffix(q.Route.Pattern, "{basehead...}") {
		values = append(values[:len(values)-1:len(values)-1], strings.Split(values[len(values)-1], "...")...)
	}
	for n := 1; n < f.Type().NumIn(); n++ {
		p := reflect.New(f.Type().In(n))
		switch kind := p.Elem().Kind(); {
		case kind == reflect.String && len(values) > 0:
			p.Elem().SetString(values[0])
			values = values[1:]
		case (kind == reflect.Int || kind == reflect.Int64) && len(values) > 0:
			number, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				return err
			}
			p.Elem().SetInt(number)
			values = values[1:]
		case kind == reflect.String && q.Send != "": // it takes the only field of the body
			var fields map[string]string
			if err := json.Unmarshal([]byte(q.Send), &fields); err != nil || len(fields) != 1 {
				return fmt.Errorf("%s.%s does not take %s", m.service, m.name, q.Send)
			}
			for _, value := range fields {
				p.Elem().SetString(value)
			}
		case q.Send != "":
			if err := json.Unmarshal([]byte(q.Send), p.Interface()); err != nil {
				return fmt.Errorf("%s.%s does not take %s: %w", m.service, m.name, q.Send, err)
			}
		}
		in = append(in, p.Elem())
	}
	out := f.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// of is the method of a client's service.
func (m method) of(c *github.Client) reflect.Value {
	client := reflect.ValueOf(c).Elem()
	for i := range client.NumField() {
		field := client.Type().Field(i)
		if field.IsExported() && field.Type.Kind() == reflect.Pointer &&
			field.Type.Elem().Name() == m.service {
			return client.Field(i).MethodByName(m.name)
		}
	}
	return reflect.Value{}
}
