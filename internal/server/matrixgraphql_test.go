package server_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/db"
	"arbor/internal/graphql/schema"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
)

// mostStatements bounds what one query of the walk runs.
const mostStatements = 400

// All fields of all types, by the shortest ways from repositories, a person, an organization and the query itself, are
// asked by every kind of caller: nobody gets to know what they do not see, and nothing fails or costs much. By default some
// types are asked by few callers, with the build tag long all of them by all.
func TestGraphQLTellsNothing(t *testing.T) {
	t.Parallel()
	if testenv.Race {
		t.Skip("asks one request after another")
	}
	m := newMatrix(t, db.SQLite)
	m.hide(t)
	routes := m.Server.Server.Routes()
	to := &routes[slices.IndexFunc(routes, func(r route.Route) bool { return r.Pattern == "/graphql" })]
	callers := []caller{{"stranger", ""}, {"reader", ""}, {fixture.Bot, ""}}
	if testenv.Long {
		callers = []caller{{fixture.Bot, ""}, poor}
		for _, login := range fixture.People {
			callers = append(callers, caller{login, ""})
		}
		for _, kind := range kinds {
			callers = append(callers, caller{"keeper", kind}, caller{"owner", kind})
		}
	}
	s, next := schema.Load(), 0
	for _, top := range m.tops() {
		for n, q := range walkOf(s, top) {
			if next++; !testenv.Long && n > 0 && next%40 != 0 {
				continue
			}
			send, err := json.Marshal(map[string]string{"query": q})
			if err != nil {
				t.Fatal(err)
			}
			for _, as := range callers {
				m.issue(t, as)
				m.ran.take()
				e := m.again(t, &exchange{route: to, home: top.home, as: as}, apitest.Case{Do: "POST /graphql", Send: string(send)})
				if e.Status >= 500 || strings.Contains(string(e.Body), "Something went wrong") {
					t.Errorf("%s as %s: %d %.500s", q, as.name(), e.Status, e.Body)
				}
				if n := len(m.ran.take()); n > mostStatements {
					t.Errorf("%s as %s: %d statements", q, as.name(), n)
				}
				if as.login != "" && as.valid() && !strings.Contains(string(e.Body), `"data":`) {
					t.Errorf("%s as %s did not run: %.500s", q, as.name(), e.Body)
				}
				// The error repeats the name that was asked for.
				e.Body = bytes.ReplaceAll(e.Body, []byte("'"+top.home.Owner+"/"+top.home.Name+"'"), nil)
				tellsNothing(m, t, e)
			}
		}
	}
	t.Logf("%d queries, %d callers", next, len(callers))
}

// top is where a walk begins.
type top struct {
	kind, before, after string
	home                *fixture.Home
}

func (m *matrix) tops() (list []top) {
	for _, h := range m.Homes {
		if h.Private || testenv.Long {
			list = append(list, top{"Repository", `{repository(owner:"` + h.Owner + `",name:"` + h.Name + `"){`, "}}", h})
		}
	}
	at := m.Homes[0]
	return append(list, top{"User", `{user(login:"keeper"){`, "}}", at},
		top{"Organization", `{organization(login:"guild"){`, "}}", at}, top{"Query", "{", "}", at})
}

// walkOf returns a query for each type that can be met below a top, with all of its fields.
func walkOf(s *ast.Schema, from top) (queries []string) {
	type way struct{ kind, before, after string }
	seen, queue := map[string]bool{from.kind: true}, []way{{from.kind, from.before, from.after}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		var all strings.Builder
		for _, f := range s.Types[at.kind].Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			to := s.Types[f.Type.Name()]
			open, end := f.Name+argumentsOf(s, f)+"{__typename ", "}"
			if to.Kind == ast.Scalar || to.Kind == ast.Enum {
				all.WriteString(f.Name + argumentsOf(s, f) + " ")
				continue
			}
			if nodes := to.Fields.ForName("nodes"); nodes != nil && strings.HasSuffix(to.Name, "Connection") {
				to, open, end = s.Types[nodes.Type.Name()], open+"nodes{__typename ", "}}"
			}
			all.WriteString(open + leaves(s, to) + end + " ")
			for _, k := range s.GetPossibleTypes(to) {
				if !seen[k.Name] {
					seen[k.Name] = true
					queue = append(queue, way{k.Name, at.before + open + "...on " + k.Name + "{", "}" + end + at.after})
				}
			}
		}
		queries = append(queries, at.before+all.String()+at.after)
	}
	return queries
}

// leaves are the fields of a type without arguments and selections.
func leaves(s *ast.Schema, d *ast.Definition) string {
	var list []string
	for _, f := range d.Fields {
		k := s.Types[f.Type.Name()].Kind
		if !strings.HasPrefix(f.Name, "__") && (k == ast.Scalar || k == ast.Enum) && len(f.Arguments) == 0 {
			list = append(list, f.Name)
		}
	}
	return strings.Join(list, " ")
}

// walked are values of arguments that lead to something.
var walked = map[string]string{"first": "2", "number": "1", "login": `"guild"`, "owner": `"guild"`,
	"refPrefix": `"refs/heads/"`, "expression": `"main"`, "qualifiedName": `"main"`, "path": `"README.md"`,
	"headRef": `"main"`, "slug": `"gardeners"`, "query": `"a"`, "capabilities": "[CAN_BE_ASSIGNED]"}

// argumentsOf gives a field's arguments values: those that it needs, and the first of a list.
func argumentsOf(s *ast.Schema, f *ast.FieldDefinition) string {
	var list []string
	for _, a := range f.Arguments {
		if !a.Type.NonNull && a.Name != "first" && a.Name != "refPrefix" && a.Name != "expression" || a.DefaultValue != nil {
			continue
		}
		value := walked[a.Name]
		if value == "" {
			value = valueOf(s, a.Type)
		}
		list = append(list, a.Name+":"+value)
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ",") + ")"
}

// valueOf returns a value of a type, with what an input object must have.
func valueOf(s *ast.Schema, t *ast.Type) string {
	d := s.Types[t.Name()]
	switch {
	case t.Elem != nil:
		return "[]"
	case d.Kind == ast.Enum:
		return d.EnumValues[0].Name
	case d.Kind == ast.InputObject:
		var list []string
		for _, f := range d.Fields {
			if f.Type.NonNull && f.DefaultValue == nil {
				list = append(list, f.Name+":"+valueOf(s, f.Type))
			}
		}
		return "{" + strings.Join(list, ",") + "}"
	case d.Name == "Int":
		return "1"
	case d.Name == "Boolean":
		return "true"
	}
	return `"none"`
}
