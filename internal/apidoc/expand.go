package apidoc

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// document is a description on its way from the source to what is served.
type document struct {
	root     *node
	standard bool // its operations share the failures of the code-hosting API
}

var methods = []string{"get", "post", "patch", "put", "delete"}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// expand writes out the shorthands (see the package's comment).
func (d *document) expand(rights Rights) error {
	closePayloads(d.root)
	err := d.eachOperation(func(method, path string, op *node) error {
		return d.expandOperation(method, path, rights(strings.ToUpper(method), path), op)
	})
	if err != nil {
		return err
	}
	d.addCommonHeaders()
	x := &examples{d: d}
	for _, name := range d.root.get("components", "responses").keysOf() {
		content := d.root.get("components", "responses", name, "content")
		addKinds(content)
		x.addTo(content)
	}
	err = d.eachOperation(func(_, _ string, op *node) error {
		x.addTo(op.get("requestBody", "content"))
		for _, status := range op.get("responses").keysOf() {
			content := op.get("responses", status, "content")
			addKinds(content)
			x.addTo(content)
		}
		return x.err
	})
	return err
}

// githubType begins the media types of GitHub's tree.
const githubType = "application/vnd.github."

// addKinds writes out x-kinds: GitHub's clients get a text under the type that
// they asked for, with or without the version (web.Media.Text).
func addKinds(content *node) {
	text := content.get("text/plain")
	if text == nil {
		return
	}
	for _, kind := range text.drop("x-kinds").itemsOf() {
		content.with(githubType+kind.text(), text)
		content.with(githubType+"v3."+kind.text(), text)
	}
}

func (n *node) keysOf() []string {
	if n == nil {
		return nil
	}
	return n.keys
}

// eachOperation calls fn for every operation in the order of the document.
func (d *document) eachOperation(fn func(method, path string, op *node) error) error {
	for _, path := range d.root.get("paths").keysOf() {
		for _, method := range methods {
			op := d.root.get("paths", path, method)
			if op == nil {
				continue
			}
			if err := fn(method, path, op); err != nil {
				return fmt.Errorf("%s %s: %w", strings.ToUpper(method), path, err)
			}
		}
	}
	return nil
}

// resolve follows a reference; anything else is returned as it is.
func (d *document) resolve(n *node) (*node, error) {
	for n.get("$ref") != nil {
		name := n.get("$ref").text()
		path, ok := strings.CutPrefix(name, "#/")
		if ok {
			n = d.root.get(strings.Split(path, "/")...)
		}
		if !ok || n == nil {
			return nil, fmt.Errorf("%s leads nowhere", name)
		}
	}
	return n, nil
}

// closePayloads writes out x-payload and x-optional, wherever they are.
func closePayloads(n *node) {
	if n == nil {
		return
	}
	for _, item := range n.items {
		closePayloads(item)
	}
	if n.isObject() && n.get("x-payload") != nil && n.get("x-payload").fields == nil {
		closePayload(n)
	}
	for _, key := range n.keysOf() {
		closePayloads(n.fields[key])
	}
}

func closePayload(n *node) {
	kind := n.drop("x-payload").text()
	required := newArray()
	properties := n.get("properties")
	for _, key := range properties.keysOf() {
		if p := properties.fields[key]; !p.isObject() || p.drop("x-optional") == nil {
			required.items = append(required.items, newString(key))
		}
	}
	if n.get("type") == nil {
		n.with("type", newString("object"))
	}
	if len(required.items) > 0 && n.get("required") == nil {
		n.with("required", required)
	}
	if kind != "closed" {
		return
	}
	for _, part := range [...]string{"allOf", "oneOf", "anyOf", "$ref"} {
		if n.get(part) != nil {
			n.with("unevaluatedProperties", newScalar("false"))
			return
		}
	}
	n.with("additionalProperties", newScalar("false"))
}

// expandOperation adds to an operation its id, its right, its placeholders and pages, and
// the failures that all have.
func (d *document) expandOperation(method, path, right string, op *node) error {
	if right == "" {
		return fmt.Errorf("it is described but is not a route")
	}
	op.with("operationId", newString(Operation(method, path)))
	op.with("x-right", newString(right))
	if !op.get("responses").isObject() {
		return fmt.Errorf("no responses")
	}
	if err := d.addParameters(path, op); err != nil {
		return err
	}
	if !d.standard {
		return nil
	}
	if op.get("security") == nil && (method != "get" || right != "anyone" && right != "pull") {
		op.with("security", newArray(newObject().with("token", newArray()),
			newObject().with("basic", newArray())))
	}
	d.addFailures(method, path, right, op)
	ok := op.get("responses", "200").get("content")
	if method == "get" && (ok.get("application/json") != nil || ok.get("application/scim+json") != nil) {
		addHeader(op.get("responses", "200"), "ETag")
	}
	return nil
}

func (d *document) addParameters(path string, op *node) error {
	have := map[string]bool{}
	for _, p := range op.get("parameters").itemsOf() {
		p, err := d.resolve(p)
		if err != nil {
			return err
		}
		have[p.get("in").text()+" "+p.get("name").text()] = true
	}
	added := newArray()
	for _, m := range placeholder.FindAllStringSubmatch(path, -1) {
		if have["path "+m[1]] {
			continue
		}
		if d.root.get("components", "parameters", m[1]) == nil {
			return fmt.Errorf("the placeholder %s is not described", m[1])
		}
		added.items = append(added.items, ref("parameters", m[1]))
	}
	added.items = append(added.items, op.get("parameters").itemsOf()...)
	if op.drop("x-list") != nil {
		added.items = append(added.items, ref("parameters", "per_page"), ref("parameters", "page"))
		addHeader(op.get("responses", "200"), "Link")
	}
	if len(added.items) > 0 {
		op.with("parameters", added)
	}
	return nil
}

func (n *node) itemsOf() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// addCommonHeaders adds what every answer has.
func (d *document) addCommonHeaders() {
	add := func(responses *node) {
		for _, key := range responses.keysOf() {
			addHeader(responses.fields[key], "X-Request-Id")
			if d.standard {
				addHeader(responses.fields[key], "X-Service-Media-Type")
			}
		}
	}
	add(d.root.get("components", "responses"))
	_ = d.eachOperation(func(_, _ string, op *node) error {
		add(op.get("responses"))
		return nil
	})
}

func addHeader(response *node, name string) {
	if response.isObject() && response.get("$ref") == nil && response.object("headers").get(name) == nil {
		response.object("headers").with(name, ref("headers", name))
	}
}

// addFailures adds what the server answers before an operation's handler runs:
// see Server.enter and repo.With.
func (d *document) addFailures(method, path, right string, op *node) {
	responses := op.get("responses")
	scim := op.drop("x-scim") != nil
	add := func(status, name string) {
		if scim && name != "NotModified" {
			name = "Scim" + name
		}
		if responses.get(status) == nil {
			responses.with(status, ref("responses", name))
		}
	}
	if ok, err := d.resolve(responses.get("200")); method == "get" && err == nil && ok.get("content") != nil {
		add("304", "NotModified")
	}
	if strings.Contains(path, "{repo}") {
		if method == "get" {
			add("301", "Moved")
		} else {
			add("307", "TemporaryRedirect")
		}
	}
	if strings.Contains(path, "{") || right == "site admin" {
		add("404", "NotFound")
	}
	if op.get("requestBody") != nil {
		add("400", "BadRequest")
	}
	add("401", "Unauthorized")
	add("403", "Forbidden")
	addHeader(responses.get("403"), "Retry-After") // of the rate limit, which all have
	if method != "get" {
		add("413", "TooLarge")
		add("507", "NoRoom")
	}
	add("415", "UnsupportedMedia")
	add("429", "TooManyRequests")
	add("500", "ServerError")
	add("503", "Unavailable")
	slices.Sort(responses.keys)
}
