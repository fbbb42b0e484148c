//go:build long

package conformance

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

var printReport = flag.Bool("report", false, "print the table of operations")

// Clients made for GitHub read Arbor's answers with the types of GitHub's
// description. A field that it requires and that is missing, or is of another
// type, breaks the typed ones of them (decision 28).
func TestPayloads(t *testing.T) {
	t.Parallel()
	d := github(t)
	runs := reported{runs: map[string]*recorder{}}
	t.Run("run", func(t *testing.T) {
		apitest.Each(t, func(t *testing.T, s *apitest.Server) {
			r, others := newRecorder(d, s.Server.Routes())
			for _, route := range others {
				if alone[route] == "" && !strings.Contains(route, numbered) {
					t.Errorf("%s is not in GitHub's description, nor among those that are known to be ours alone", route)
				}
			}
			w := &world{Server: s, t: t, recorder: r}
			w.run()
			r.askOthers(t, s.Engine)
			r.judge(t)
			runs.mu.Lock()
			defer runs.mu.Unlock()
			runs.runs[fmt.Sprint(s.Engine)] = r
		})
	})
	if *printReport {
		runs.print(os.Stdout)
	}
}

// askOthers requests what the run did not, by the estate's requests.
func (r *recorder) askOthers(t *testing.T, engine db.Engine) {
	t.Helper()
	var w *fixture.World
	for _, row := range r.rows {
		if row.Done > 0 && !slices.Contains(samples, row.op.ID) {
			continue
		}
		if w == nil {
			w = fixture.New(t, apitest.Start(t, engine))
		}
		q := w.Request(t, &row.route, w.Homes[0])
		q.As, q.Headers["Accept"] = q.Who, githubJSON
		r.note(t, q.Do, githubJSON, w.Do(t, q.Case))
	}
}

// samples are operations that askOthers asks for although the run does, too: a new one must find that it
// works.
var samples = []string{"issues/get", "issues/unlock", "issues/create-comment"}

// judge fails the test for all that is not as it should be.
func (r *recorder) judge(t *testing.T) {
	t.Helper()
	for _, row := range r.rows {
		if row.Done == 0 {
			t.Errorf("%s %s is also GitHub's (%s), and no request to it succeeds", row.route.Method,
				row.route.Pattern, row.op.ID)
		}
		for _, line := range row.lines() {
			t.Errorf("%s: %s", row.op.ID, line)
		}
	}
	for _, name := range eventNames() {
		if !r.happened[name] && unlisted[name] == "" {
			t.Errorf("the store is not rich enough: no list shows that something was %s", name)
		}
	}
	for i := range exceptions {
		if !r.used[&exceptions[i]] {
			t.Errorf("no answer needs the exception %+v", exceptions[i])
		}
	}
	for _, name := range r.unfilled() {
		if !hasReason(name) {
			t.Errorf("the store is not rich enough: %s was never sent with a value", name)
		}
	}
}

// eventNames returns the names of all event kinds.
func eventNames() (names []string) {
	defer func() { _ = recover() }()
	for kind := issue.EventClosed; ; kind++ {
		if name := kind.String(); name != "" { // their numbers have gaps
			names = append(names, name)
		}
	}
}

// print writes the table once, and the sum for each engine.
func (r *reported) print(w io.Writer) {
	first := true
	for _, run := range r.runs {
		if first {
			run.print(w)
			fmt.Fprintln(w)
		}
		first = false
	}
	for engine, run := range r.runs {
		fmt.Fprintf(w, "%s: %s\n", engine, run.sum())
	}
}

// world is a server, those who use it, and the recorder of what it answers.
type world struct {
	*apitest.Server
	*recorder
	t *testing.T
}

const githubJSON = "application/vnd.github+json"

// do sends a request in the GitHub dialect that must succeed.
func (w *world) do(as, do string, send ...string) value {
	w.t.Helper()
	return w.accept(githubJSON, as, do, send...)
}

// accept is do with a media type.
func (w *world) accept(media, as, do string, send ...string) value {
	w.t.Helper()
	a := w.request(media, as, do, send...)
	if a.Status >= 300 {
		w.t.Fatalf("%s as %s: status %d\n%s", do, as, a.Status, a.Body)
	}
	var v any
	if len(a.Body) > 0 && strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
		a.JSON(w.t, &v)
	}
	return value{w.t, do, v}
}

// refused sends a request that must fail.
func (w *world) refused(status int, as, do string, send ...string) {
	w.t.Helper()
	if a := w.request(githubJSON, as, do, send...); a.Status != status {
		w.t.Errorf("%s as %s: status %d, want %d\n%s", do, as, a.Status, status, a.Body)
	}
}

func (w *world) request(media, as, do string, send ...string) *apitest.Answer {
	w.t.Helper()
	a := w.Do(w.t, apitest.Case{Do: do, As: as, Send: strings.Join(send, ""),
		Headers: map[string]string{"Accept": media}})
	w.note(w.t, do, media, a)
	return a
}

// value is the JSON of an answer.
type value struct {
	t  *testing.T
	do string
	v  any
}

// get is a field as text: "head.sha", "0.id".
func (v value) get(path string) string {
	v.t.Helper()
	at := v.v
	for name := range strings.SplitSeq(path, ".") {
		switch x := at.(type) {
		case map[string]any:
			at = x[name]
		case []any:
			if n, err := strconv.Atoi(name); err == nil && n < len(x) {
				at = x[n]
				continue
			}
			at = nil
		default:
			at = nil
		}
	}
	switch x := at.(type) {
	case nil:
		text, _ := json.Marshal(v.v)
		v.t.Fatalf("%s: no %s in %s", v.do, path, text)
	case float64:
		return strconv.FormatInt(int64(x), 10)
	}
	return fmt.Sprint(at)
}
