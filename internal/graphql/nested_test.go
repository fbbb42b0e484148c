package graphql_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/graphql"
	"arbor/internal/graphql/schema"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// gardens is how many repositories there are, each with one of everything.
const gardens = 20

// rows is how many there are of everything in one repository.
const rows = 20

// few is how many statements more may run for twenty rows than for two, of which each that runs for every one
// makes 18: what is missing for some rows is asked for apart.
const few = 12

// What is asked for below many repositories is what each repository would show by itself.
func TestManyRepositories(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := newWorld(t, engine)
		for n := range gardens {
			w.plant(t, n)
		}
		bot := w.Bot(t, "gardener", "alice", "checks=write,statuses=write,contents=read")
		for n := range gardens {
			at := fmt.Sprintf("/repos/alice/g%d", n)
			for _, name := range []string{"main", "bed"} {
				w.check(t, at, member(t, w.Server, "alice", at+"/commits/"+name, "sha"), bot.Slug+"[bot]")
			}
		}
		w.togetherAsAlone(t)
	})
}

// In one repository, rows lie below rows of all kinds. The queries are made of the schema: for each type that can
// be met below a list of a repository one with all of its fields. No field needs more statements for twenty rows
// than for two, and nor do things by their ids.
func TestManyRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := newWorld(t, engine)
		w.sow(t)
		t.Run("statements below lists", w.statementsBelowLists)
		t.Run("statements with nodes", w.statementsWithNodes)
	})
}

func (w *world) statementsBelowLists(t *testing.T) {
	met := 0
	for _, p := range below(schema.Load(), "Repository") {
		fields := p.fields(w.schema)
		if !p.listed() ||
			!strings.Contains(w.ask(t, p.rows(nil), map[string]any{"n": rows}), `"met":"`+p.kind+`"`) {
			continue
		}
		met++
		t.Run(p.kind, func(t *testing.T) {
			if least, most := w.count(w.answers(t, p.rows(fields)), rows, few); most <= least+few {
				return
			}
			for _, f := range fields { // each may take a few more, as what is read in parts
				w.grows(t, p.rows([]string{f}))
			}
		})
	}
	if met < 40 {
		t.Errorf("only %d types were met: the others have nothing to show", met)
	}
}

// Things by their ids need as many statements for twenty as for two.
func (w *world) statementsWithNodes(t *testing.T) {
	var kinds int
	for _, p := range below(w.schema, "Repository") {
		if p.def.Fields.ForName("id") == nil {
			continue
		}
		var ids []any
		if !p.listed() {
			continue
		}
		for id := range strings.SplitSeq(w.ask(t, p.rows([]string{"id"}), map[string]any{"n": rows}),
			`"id":"`) {
			if id, _, _ := strings.Cut(id, `"`); !strings.HasPrefix(id, "{") &&
				!slices.Contains(ids, any(id)) {
				ids = append(ids, id)
			}
		}
		if len(ids) < rows {
			continue
		}
		query := `query($ids:[ID!]!){nodes(ids:$ids){__typename id}}`
		if body := w.ask(t, query, map[string]any{"ids": ids[:1]}); strings.Contains(body, `"errors"`) {
			continue // what is found by another way only, as reactions
		}
		kinds++
		w.holds(t, p.kind+" by their ids", func(n int) string {
			return w.ask(t, query, map[string]any{"ids": ids[:n]})
		})
	}
	if kinds < 10 {
		t.Errorf("only %d kinds were asked for", kinds)
	}
}

// world is a server with many repositories, whose statements are counted.
type world struct {
	*apitest.Server
	schema     *ast.Schema
	statements atomic.Int64
	starred    bool
}

func newWorld(t *testing.T, engine db.Engine) *world {
	t.Helper()
	w := &world{schema: schema.Load()}
	w.Server = apitest.Start(t, engine, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine),
			Trace: func(ctx context.Context, _ string) {
				if account.CallerFrom(ctx) != nil { // the server's workers ask for work now and then
					w.statements.Add(1)
				}
			}})
	})
	w.User(t, "alice")
	w.User(t, "bob")
	return w
}

// sow makes a repository with rows of everything.
func (w *world) sow(t *testing.T) {
	t.Helper()
	r := w.Repo(t, "alice/g0", false)
	w.Grant(t, r, "bob", account.Push)
	w.join(t)
	bot := w.Bot(t, "gardener", "alice", "checks=write,statuses=write,contents=read")
	for n := range rows {
		friend := fmt.Sprintf("friend%d", n)
		w.User(t, friend)
		w.Grant(t, r, friend, account.Push)
		w.row(t, "/repos/alice/g0", friend, n)
		w.check(t, "/repos/alice/g0", member(t, w.Server, "alice", "/repos/alice/g0/commits/"+branchOf(n), "sha"),
			bot.Slug+"[bot]")
	}
}

// join has the first people do what friends do later, in another repository: all open pull requests, and star and
// watch a repository.
func (w *world) join(t *testing.T) {
	t.Helper()
	w.Grant(t, w.Repo(t, "alice/shelf", false), "bob", account.Push)
	for n, login := range []string{"alice", "bob"} {
		const file = `{"message": "A", "content": "YQ==", "branch": "%s"}`
		w.requests(t,
			apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/shelf/contents/a%d", n), Send: fmt.Sprintf(file, "main"), Status: 201})
		sha := member(t, w.Server, "alice", "/repos/alice/shelf/commits/main", "sha")
		w.requests(t,
			apitest.Case{Do: "POST /repos/alice/shelf/git/refs", Send: `{"ref": "refs/heads/` + login + `", "sha": "` + sha + `"}`,
				Status: 201},
			apitest.Case{Do: "PUT /repos/alice/shelf/contents/b", Send: fmt.Sprintf(file, login), Status: 201},
			apitest.Case{Do: "POST /repos/alice/shelf/pulls", As: login, Send: `{"title": "Beans", "head": "` + login +
				`", "base": "main"}`, Status: 201},
			apitest.Case{Do: "PUT /user/starred/alice/shelf", As: login, Status: 204},
			apitest.Case{Do: "PUT /repos/alice/shelf/subscription", Send: `{"subscribed": true}`, As: login, Status: 200})
	}
}

// check says of a commit that it is fine.
func (w *world) check(t *testing.T, at, sha, bot string) {
	t.Helper()
	for _, c := range []apitest.Case{
		{Do: "POST " + at + "/check-runs", As: bot,
			Send: `{"name": "dig", "head_sha": "` + sha + `", "status": "completed",
			"conclusion": "success", "output": {"title": "T", "summary": "S", "annotations": [{"path": "a",
			"start_line": 1, "end_line": 1,
			"annotation_level": "notice", "message": "Here"}]}}`, Status: 201},
		{Do: "POST " + at + "/statuses/" + sha, As: "alice", Send: `{"state": "success", "context": "sow"}`,
			Status: 201},
	} {
		w.Check(t, c)
	}
}

// plant creates a repository with one of everything.
func (w *world) plant(t *testing.T, n int) {
	t.Helper()
	name, friend := fmt.Sprintf("g%d", n), fmt.Sprintf("friend%d", n)
	w.User(t, friend)
	r := w.Repo(t, "alice/"+name, n%2 == 1)
	w.Grant(t, r, friend, account.Push)
	w.Grant(t, r, "bob", account.Push)
	w.row(t, "/repos/alice/"+name, friend, 0)
}

func branchOf(n int) string { return "bed" + strings.TrimPrefix(strconv.Itoa(n), "0") }

// row makes one of everything in a repository, in which there are n of everything.
func (w *world) row(t *testing.T, at, friend string, n int) {
	t.Helper()
	file := `{"message": "A", "content": "YQ==", "branch": "%s"}`
	branch, milestone := branchOf(n), strconv.Itoa(n+1)
	issue, pull := fmt.Sprintf("%s/issues/%d", at, 2*n+1), fmt.Sprintf("%s/pulls/%d", at, 2*n+2)
	w.requests(t,
		apitest.Case{Do: fmt.Sprintf("PUT %s/contents/a%d", at, n), Send: fmt.Sprintf(file, "main"), Status: 201},
		apitest.Case{Do: "POST " + at + "/commits/main/comments", As: friend, Send: `{"body": "Peas"}`, Status: 201},
		apitest.Case{Do: "PUT " + at + "/topics", Send: `{"names": ["seeds"]}`, Status: 200},
		apitest.Case{Do: "POST " + at + "/milestones", Send: `{"title": "Spring ` + milestone + `"}`, Status: 201},
		apitest.Case{Do: "POST " + at + "/labels", Send: `{"name": "` + branch + `", "color": "ff0000"}`, Status: 201},
		apitest.Case{Do: "POST " + at + "/issues", As: friend, Send: `{"title": "Peas", "labels": ["bug"],
			"milestone": ` + milestone + `, "assignees": ["` + friend + `"]}`, Status: 201},
		apitest.Case{Do: "POST " + issue + "/comments", As: friend, Send: `{"body": "Peas"}`, Status: 201},
		apitest.Case{Do: "POST " + issue + "/reactions", As: friend, Send: `{"content": "heart"}`, Status: 201,
			Headers: map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json"}},
		apitest.Case{Do: "PATCH " + issue, Send: `{"title": "Many peas", "state": "closed"}`, Status: 200},
		apitest.Case{Do: "PATCH " + issue, Send: `{"state": "open", "milestone": null, "labels": ["enhancement"],
			"assignees": []}`, Status: 200},
		apitest.Case{Do: "POST " + at + "/releases", Send: `{"tag_name": "v` + milestone + `", "name": "One"}`,
			Status: 201},
		apitest.Case{Do: "PUT " + at + "/subscription", Send: `{"subscribed": true}`, As: friend, Status: 200},
		apitest.Case{Do: "PUT /user/starred" + strings.TrimPrefix(at, "/repos"), As: friend, Status: 204})
	sha := member(t, w.Server, "alice", at+"/commits/main", "sha")
	w.requests(t,
		apitest.Case{Do: "POST " + at + "/git/refs", Send: `{"ref": "refs/heads/` + branch + `", "sha": "` + sha + `"}`,
			Status: 201},
		apitest.Case{Do: "PUT " + at + "/contents/b", Send: fmt.Sprintf(file, branch), Status: 201},
		apitest.Case{Do: "POST " + at + "/deployments", Send: `{"ref": "main", "required_contexts": []}`, Status: 201},
		apitest.Case{Do: "POST " + at + "/pulls", As: friend, Send: fmt.Sprintf(
			`{"title": "Beans", "head": "%s", "base": "main", "body": "fixes #%d"}`, branch, 2*n+1), Status: 201},
		apitest.Case{Do: "POST " + pull + "/requested_reviewers", Send: `{"reviewers": ["bob"]}`, Status: 201},
		apitest.Case{Do: "POST " + strings.Replace(pull, "/pulls/", "/issues/", 1) + "/comments",
			Send: `{"body": "Fine"}`, Status: 201},
		apitest.Case{Do: "POST " + pull + "/reviews", Send: `{"body": "Fine", "event": "APPROVE",
			"comments": [{"path": "b", "line": 1, "body": "Here"}]}`, Status: 200})
}

// requests sends requests, which are alice's unless they say otherwise.
func (w *world) requests(t *testing.T, list ...apitest.Case) {
	t.Helper()
	for _, c := range list {
		if c.As == "" {
			c.As = "alice"
		}
		w.Check(t, c)
	}
}

// ask runs a query when nothing that was kept before counts any more, and counts its statements.
func (w *world) ask(t *testing.T, query string, variables map[string]any) string {
	t.Helper()
	w.starred = !w.starred
	w.Check(t, apitest.Case{Do: map[bool]string{true: "PUT", false: "DELETE"}[w.starred] +
		" /user/starred/alice/g0", As: "bob", Status: 204})
	if err := w.Server.Server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.statements.Store(0)
	return run(t, w.Server, "alice", query, variables)
}

// grows fails where a query needs more statements for many than for two.
func (w *world) grows(t *testing.T, query string) {
	t.Helper()
	w.holds(t, query, w.answers(t, query))
}

// answers returns a function that runs a query for n objects.
func (w *world) answers(t *testing.T, query string) func(n int) string {
	return func(n int) string {
		body := w.ask(t, query, map[string]any{"n": n})
		if strings.Contains(body, `"errors"`) {
			t.Fatalf("%s\n%s", query, body)
		}
		return body
	}
}

func (w *world) holds(t *testing.T, what string, ask func(n int) string) {
	t.Helper()
	if least, most := w.count(ask, rows, few); most > least+few {
		t.Errorf("%s\n%d statements for 2, %d for %d", what, least, most, rows)
	}
}

// count returns how many statements run for two objects and for many. It asks again if they differ by more than
// slack.
func (w *world) count(ask func(n int) string, many int, slack int64) (least, most int64) {
	most = math.MaxInt64
	for try := 0; try < 20 && most > least+slack; try++ { // what workers change meanwhile is read anew
		ask(2)
		least = max(least, w.statements.Load())
		ask(many)
		most = min(most, w.statements.Load())
	}
	return least, most
}

// way is how objects of a type are met below many repositories.
type way struct {
	kind  string
	def   *ast.Definition
	steps []string // each with %s for what is asked for below
}

func (p way) query(fields []string) string {
	inner := "met:__typename " + strings.Join(fields, " ")
	for _, step := range slices.Backward(p.steps) {
		inner = fmt.Sprintf(step, inner)
	}
	return `query($n:Int!){viewer{repositories(first:$n,ownerAffiliations:OWNER,orderBy:{field:NAME,
		direction:ASC}){nodes{` + inner + `}}}}`
}

// rows asks for the rows of the list with which the way begins.
func (p way) rows(fields []string) string {
	inner := "met:__typename " + strings.Join(fields, " ")
	for n, step := range slices.Backward(p.steps) {
		if n == 0 {
			step = strings.Replace(step, "first:2", "first:$n", 1)
		}
		inner = fmt.Sprintf(step, inner)
	}
	return `query($n:Int!){viewer{repository(name:"g0"){` + inner + `}}}`
}

// listed reports a way that begins with a list.
func (p way) listed() bool { return len(p.steps) > 0 && strings.Contains(p.steps[0], "first:2") }

// given are the arguments that fields need.
var given = map[string]string{"number": "1", "databaseId": "1", "qualifiedName": `"main"`, "tagName": `"v1"`,
	"refPrefix": `"refs/heads/"`, "path": `"a0"`, "headRef": `"main"`,
	"expression": `"main"`, "slug": `"none"`, "capabilities": "[CAN_BE_ASSIGNED]"}

// called are those that mean other things on each type.
var called = map[string]string{"Repository.pullRequest": "2", "Repository.label": `"bug"`,
	"Status.context": `"sow"`, "User.repository": `"g0"`, "Organization.repository": `"g0"`,
	"User.organization": `"none"`}

// arguments are those that a field is asked with; connections are asked for two.
func arguments(s *ast.Schema, kind string, f *ast.FieldDefinition) string {
	var list []string
	for _, a := range f.Arguments {
		value := given[a.Name]
		if c := called[kind+"."+f.Name]; c != "" && a.Type.NonNull {
			value = c
		}
		if a.Name == "first" {
			value = map[bool]string{true: "30", false: "2"}[strings.HasPrefix(f.Name, "timeline")]
		}
		if value != "" && (a.Type.NonNull || a.Name == "first" || a.Name == "refPrefix" ||
			a.Name == "expression" ||
			kind == "Status") {
			list = append(list, a.Name+":"+value)
		} else if a.Type.NonNull && a.DefaultValue == nil {
			list = append(list, a.Name+":"+literal(s, a.Type))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ",") + ")"
}

// literal returns a value of a type, with what an input object must have.
func literal(s *ast.Schema, t *ast.Type) string {
	if t.Elem != nil {
		return "[" + literal(s, t.Elem) + "]"
	}
	switch d := s.Types[t.NamedType]; {
	case d.Kind == ast.Enum:
		return d.EnumValues[0].Name
	case d.Kind == ast.InputObject:
		var list []string
		for _, f := range d.Fields {
			if f.Type.NonNull && f.DefaultValue == nil {
				list = append(list, f.Name+":"+literal(s, f.Type))
			}
		}
		return "{" + strings.Join(list, ",") + "}"
	case t.NamedType == "Int" || t.NamedType == "Float":
		return "1"
	case t.NamedType == "Boolean":
		return "true"
	case strings.Contains(t.NamedType, "Date"):
		return `"2030-01-02T03:04:05Z"`
	}
	return `"none"`
}

// below finds the shortest ways to all types of objects below one.
func below(s *ast.Schema, top string) (ways []way) {
	seen := map[string]bool{"Query": true, "Mutation": true, top: true}
	queue := []way{{kind: top, def: s.Types[top]}}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		ways = append(ways, p)
		fields := slices.Clone(p.def.Fields)
		slices.SortStableFunc(fields, func(a, b *ast.FieldDefinition) int {
			return order(s, a) - order(s, b)
		})
		for _, f := range fields {
			if strings.HasPrefix(f.Name, "__") || graphql.Lacks(p.kind, f.Name) {
				continue // nothing is met there
			}
			step, to := f.Name+arguments(s, p.kind, f)+"{%s}", s.Types[f.Type.Name()]
			if nodes := to.Fields.ForName("nodes"); nodes != nil {
				step, to = f.Name+arguments(s, p.kind, f)+"{totalCount nodes{%s}}", s.Types[nodes.Type.Name()]
			}
			kinds := s.GetPossibleTypes(to)
			if to.Kind != ast.Object && to.Kind != ast.Interface && to.Kind != ast.Union {
				kinds = nil
			}
			for _, k := range kinds {
				if seen[k.Name] || strings.HasPrefix(k.Name, "Project") { // there are none
					continue
				}
				seen[k.Name] = true
				step := step
				if k != to {
					step = strings.Replace(step, "%s", "...on "+k.Name+"{%s}", 1)
				}
				queue = append(queue, way{kind: k.Name, def: k, steps: append(slices.Clone(p.steps), step)})
			}
		}
	}
	return ways
}

// order puts lists first, and last what has other types than it seems.
func order(s *ast.Schema, f *ast.FieldDefinition) int {
	switch {
	case f.Name == "issueOrPullRequest", f.Name == "subject":
		return 2
	case s.Types[f.Type.Name()].Fields.ForName("nodes") != nil:
		return 0
	}
	return 1
}

// fields are all fields of a type, each with what its values have at hand.
func (p way) fields(s *ast.Schema) (list []string) {
	for _, f := range p.def.Fields {
		if strings.HasPrefix(f.Name, "__") {
			continue
		}
		// An alias of its own: interfaces and their types may tell apart what is nullable.
		list = append(list, f.Name+arguments(s, p.kind, f)+selection(s, s.Types[f.Type.Name()], true))
	}
	return list
}

// selection asks for what an object has at hand, and a connection for its nodes.
func selection(s *ast.Schema, d *ast.Definition, deep bool) string {
	switch d.Kind {
	case ast.Scalar, ast.Enum:
		return ""
	case ast.Union:
		return "{__typename}"
	}
	names := []string{"__typename"}
	for _, f := range d.Fields {
		if strings.HasPrefix(f.Name, "__") || len(f.Arguments) > 0 {
			continue
		}
		inner := s.Types[f.Type.Name()]
		switch inner.Kind {
		case ast.Scalar, ast.Enum:
			names = append(names, f.Name)
		default:
			if deep && slices.Contains([]string{"nodes", "pageInfo"}, f.Name) {
				names = append(names, f.Name+selection(s, inner, false))
			}
		}
	}
	return "{" + strings.Join(names, " ") + "}"
}
