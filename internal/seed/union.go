package seed

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"arbor/internal/account"
)

// brief reports whether a node is text, which unions take for the short form of
// a mapping, and reads it.
func (d *decoder) brief(n *yaml.Node, path string, into *string, at *position) bool {
	if n.Kind == yaml.MappingNode {
		return false
	}
	d.scalar(n, path, reflect.ValueOf(into).Elem())
	*at = position{key: path, line: n.Line}
	return true
}

func (t *Token) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &t.Value, &t.position) {
		d.mapping(n, path, reflect.ValueOf(t).Elem())
	}
}

func (k *Key) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &k.Text, &k.position) {
		d.mapping(n, path, reflect.ValueOf(k).Elem())
	}
}

func (m *Member) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &m.Login, &m.position) {
		d.mapping(n, path, reflect.ValueOf(m).Elem())
	}
}

func (p *Person) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &p.Login, &p.position) {
		d.mapping(n, path, reflect.ValueOf(p).Elem())
	}
}

func (l *Lock) fromYAML(d *decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		d.scalar(n, path, reflect.ValueOf(&l.Locked).Elem())
		return
	}
	reasons := []string{"off-topic", "too heated", "resolved", "spam"}
	if n.Kind != yaml.ScalarNode || !slices.Contains(reasons, n.Value) {
		d.wrong(n, path, "must be true, false, off-topic, too heated, resolved or spam")
		return
	}
	l.Locked, l.Reason = true, n.Value
}

func (list *Permissions) fromYAML(d *decoder, n *yaml.Node, path string) {
	pairs, _ := d.pairs(n, path)
	for _, p := range pairs {
		one := Permission{position: position{key: join(path, p.name), line: p.key.Line}, Login: p.name}
		d.value(p.value, one.key, reflect.ValueOf(&one.Role).Elem())
		if one.Role != "" && !slices.Contains(account.Grants(), one.Role) {
			d.wrong(p.value, one.key, "must be one of %s", strings.Join(account.Grants(), ", "))
		}
		*list = append(*list, one)
	}
}

func (list *Reactions) fromYAML(d *decoder, n *yaml.Node, path string) {
	pairs, _ := d.pairs(n, path)
	for _, p := range pairs {
		one := Reaction{position: position{key: join(path, p.name), line: p.key.Line}, Content: p.name}
		d.value(p.value, one.key, reflect.ValueOf(&one.Logins).Elem())
		*list = append(*list, one)
	}
}

func (list *Files) fromYAML(d *decoder, n *yaml.Node, path string) {
	pairs, _ := d.pairs(n, path)
	for _, p := range pairs {
		one := File{Path: p.name}
		value, ok := d.enter(p.value, join(path, p.name))
		if !ok {
			return
		}
		d.depth--
		one.read(d, value, join(path, p.name))
		if one.line == 0 {
			one.position = position{key: join(path, p.name), line: p.key.Line}
		}
		*list = append(*list, one)
	}
}

// read reads the content of a file: text, a mapping, or null for a removed file.
func (f *File) read(d *decoder, n *yaml.Node, path string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		f.Removed = true
	case !d.brief(n, path, &f.Content, &f.position):
		d.mapping(n, path, reflect.ValueOf(f).Elem())
		if f.Base64 != "" && f.lines["content"] > 0 {
			d.wrong(n, path, "has both content and base64")
		}
		if _, err := base64.StdEncoding.DecodeString(f.Base64); err != nil {
			d.problems = append(d.problems, f.problem("base64", "is not valid Base64"))
		}
	}
}

// data is what the file holds.
func (f *File) data() []byte {
	if f.Base64 != "" {
		data, err := base64.StdEncoding.DecodeString(f.Base64)
		if err == nil { // as read has seen
			return data
		}
	}
	return []byte(f.Content)
}
