package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Exchange is a request and its answer.
type Exchange struct {
	Method  string
	Pattern string // as in the route table or the documents
	Query   string
	Sent    []byte          // the request's body
	Asked   map[string]bool // fields of it that the handler looked for; nil counts all
	Status  int
	Header  http.Header // of the answer
	Body    []byte
	Cut     bool // one of the bodies is not here whole, so neither is checked
}

// Exchange says what is wrong with an answer, and with a request that was
// answered well: each is a sentence. nil when nothing is, and for what the
// server answers where no operation is.
func (c *Checker) Exchange(e *Exchange) []string {
	op := c.find(e.Method, e.Pattern)
	if op == nil || e.Status == http.StatusMethodNotAllowed && e.Header.Get("Allow") != "" {
		return nil
	}
	var wrong []string
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if e.Status/100 == 2 {
		c.request(op, e, note)
	}
	status := strconv.Itoa(e.Status)
	described, ok := object(op.value["responses"])[status]
	if !ok {
		note("the status %s is not described", status)
		return wrong
	}
	response := op.document.resolve(described)
	at := pointer(op.at+"/responses/"+status, described)
	headers(op, e, response, note)
	c.body(op, e, response, at, note)
	return wrong
}

// request checks what was sent with a request that was answered well.
func (c *Checker) request(op *operation, e *Exchange, note func(string, ...any)) {
	values, _ := url.ParseQuery(e.Query)
	for name, schema := range op.query {
		if enum := array(object(schema)["enum"]); len(enum) > 0 && values.Get(name) != "" &&
			!slices.Contains(enum, any(values.Get(name))) {
			note("the query parameter %s was answered with %q, which its description does not allow",
				name, values.Get(name))
		}
	}
	sent := bytes.TrimSpace(e.Sent)
	if op.fields == nil || e.Cut || len(sent) == 0 || string(sent) == "null" {
		return
	}
	content := object(op.document.resolve(op.value["requestBody"])["content"])
	if content["application/json"] == nil {
		return
	}
	at := pointer(op.at+"/requestBody", op.value["requestBody"])
	if err := c.validate(op.document.name+at+"/content/application~1json/schema",
		taken(sent, e.Asked)); err != nil {
		note("the request was taken, and is not as described: %v", err)
	}
}

// taken is a body without the fields that were not looked for: what nobody
// reads, such as a preview's field without the preview, may be anything.
func taken(sent []byte, asked map[string]bool) []byte {
	var fields map[string]json.RawMessage
	if asked == nil || json.Unmarshal(sent, &fields) != nil {
		return sent
	}
	for name := range fields {
		if !asked[name] {
			delete(fields, name)
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return sent
	}
	return text
}

// pointer is where a part of a document is that stands at a place: there, or
// where a reference leads.
func pointer(at string, v any) string {
	if ref, ok := object(v)["$ref"].(string); ok {
		return ref
	}
	return at
}

// linked are headers that an operation has or has not.
var linked = [...]string{"ETag", "Last-Modified", "Link", "Location", "Retry-After", "WWW-Authenticate"}

func headers(op *operation, e *Exchange, response map[string]any, note func(string, ...any)) {
	if e.Status == http.StatusNotModified {
		return
	}
	described := object(response["headers"])
	for _, name := range linked {
		if e.Header.Get(name) != "" && described[name] == nil {
			note("the header %s of status %d is not described", name, e.Status)
		}
	}
}

// body checks what was answered.
func (c *Checker) body(
	op *operation, e *Exchange, response map[string]any, at string, note func(string, ...any),
) {
	content := object(response["content"])
	if e.Method == http.MethodHead || e.Cut {
		return
	}
	if len(content) == 0 {
		if len(e.Body) > 0 {
			note("status %d has a body, and none is described", e.Status)
		}
		return
	}
	if len(e.Body) == 0 && response["x-empty"] != nil {
		return
	}
	kind, _, _ := strings.Cut(e.Header.Get("Content-Type"), ";")
	if content[kind] == nil {
		if content["*/*"] == nil {
			note("the media type %q of status %d is not described", kind, e.Status)
		}
		return
	}
	if object(content[kind])["schema"] == nil || !strings.HasSuffix(kind, "json") {
		return
	}
	where := op.document.name + at + "/content/" + escape(kind) + "/schema"
	if c.enough(where, e.Body) {
		return
	}
	if err := c.validate(where, e.Body); err != nil {
		note("status %d is not as described: %v\n%s", e.Status, err, shorten(e.Body))
	}
}
