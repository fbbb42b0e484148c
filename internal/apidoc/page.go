package apidoc

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"arbor/internal/markdown"
)

//go:embed page
var pageFiles embed.FS

// Number is an error number of the plant store, with what leads to it.
type Number struct {
	Number int32
	Status int
	When   string
}

// Address is one that the server has beside the two services: for git, and for
// people.
type Address struct{ Method, Pattern, About string }

// ID is its anchor.
func (a Address) ID() string { return Operation(a.Method, a.Pattern) }

// Page is what people read.
type Page struct {
	HTML   []byte
	Policy string // its Content-Security-Policy: one stylesheet and nothing else
}

// NewPage makes the page of both services: each operation at its anchor, then
// the payloads and the failures that many share; and of the server's other
// addresses, whose errors lead here too (decision 15).
func NewPage(numbers []Number, others []Address) (*Page, error) {
	css, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return nil, err
	}
	hosting, err := loadCodeHosting()
	if err != nil {
		return nil, err
	}
	store, err := loadPlants()
	if err != nil {
		return nil, err
	}
	// Trusted: it is compiled in, and holds nothing that anyone sent.
	style := template.CSS(css)
	t, err := template.New("").Funcs(template.FuncMap{"style": func() template.CSS { return style }}).ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return nil, err
	}
	data := map[string]any{
		"Services": []*serviceView{newService(hosting, "code-hosting"), newService(store, "plants")},
		"Numbers":  numbers,
		"Others":   others,
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "docs.html", data); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(css)
	return &Page{HTML: b.Bytes(), Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}, nil
}

// serviceView is a document as the template shows it.
type serviceView struct {
	Name    string // of its address
	Title   string
	Summary string
	About   template.HTML
	Tags    []*tagView
	Schemas []schemaView
	Shared  []responseView // failures that many operations have
}

type tagView struct {
	Name       string
	ID         string
	About      template.HTML
	Operations []operationView
}

type operationView struct {
	ID, Method, Path, Summary string
	About                     template.HTML
	Right                     string
	Kinds, Previews           []string
	Parameters                []parameterView
	Body                      *bodyView
	Responses                 []responseView
	Failures                  []responseView // for reasons of its own, in a line each
	Others                    []responseView // those that all have, by status alone
	Curl                      string
}

type parameterView struct {
	Name, In string
	Required bool
	Type     template.HTML
	About    template.HTML
}

type bodyView struct {
	Required bool
	About    template.HTML
	Type     template.HTML
	Fields   []fieldView
	Example  string
}

type responseView struct {
	Status  string
	Name    string // of one that many have
	ID      string
	About   template.HTML
	Headers []parameterView
	Bodies  []contentView
}

type contentView struct {
	Media   string
	Also    []string // media types of the same body, for GitHub's clients
	Type    template.HTML
	Fields  []fieldView
	Example string
}

type viewer struct {
	d    *document
	name string
}

func newService(d *document, name string) *serviceView {
	v := &viewer{d, name}
	info := d.root.get("info")
	s := &serviceView{Name: name, Title: info.get("title").text(), Summary: info.get("summary").text(), About: prose(info.get("description"))}
	byTag := map[string]*tagView{}
	for _, t := range d.root.get("tags").itemsOf() {
		tag := &tagView{Name: t.get("name").text(), ID: name + "-" + t.get("name").text(), About: prose(t.get("description"))}
		byTag[tag.Name] = tag
		s.Tags = append(s.Tags, tag)
	}
	_ = d.eachOperation(func(method, path string, op *node) error {
		for _, t := range op.get("tags").itemsOf() {
			if tag := byTag[t.text()]; tag != nil {
				tag.Operations = append(tag.Operations, v.operation(method, path, op))
			}
		}
		return nil
	})
	for _, key := range slices.Sorted(slices.Values(d.root.get("components", "schemas").keysOf())) {
		s.Schemas = append(s.Schemas, v.schema(key))
	}
	for _, key := range d.root.get("components", "responses").keysOf() {
		shared := v.response(d.root.get("components", "responses", key))
		shared.Name, shared.ID = key, v.sharedID(key)
		s.Shared = append(s.Shared, shared)
	}
	return s
}

func (v *viewer) sharedID(key string) string { return v.name + "-response-" + key }

// prose is a description, which is Markdown.
func prose(n *node) template.HTML {
	// Trusted: package markdown sanitizes, and the source is compiled in.
	return template.HTML(markdown.Parse(n.text()).HTML(markdown.Links{}))
}

// plainText is what stands in HTML as it does in Markdown.
var plainText = regexp.MustCompile(`^[A-Za-z0-9 ,.;:()/%-]*$`)

// line is a short description, without the paragraph around it.
func line(n *node) template.HTML {
	if text := n.text(); plainText.MatchString(text) {
		return template.HTML(text)
	}
	s := strings.TrimSpace(string(prose(n)))
	if inner, ok := strings.CutPrefix(s, "<p>"); ok && strings.Count(s, "<p>") == 1 && strings.HasSuffix(inner, "</p>") {
		s = strings.TrimSuffix(inner, "</p>")
	}
	return template.HTML(s)
}

// resolved follows a reference of an expanded document, where all lead
// somewhere.
func (v *viewer) resolved(n *node) *node {
	to, err := v.d.resolve(n)
	if err != nil {
		return newObject()
	}
	return to
}

func (v *viewer) operation(method, path string, op *node) operationView {
	o := operationView{
		ID: op.get("operationId").text(), Method: strings.ToUpper(method), Path: path, Summary: op.get("summary").text(),
		About: prose(op.get("description")), Right: describe(op.get("x-right").text()),
		Kinds: kinds(op.get("x-media-types")), Previews: texts(op.get("x-previews")),
	}
	for _, p := range op.get("parameters").itemsOf() {
		p = v.resolved(p)
		o.Parameters = append(o.Parameters, v.parameter(p.get("name").text(), p))
	}
	if body := v.resolved(op.get("requestBody")); body != nil && op.get("requestBody") != nil {
		b := v.content("application/json", body.get("content", "application/json"))
		if b.Fields == nil {
			b.Fields = v.fields(v.resolved(body.get("content", "application/json", "schema")))
		}
		o.Body = &bodyView{Required: string(body.get("required").scalarOf()) == "true", About: prose(body.get("description")),
			Type: b.Type, Fields: b.Fields, Example: b.Example}
	}
	for _, status := range op.get("responses").keysOf() {
		r := op.get("responses", status)
		if key, ok := strings.CutPrefix(r.get("$ref").text(), "#/components/responses/"); ok && status >= "300" {
			failure := responseView{Status: status, ID: v.sharedID(key), About: line(v.resolved(r).get("description"))}
			if about := r.get("description"); about != nil {
				failure.About = line(about)
			} else if slices.Contains(everywhere[:], key) {
				o.Others = append(o.Others, failure)
				continue
			}
			o.Failures = append(o.Failures, failure)
			continue
		}
		answer := v.response(v.resolved(r))
		answer.Status = status
		o.Responses = append(o.Responses, answer)
	}
	o.Curl = v.curl(&o, op)
	return o
}

func (n *node) scalarOf() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.scalar
}

func texts(n *node) []string {
	var list []string
	for _, item := range n.itemsOf() {
		list = append(list, item.text())
	}
	return list
}

// everywhere are the failures that say nothing of an operation: see addFailures.
var everywhere = [...]string{"Moved", "TemporaryRedirect", "NotModified", "BadRequest", "Unauthorized", "Forbidden", "NotFound", "TooLarge",
	"UnsupportedMedia", "ServerError", "Unavailable"}

// kinds are representations as a media type names them: what is no JSON does not
// say +json.
func kinds(n *node) []string {
	list := texts(n)
	for i, k := range list {
		if k != "diff" && k != "patch" && k != "sha" {
			list[i] = k + "+json"
		}
	}
	return list
}

// describe is a right in a person's words.
func describe(right string) string {
	switch right {
	case "anyone":
		return "Open to anyone."
	case "signed in":
		return "Needs a token."
	case "pull":
		return "Needs pull access to the repository; everyone has it on a public one."
	case "push":
		return "Needs push access to the repository."
	default:
		return "Needs administrative rights on the repository."
	}
}

func (v *viewer) parameter(name string, p *node) parameterView {
	return parameterView{Name: name, In: p.get("in").text(), Required: string(p.get("required").scalarOf()) == "true",
		Type: v.kind(p.get("schema")), About: line(p.get("description"))}
}

func (v *viewer) response(r *node) responseView {
	out := responseView{About: line(r.get("description"))}
	for _, name := range r.get("headers").keysOf() {
		if strings.HasPrefix(name, "X-") {
			continue // every answer has them: the service's description says so
		}
		out.Headers = append(out.Headers, v.parameter(name, v.resolved(r.get("headers", name))))
	}
	for _, media := range r.get("content").keysOf() {
		if strings.HasPrefix(media, githubType) { // see addKinds
			text := slices.IndexFunc(out.Bodies, func(c contentView) bool { return c.Media == "text/plain" })
			out.Bodies[text].Also = append(out.Bodies[text].Also, media)
			continue
		}
		out.Bodies = append(out.Bodies, v.content(media, r.get("content", media)))
	}
	return out
}

func (v *viewer) content(media string, n *node) contentView {
	c := contentView{Media: media}
	if n == nil {
		return c
	}
	schema := n.get("schema")
	c.Type = v.kind(schema)
	if schema.get("$ref") == nil {
		c.Fields = v.fields(schema)
	}
	if e := n.get("example"); e != nil {
		c.Example = e.pretty()
	}
	return c
}

// pretty is the JSON of an example in lines; of a text, the text.
func (n *node) pretty() string {
	if s := n.text(); s != "" {
		return s
	}
	text, err := n.json()
	var b bytes.Buffer
	if err != nil || json.Indent(&b, text, "", "  ") != nil {
		return ""
	}
	return b.String()
}
