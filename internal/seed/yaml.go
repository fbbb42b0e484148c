package seed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Bounds on what a small file can unfold to, by aliases and by nesting.
const (
	maxNodes = 1_000_000
	maxDepth = 64
)

// Load reads and checks the seed in a file. Paths in it are relative to its
// folder. Errors: *Error for what stands in it.
func Load(file string) (*Seed, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	return Parse(file, filepath.Dir(file), text)
}

// Parse reads and checks a seed. file is what errors call it, dir what paths in
// it are relative to. Errors: *Error.
func Parse(file, dir string, text []byte) (*Seed, error) {
	if len(text) > MaxSize {
		return nil, &Error{file, []Problem{{Text: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}}}
	}
	s := &Seed{File: file, Dir: dir, Digest: sha256.Sum256(text)}
	d := &decoder{left: maxNodes}
	if root := d.parse(text); root != nil {
		d.value(root, "", reflect.ValueOf(s).Elem())
	}
	if len(d.problems) == 0 {
		d.problems = s.check()
	}
	if len(d.problems) == 0 {
		return s, nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return a.Line - b.Line })
	return nil, &Error{file, d.problems[:min(len(d.problems), maxProblems)]}
}

// decoder turns nodes of YAML into the types of the format, and notes what is
// wrong on the way.
type decoder struct {
	left     int // nodes that may still be read
	depth    int
	problems []Problem
}

func (d *decoder) wrong(n *yaml.Node, path, format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{n.Line, path, fmt.Sprintf(format, args...)})
	}
}

// parse returns the root of the text; nil when it is empty or not YAML.
func (d *decoder) parse(text []byte) *yaml.Node {
	if strings.TrimSpace(string(text)) == "" {
		return nil // a seed of nothing
	}
	var root yaml.Node
	err := yaml.Load(text, &root)
	var at *yaml.LoadError
	switch {
	case errors.As(err, &at):
		d.problems = append(d.problems, Problem{Line: at.Mark.Line,
			Text: "is not valid YAML: " + strings.TrimPrefix(at.Message, "yaml: ")})
		return nil
	case err != nil:
		d.problems = append(d.problems, Problem{Text: "is not one document of YAML"})
		return nil
	case len(root.Content) != 1:
		return nil
	}
	return root.Content[0]
}

// unions read themselves, since they can be said in several ways.
type union interface {
	fromYAML(d *decoder, n *yaml.Node, path string)
}

// value reads a node into a value of one of the format's types.
func (d *decoder) value(n *yaml.Node, path string, into reflect.Value) {
	n, ok := d.enter(n, path)
	if !ok {
		return
	}
	defer func() { d.depth-- }()
	if u, ok := into.Addr().Interface().(union); ok {
		u.fromYAML(d, n, path)
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		p := reflect.New(into.Type().Elem())
		d.value(n, path, p.Elem())
		into.Set(p)
	case reflect.Slice:
		d.list(n, path, into)
	case reflect.Struct:
		if at, ok := into.Addr().Interface().(*time.Time); ok {
			d.time(n, path, at)
			return
		}
		d.mapping(n, path, into)
	default:
		d.scalar(n, path, into)
	}
}

// enter follows aliases and keeps the bounds.
func (d *decoder) enter(n *yaml.Node, path string) (*yaml.Node, bool) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if d.left--; d.left < 0 {
		if d.left == -1 {
			d.wrong(n, path, "the aliases unfold to more than %d values", maxNodes)
		}
		return nil, false
	}
	if d.depth >= maxDepth {
		d.wrong(n, path, "is nested too deeply")
		return nil, false
	}
	d.depth++
	return n, true
}

func (d *decoder) list(n *yaml.Node, path string, into reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, path, "must be a list")
		return
	}
	for i, item := range n.Content {
		if d.left < 0 {
			return
		}
		v := reflect.New(into.Type().Elem())
		d.value(item, fmt.Sprintf("%s[%d]", path, i), v.Elem())
		into.Set(reflect.Append(into, v.Elem()))
	}
}

// pair is a key of a mapping with its value.
type pair struct {
	name  string
	key   *yaml.Node
	value *yaml.Node
}

// pairs reads a mapping. Pairs merged with "<<" are last, without keys that the mapping itself has. ok is
// false for other nodes.
func (d *decoder) pairs(n *yaml.Node, path string) (list []pair, ok bool) {
	if n.Kind != yaml.MappingNode {
		d.wrong(n, path, "must be a mapping")
		return nil, false
	}
	lines := map[string]int{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if d.left--; d.left < 0 {
			return list, true
		}
		switch first := lines[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.wrong(key, path, "a key must be text")
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case first > 0:
			d.wrong(key, join(path, key.Value), "is said twice: first on line %d", first)
		default:
			lines[key.Value] = key.Line
			list = append(list, pair{key.Value, key, value})
		}
	}
	for _, m := range merged {
		list = d.merge(m, path, list, lines)
	}
	return list, true
}

// merge adds what "<<" brings in: a mapping, or a list of them.
func (d *decoder) merge(m *yaml.Node, path string, list []pair, lines map[string]int) []pair {
	m, ok := d.enter(m, path)
	if !ok {
		return list
	}
	defer func() { d.depth-- }()
	sources := []*yaml.Node{m}
	if m.Kind == yaml.SequenceNode {
		sources = m.Content
	}
	for _, source := range sources {
		source, ok := d.enter(source, path)
		if !ok {
			return list
		}
		more, _ := d.pairs(source, path)
		d.depth--
		for _, p := range more {
			if lines[p.name] == 0 {
				lines[p.name] = p.key.Line
				list = append(list, p)
			}
		}
	}
	return list
}

// field is a key that a mapping may have.
type field struct {
	name     string
	required bool
	enum     []string
	index    []int
}

// fieldsOf lists the keys of a type, with those of what it embeds.
func fieldsOf(t reflect.Type) (list []field) {
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("seed")
		if tag == "" {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		one := field{name: name, required: rest == "required", index: f.Index}
		if e := f.Tag.Get("enum"); e != "" {
			one.enum = strings.Split(e, ",")
		}
		list = append(list, one)
	}
	return list
}

// mapping reads a mapping into a struct.
func (d *decoder) mapping(n *yaml.Node, path string, into reflect.Value) {
	pairs, ok := d.pairs(n, path)
	if !ok {
		return
	}
	at := position{path, n.Line, map[string]int{}}
	fields := fieldsOf(into.Type())
	for _, p := range pairs {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == p.name })
		if i < 0 {
			d.wrong(p.key, join(path, p.name), "unknown key: want %s", named(fields))
			continue
		}
		at.lines[p.name] = p.key.Line
		v := into.FieldByIndex(fields[i].index)
		before := len(d.problems)
		d.value(p.value, join(path, p.name), v)
		if e := fields[i].enum; e != nil && len(d.problems) == before && !slices.Contains(e, v.String()) {
			d.wrong(p.value, join(path, p.name), "must be one of %s", strings.Join(e, ", "))
		}
	}
	for _, f := range fields {
		if f.required && at.lines[f.name] == 0 {
			d.wrong(n, path, "%s is missing", f.name)
		}
	}
	if p, ok := into.Addr().Interface().(interface{ setPosition(position) }); ok {
		p.setPosition(at)
	}
}

func named(fields []field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// scalar reads text, a number or a truth value. Nothing is converted: what looks like a
// number is text only in quotes.
func (d *decoder) scalar(n *yaml.Node, path string, into reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, path, "must be %s", kindName(into.Kind()))
		return
	}
	tag := n.ShortTag()
	switch into.Kind() {
	case reflect.String:
		if tag == "!!str" {
			into.SetString(n.Value)
			return
		}
	case reflect.Bool:
		if b, err := strconv.ParseBool(n.Value); tag == "!!bool" && err == nil {
			into.SetBool(b)
			return
		}
	case reflect.Int64:
		if i, err := strconv.ParseInt(n.Value, 10, 64); tag == "!!int" && err == nil {
			into.SetInt(i)
			return
		}
	}
	switch {
	case tag == "!!null":
		d.wrong(n, path, "is empty: give %s, or leave it out", kindName(into.Kind()))
	case into.Kind() == reflect.String:
		d.wrong(n, path, "must be text: put it in quotes")
	default:
		d.wrong(n, path, "must be %s", kindName(into.Kind()))
	}
}

func kindName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "a whole number"
	default:
		return "text"
	}
}

// time reads a moment, or a day, which is its first moment in UTC.
func (d *decoder) time(n *yaml.Node, path string, into *time.Time) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!timestamp" || n.ShortTag() == "!!str") {
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(layout, n.Value); err == nil && t.Unix() > 0 && t.Year() < 10000 {
				*into = t.UTC().Truncate(time.Second)
				return
			}
		}
	}
	d.wrong(n, path, "must be a time after 1970, such as 2026-01-31 or 2026-01-31T12:00:00Z")
}
