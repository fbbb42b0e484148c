package answer

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

const garden = `
scalar DateTime scalar URI scalar GitObjectID scalar BigInt
interface Node { id: ID! }
enum State { OPEN CLOSED }
type Plant implements Node { id: ID! name: String! height: Int at: DateTime page: URI sha: GitObjectID
state: State! near: [Plant!]! big: BigInt }
type Stone implements Node { id: ID! weight: Float heavy: Boolean }
union Thing = Plant | Stone
type Query { plant: Plant plants: [Plant]! thing: Thing node(id: ID!): Node }
type Mutation { water: Plant }`

func TestCheck(t *testing.T) {
	t.Parallel()
	s := gqlparser.MustLoadSchema(&ast.Source{Input: garden})
	for _, c := range []struct{ query, answer, wrong string }{
		{`{plant{name a:height state near{name} ...F}} fragment F on Plant{id}`,
			`{"data":{"plant":{"name":"P","a":3,"state":"OPEN","near":[{"name":"Q"}],"id":"x"}}}`, ""},
		{`{plant{name}}`, `{"data":{"plant":null}}`, ""},
		{`{plant{name}}`, `{"data":null,"errors":[{"message":"No","type":"NOT_FOUND","path":["plant"]}]}`,
			""},
		{`{`, `{"errors":[{"message":"Parse error"}]}`, ""},
		{`mutation{water{name}}`, `{"data":{"water":{"name":"P"}}}`, ""},
		{`{plant{name}}`, `{"data":null}`, "null without an error"},
		{`{plant{name}}`, `{}`, "neither data"},
		{`{plant{name}}`, `{"data":{"plant":{"name":null}}}`, "is null"},
		{`{plant{name}}`, `{"data":{"plant":{"name":7}}}`, "no String"},
		{`{plant{name}}`, `{"data":{"plant":{"name":"P","id":"x"}}}`, "not asked"},
		{`{plant{name id}}`, `{"data":{"plant":{"name":"P"}}}`, "missing"},
		{`{plant{height}}`, `{"data":{"plant":{"height":3000000000}}}`, "no Int"},
		{`{plant{height}}`, `{"data":{"plant":{"height":"3"}}}`, "no Int"},
		{`{plant{at}}`, `{"data":{"plant":{"at":"2026-01-02"}}}`, "no DateTime"},
		{`{plant{sha}}`, `{"data":{"plant":{"sha":"abc"}}}`, "no GitObjectID"},
		{`{plant{big}}`, `{"data":{"plant":{"big":7}}}`, "no BigInt"},
		{`{plant{state}}`, `{"data":{"plant":{"state":"open"}}}`, "no State"},
		{`{plant{near{name}}}`, `{"data":{"plant":{"near":[null]}}}`, "is null"},
		{`{plant{near{name}}}`, `{"data":{"plant":{"near":{"name":"P"}}}}`, "not a list"},
		{`{plant{near{name}}}`, `{"data":{"plant":{"near":["P"]}}}`, "not an object"},
		{`{plants{name}}`, `{"data":{"plants":[null,{"name":"P"}]}}`, ""},
		{`{thing{__typename ...on Stone{weight}}}`,
			`{"data":{"thing":{"__typename":"Stone","weight":1.5}}}`, ""},
		{`{thing{__typename ...on Stone{weight}}}`, `{"data":{"thing":{"__typename":"Plant","weight":1.5}}}`,
			"not asked"},
		{`{thing{__typename}}`, `{"data":{"thing":{"__typename":"Cloud"}}}`, "no type"},
		{`{thing{...on Stone{heavy} ...on Plant{name}}}`, `{"data":{"thing":{"name":"P"}}}`, ""},
		{`{thing{...on Stone{heavy} ...on Plant{name}}}`, `{"data":{"thing":{"name":true}}}`, "no String"},
		{`{node(id:"x"){id ...on Node{id}}}`, `{"data":{"node":{"id":"x"}}}`, ""},
		{`query($no:Boolean=false){plant{name @include(if:$no) id @skip(if:$no)}}`,
			`{"data":{"plant":{"id":"x"}}}`, ""},
		{`query($no:Boolean=false){plant{name @include(if:$no) id @skip(if:$no)}}`,
			`{"data":{"plant":{"name":"x"}}}`, "missing"},
		{`{__type(name:"Plant"){name kind}}`, `{"data":{"__type":{"name":"Plant","kind":"OBJECT"}}}`, ""},
		{`{plant{name}}`, `{"data":{"plant":null},"errors":[]}`, "empty"},
		{`{plant{name}}`, `{"data":{"plant":null},"errors":[{"type":"X"}]}`, "no message"},
		{`{plant{name}}`, `{"data":{"plant":null},"errors":[{"message":"x","why":1}]}`, "why"},
		{`{plant{name}}`, `{"data":{"plant":null},"more":1}`, "more"},
	} {
		query := strings.ReplaceAll(strings.ReplaceAll(c.query, `\`, `\\`), `"`, `\"`)
		wrong := strings.Join(Check(s, []byte(`{"query":"`+query+`"}`), []byte(c.answer)), "\n")
		if (wrong == "") != (c.wrong == "") || !strings.Contains(wrong, c.wrong) {
			t.Errorf("%s\n%s\nwrong: %q, want %q", c.query, c.answer, wrong, c.wrong)
		}
	}
}
