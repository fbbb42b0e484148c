//go:build long

package conformance

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"arbor/internal/route"
	"arbor/internal/test/apitest"
)

// recorder notes what the server answered, operation by operation.
type recorder struct {
	*description
	rows []*row
	seen fields
	used map[*exception]bool

	happened map[string]bool // names of events
}

// row is an operation that both have, and what came of requesting it.
type row struct {
	op       *operation
	route    route.Route
	paths    *regexp.Regexp
	literals int // characters of the route outside placeholders: of several that match, the most count

	Done     int                // successful responses
	Required map[string]bool    // fields of all answers, with the status before them
	Findings map[finding]string // to the first request that showed it
	Excepted map[finding]bool   // those for which there is a reason
}

// newRecorder takes the routes that the description also has, and gives the
// others of the API.
func newRecorder(d *description, routes []route.Route) (r *recorder, alone []string) {
	r = &recorder{description: d, seen: fields{}, used: map[*exception]bool{}, happened: map[string]bool{}}
	for _, to := range routes {
		if to.Group != route.API {
			continue
		}
		op := d.operations[key(to.Method, to.Pattern)]
		if op == nil {
			alone = append(alone, to.Method+" "+to.Pattern)
			continue
		}
		r.rows = append(r.rows, &row{op: op, route: to, paths: matcher(to.Pattern),
			literals: len(placeholder.ReplaceAllString(to.Pattern, "")),
			Required: map[string]bool{}, Findings: map[finding]string{}, Excepted: map[finding]bool{}})
	}
	slices.Sort(alone)
	return r, alone
}

// matcher matches the paths of a route.
func matcher(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	at := 0
	for _, span := range placeholder.FindAllStringIndex(pattern, -1) {
		b.WriteString(regexp.QuoteMeta(pattern[at:span[0]]))
		if strings.HasSuffix(pattern[:span[1]], "...}") {
			b.WriteString(".+")
		} else {
			b.WriteString("[^/]+")
		}
		at = span[1]
	}
	b.WriteString(regexp.QuoteMeta(pattern[at:]) + "$")
	return regexp.MustCompile(b.String())
}

// find is the operation of METHOD PATH; nil when only we have it.
func (r *recorder) find(do string) *row {
	method, path, _ := strings.Cut(do, " ")
	path, _, _ = strings.Cut(path, "?")
	var best *row
	for _, candidate := range r.rows {
		if candidate.route.Method == method && candidate.paths.MatchString(path) &&
			(best == nil || candidate.literals > best.literals) {
			best = candidate
		}
	}
	return best
}

// note checks an answer to a request that asked for a media type.
func (r *recorder) note(t testing.TB, do, accept string, a *apitest.Answer) {
	t.Helper()
	row := r.find(do)
	if row == nil {
		t.Errorf("%s is no operation of %s", do, r.Title)
		return
	}
	if a.Status < 400 {
		row.Done++
	}
	required, list := r.examine(t, row.op, accept, a)
	for name := range required {
		row.Required[fmt.Sprintf("%d %s", a.Status, name)] = true
	}
	for _, f := range list {
		switch {
		case r.excepted(row.op, accept, f):
			row.Excepted[f] = true
		case row.Findings[f] == "":
			row.Findings[f] = fmt.Sprintf("%s: %d", do, a.Status)
		}
	}
}

// examine holds an answer against what the operation may answer.
func (r *recorder) examine(
	t testing.TB, op *operation, accept string, a *apitest.Answer,
) (map[string]bool, []finding) {
	t.Helper()
	wrong := func(format string, args ...any) []finding {
		return []finding{{Why: fmt.Sprintf(format, args...)}}
	}
	described, known := op.responses[a.Status]
	if !known && a.Status < 400 {
		return nil, wrong("status %d is not described", a.Status)
	}
	if a.Status < 400 && len(described.types) == 0 {
		if len(a.Body) > 0 {
			return nil, wrong("status %d has a body, and none is described", a.Status)
		}
		return nil, nil
	}
	contentType, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if len(a.Body) == 0 && len(described.types) == 0 {
		return nil, nil // the 404 of a check
	}
	if err != nil {
		return nil, wrong("content type %q", a.Header.Get("Content-Type"))
	}
	var s *jsonschema.Schema
	r.compiling.Lock()
	defer r.compiling.Unlock()
	_, asked := described.types[accept]
	_, answered := described.types[contentType]
	switch {
	case asked && !strings.HasPrefix(contentType, "application/json"):
		if contentType != accept {
			return nil, wrong("content type %q, want %q", contentType, accept)
		}
		s, err = r.schema(described, accept)
	case asked:
		s, err = r.schema(described, accept)
	case answered:
		s, err = r.schema(described, contentType)
	case len(described.types) == 0 && contentType == "application/json":
		s, err = r.component("basic-error") // an error that the description leaves out
	default:
		return nil, wrong("content type %q is not described", contentType)
	}
	if err != nil {
		t.Fatalf("%s: %v", op.ID, err)
	}
	if !strings.HasPrefix(contentType, "application/json") && s.Types.String() == "[string]" {
		return nil, nil // text
	}
	required, list := check(s, a.Body, r.seen)
	if a.Status == http.StatusOK && (op.ID == "issues/list-events" ||
		op.ID == "issues/list-events-for-timeline") {
		list = append(list, r.events(t, a.Body)...)
	}
	return required, list
}

// events holds each event against the one schema that is meant for it: those of
// the list allow any event to look like any other.
func (r *recorder) events(t testing.TB, body []byte) []finding {
	t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return []finding{{Why: "the body is no list: " + err.Error()}}
	}
	var out []finding
	for _, event := range list {
		var e struct{ Event string }
		if err := json.Unmarshal(event, &e); err != nil {
			return []finding{{Why: "an event is no object: " + err.Error()}}
		}
		r.happened[e.Event] = true
		s, err := r.component(r.eventSchema(e.Event))
		if err != nil {
			t.Fatalf("the schema of %s: %v", e.Event, err)
		}
		_, found := check(s, event, nil)
		for _, f := range found {
			out = append(out, finding{At: "[" + e.Event + "]." + f.At, Missing: f.Missing, Why: f.Why})
		}
	}
	return out
}

// eventSchema names the schema of an event; most that tell nothing besides who
// and when share the one of closing.
func (r *recorder) eventSchema(event string) string {
	components, _ := r.document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	name := strings.ReplaceAll(event, "_", "-")
	if event == "commented" {
		name = "comment"
	}
	for _, candidate := range []string{"timeline-" + name + "-event", "timeline-" + name + "-issue-event",
		name + "-issue-event"} {
		if schemas[candidate] != nil {
			return candidate
		}
	}
	return "issue-event"
}

// excepted reports whether a finding is a known error of the description.
func (r *recorder) excepted(op *operation, accept string, f finding) bool {
	for i := range exceptions {
		if e := &exceptions[i]; e.matches(op, accept, f) {
			r.used[e] = true
			return true
		}
	}
	return false
}

// reported is what several engines' runs share.
type reported struct {
	mu   sync.Mutex
	runs map[string]*recorder // by engine
}
