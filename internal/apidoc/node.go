package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"
)

// node is a value of a document. Objects keep the order in which their keys were
// written, since people read them in it.
type node struct {
	keys   []string // of an object
	fields map[string]*node
	items  []*node         // of an array
	scalar json.RawMessage // of anything else, as JSON
	list   bool
}

func newObject() *node { return &node{fields: map[string]*node{}} }

func newArray(items ...*node) *node { return &node{list: true, items: items} }

func newString(s string) *node {
	b, _ := json.Marshal(s)
	return &node{scalar: b}
}

func newScalar(text string) *node { return &node{scalar: []byte(text)} }

// ref is a reference to a component: ref("schemas", "Error").
func ref(kind, name string) *node {
	return newObject().with("$ref", newString("#/components/"+kind+"/"+name))
}

func (n *node) isObject() bool { return n != nil && n.fields != nil }

// get finds what lies at a path of keys; nil if nothing is.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		if !n.isObject() {
			return nil
		}
		n = n.fields[key]
	}
	return n
}

// with sets a key and returns the object.
func (n *node) with(key string, v *node) *node {
	if _, again := n.fields[key]; !again {
		n.keys = append(n.keys, key)
	}
	n.fields[key] = v
	return n
}

// drop removes a key and returns what it held.
func (n *node) drop(key string) *node {
	v := n.get(key)
	if v != nil {
		delete(n.fields, key)
		n.keys = slices.DeleteFunc(n.keys, func(k string) bool { return k == key })
	}
	return v
}

// text is the string that a node holds; empty for anything else.
func (n *node) text() string {
	var s string
	if n == nil || json.Unmarshal(n.scalar, &s) != nil {
		return ""
	}
	return s
}

// object finds the object under a key, or makes it.
func (n *node) object(key string) *node {
	if v := n.get(key); v.isObject() {
		return v
	}
	v := newObject()
	n.with(key, v)
	return v
}

// merge adds what another part of a document says, down to what one part alone
// may say: paths have operations of several parts, and so have the kinds of
// components.
func (n *node) merge(part *node, depth int, name string) error {
	for _, key := range part.keys {
		have, more := n.fields[key], part.fields[key]
		switch {
		case have == nil:
			n.with(key, more)
		case depth < 2 && have.isObject() && more.isObject():
			if err := have.merge(more, depth+1, name); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s: %q is there already", name, key)
		}
	}
	return nil
}

// parse reads a YAML text.
func parse(name string, text []byte) (*node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) != 1 {
		return nil, fmt.Errorf("%s: not one document", name)
	}
	n, err := convert(doc.Content[0])
	if err == nil && !n.isObject() {
		err = fmt.Errorf("not an object")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

func convert(y *yaml.Node) (*node, error) {
	switch y.Kind {
	case yaml.MappingNode:
		n := newObject()
		for i := 0; i < len(y.Content); i += 2 {
			key := y.Content[i].Value
			if n.fields[key] != nil {
				return nil, fmt.Errorf("line %d: %q is there twice", y.Content[i].Line, key)
			}
			v, err := convert(y.Content[i+1])
			if err != nil {
				return nil, err
			}
			n.with(key, v)
		}
		return n, nil
	case yaml.SequenceNode:
		n := newArray()
		for _, c := range y.Content {
			v, err := convert(c)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
		return n, nil
	case yaml.AliasNode:
		return convert(y.Alias)
	default:
		return convertScalar(y)
	}
}

// convertScalar keeps dates as they are written: JSON has none.
func convertScalar(y *yaml.Node) (*node, error) {
	switch y.ShortTag() {
	case "!!null":
		return newScalar("null"), nil
	case "!!bool", "!!int", "!!float":
		var v any
		if err := y.Decode(&v); err != nil {
			return nil, err
		}
		b, err := json.Marshal(v)
		return &node{scalar: b}, err
	default:
		return newString(y.Value), nil
	}
}

// json writes the node.
func (n *node) json() ([]byte, error) {
	var b bytes.Buffer
	if err := n.write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (n *node) write(b *bytes.Buffer) error {
	switch {
	case n.fields != nil:
		b.WriteByte('{')
		for i, key := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(newString(key).scalar)
			b.WriteByte(':')
			if err := n.fields[key].write(b); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case n.list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := item.write(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case len(n.scalar) == 0:
		return fmt.Errorf("an empty value")
	default:
		b.Write(n.scalar)
	}
	return nil
}
