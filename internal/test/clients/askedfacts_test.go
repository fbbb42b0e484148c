//go:build long

package clients

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"arbor/internal/test/testkit"
)

var updateAsked = flag.Bool("update-asked", false, "write testdata/asked anew")

// facts are the fields that a program asks for, by type, with their arguments. Variables are named as the argument.
type facts map[string][]*ast.Field

// readFacts reads a file: a fragment for each type, whose fields have no selections.
func readFacts(t *testing.T, file string) facts {
	t.Helper()
	text, err := os.ReadFile(file)
	testkit.NoError(t, err)
	q, err := parser.ParseQuery(&ast.Source{Input: string(text)})
	testkit.NoError(t, err)
	f := facts{}
	for _, d := range q.Fragments {
		for _, s := range d.SelectionSet {
			f[d.TypeCondition] = append(f[d.TypeCondition], s.(*ast.Field))
		}
	}
	return f
}

// add adds the fields of a document with one operation.
func (f facts) add(s *ast.Schema, document string) {
	q, err := parser.ParseQuery(&ast.Source{Input: document})
	if err != nil || len(validator.ValidateWithRules(s, q, lenient())) > 0 {
		return
	}
	f.addAll(q.Operations[0].SelectionSet)
	for _, d := range q.Fragments {
		f.addAll(d.SelectionSet)
	}
}

func (f facts) addAll(list ast.SelectionSet) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.Field:
			if !strings.HasPrefix(s.Name, "__") {
				f.addField(s)
			}
			f.addAll(s.SelectionSet)
		case *ast.InlineFragment:
			f.addAll(s.SelectionSet)
		}
	}
}

func (f facts) addField(s *ast.Field) {
	kind, bare := s.ObjectDefinition.Name, &ast.Field{Name: s.Name, Alias: s.Name}
	for _, a := range s.Arguments {
		v := a.Value
		if v.Kind == ast.StringValue || v.Kind == ast.BlockValue || kind == "Mutation" || varies(v) {
			v = &ast.Value{Kind: ast.Variable, Raw: a.Name}
		}
		bare.Arguments = append(bare.Arguments, &ast.Argument{Name: a.Name, Value: v})
	}
	slices.SortFunc(bare.Arguments, func(a, b *ast.Argument) int { return strings.Compare(a.Name, b.Name) })
	text := fieldText(bare)
	if !slices.ContainsFunc(f[kind], func(o *ast.Field) bool { return fieldText(o) == text }) {
		f[kind] = append(f[kind], bare)
	}
}

// varies reports a variable in a value.
func varies(v *ast.Value) bool {
	return v.Kind == ast.Variable || slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool { return varies(c.Value) })
}

// fieldText writes a field without what is below it.
func fieldText(f *ast.Field) string {
	var list []string
	for _, a := range f.Arguments {
		list = append(list, a.Name+":"+a.Value.String())
	}
	if len(list) == 0 {
		return f.Name
	}
	return f.Name + "(" + strings.Join(list, " ") + ")"
}

// write writes a file that readFacts reads.
func (f facts) write(t *testing.T, file string) {
	t.Helper()
	var out strings.Builder
	out.WriteString("# The fields that " + strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".graphql") +
		" asks for, by type. Written by TestOperationsOfPrograms.\n")
	for _, kind := range slices.Sorted(maps.Keys(f)) {
		var fields []string
		for _, one := range f[kind] {
			fields = append(fields, fieldText(one))
		}
		slices.Sort(fields)
		fmt.Fprintf(&out, "fragment %s on %[1]s {%s}\n", kind, strings.Join(fields, " "))
	}
	testkit.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
}

// one is an operation in a document of its own.
type one struct{ document, operation string }

// apart takes a document apart into operations with the fragments that each uses.
func apart(text string) (list []one, err error) {
	q, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return nil, err
	}
	for _, op := range q.Operations {
		alone, used := &ast.QueryDocument{Operations: ast.OperationList{op}}, map[string]bool{}
		var walk func(ast.SelectionSet)
		walk = func(selections ast.SelectionSet) {
			for _, s := range selections {
				switch s := s.(type) {
				case *ast.Field:
					walk(s.SelectionSet)
				case *ast.InlineFragment:
					walk(s.SelectionSet)
				case *ast.FragmentSpread:
					if d := q.Fragments.ForName(s.Name); d != nil && !used[s.Name] {
						used[s.Name] = true
						alone.Fragments = append(alone.Fragments, d)
						walk(d.SelectionSet)
					}
				}
			}
		}
		walk(op.SelectionSet)
		var out bytes.Buffer
		formatter.NewFormatter(&out).FormatQueryDocument(alone)
		list = append(list, one{out.String(), op.Name})
	}
	return list, nil
}

// writer writes one query.
type writer struct {
	facts
	schema    *ast.Schema
	variables []string
	next      int
}

// queries writes a query for each way to a type that the program meets, with all fields that it asks of it, and each mutation.
func (f facts) queries(s *ast.Schema) (list []one) {
	type way struct {
		kind string
		to   []step
	}
	const ways = 3 // to a type: one may lead to nothing
	seen, queue := map[string]int{"Query": ways}, []way{{kind: "Query"}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		w := &writer{facts: f, schema: s}
		list = append(list, w.query(at.to, at.kind))
		for _, field := range f.of(s, at.kind) {
			if counts(s, at.kind, field) {
				continue
			}
			to := s.Types[s.Types[at.kind].Fields.ForName(field.Name).Type.Name()]
			for _, kind := range f.kinds(s, to) {
				if seen[kind] < ways {
					seen[kind]++
					queue = append(queue, way{kind, append(slices.Clone(at.to), step{at.kind, field, kind})})
				}
			}
		}
	}
	for _, field := range f["Mutation"] {
		w := &writer{facts: f, schema: s}
		text := w.field("Mutation", field, true)
		list = append(list, one{"mutation " + field.Name + w.defined() + "{" + text + "}", field.Name})
	}
	return list
}

// step leads from a type by a field to another.
type step struct {
	kind  string
	field *ast.Field
	to    string
}

// counts reports a connection that is asked for its number alone: its nodes need first or last.
func counts(s *ast.Schema, kind string, f *ast.Field) bool {
	d := s.Types[kind].Fields.ForName(f.Name)
	return strings.HasSuffix(d.Type.Name(), "Connection") && f.Arguments.ForName("first") == nil &&
		f.Arguments.ForName("last") == nil
}

// of returns the fields that are asked of a type and of its interfaces.
func (f facts) of(s *ast.Schema, kind string) []*ast.Field {
	list := slices.Clone(f[kind])
	for _, i := range s.Types[kind].Interfaces {
		for _, field := range f[i] {
			if !slices.ContainsFunc(list, func(o *ast.Field) bool { return o.Name == field.Name }) {
				list = append(list, field)
			}
		}
	}
	return list
}

// kinds are the types of objects that the program asks something of, and a field's value may have.
func (f facts) kinds(s *ast.Schema, d *ast.Definition) (list []string) {
	if d.Kind == ast.Scalar || d.Kind == ast.Enum {
		return nil
	}
	for _, p := range s.GetPossibleTypes(d) {
		if len(f[p.Name]) > 0 || d.Kind == ast.Object {
			list = append(list, p.Name)
		}
	}
	return list
}

func (w *writer) query(way []step, kind string) one {
	inner := w.selection(kind, true)
	for _, s := range slices.Backward(way) {
		if d := w.schema.Types[w.schema.Types[s.kind].Fields.ForName(s.field.Name).Type.Name()]; d.Name != s.to {
			inner = "__typename ...on " + s.to + "{" + inner + "}"
		}
		inner = s.field.Name + w.arguments(s.kind, s.field) + "{" + inner + "}"
	}
	return one{"query asks" + kind + w.defined() + "{" + inner + "}", "asks" + kind}
}

// selection asks for what the program asks of a type; deep also for what is at hand of the objects below.
func (w *writer) selection(kind string, deep bool) string {
	list := []string{"__typename"}
	for _, f := range w.of(w.schema, kind) {
		if text := w.field(kind, f, deep); text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, " ")
}

func (w *writer) field(kind string, f *ast.Field, deep bool) string {
	d := w.schema.Types[w.schema.Types[kind].Fields.ForName(f.Name).Type.Name()]
	inner := ""
	if d.Kind != ast.Scalar && d.Kind != ast.Enum {
		if counts(w.schema, kind, f) {
			w.next++
			return fmt.Sprintf("f%d:%s%s{totalCount}", w.next, f.Name, w.arguments(kind, f))
		}
		through := strings.HasSuffix(d.Name, "Connection") || strings.HasSuffix(d.Name, "Edge")
		if !deep && !through {
			return ""
		}
		if kinds := w.kinds(w.schema, d); d.Kind == ast.Object {
			// what a mutation deleted is not asked further
			whole := kind == "Mutation" && !strings.HasPrefix(f.Name, "delete")
			inner = "{" + w.selection(d.Name, through && deep || whole) + "}"
		} else {
			parts := []string{"__typename"}
			for _, k := range kinds {
				parts = append(parts, "...on "+k+"{"+w.selection(k, false)+"}")
			}
			inner = "{" + strings.Join(parts, " ") + "}"
		}
	}
	w.next++
	return fmt.Sprintf("f%d:%s%s%s", w.next, f.Name, w.arguments(kind, f), inner)
}

// arguments writes those of a field. What varies becomes a variable.
func (w *writer) arguments(kind string, f *ast.Field) string {
	var list []string
	for _, a := range f.Arguments {
		v := a.Value.String()
		if v == "100" { // lists below lists have more ways than the programs go
			v = "20"
		}
		if a.Value.Kind == ast.Variable {
			w.next++
			v = fmt.Sprintf("$v%d", w.next)
			w.variables = append(w.variables, v+":"+
				w.schema.Types[kind].Fields.ForName(f.Name).Arguments.ForName(a.Name).Type.String())
		}
		list = append(list, a.Name+":"+v)
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ",") + ")"
}

func (w *writer) defined() string {
	if len(w.variables) == 0 {
		return ""
	}
	return "(" + strings.Join(w.variables, ",") + ")"
}
