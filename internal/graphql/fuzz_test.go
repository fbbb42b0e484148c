package graphql

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/graphql/schema"
	"arbor/internal/route"
	"arbor/internal/test/dbtest"
)

// Whatever is sent as a query and its variables gets an answer or an error, and no panic.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{
		{`{viewer{login}}`, `{}`},
		{`query($n:Int!,$s:[IssueState!]=OPEN){repository(owner:"a",name:"b"){issues(first:$n,states:$s){
			nodes{...F}}}} fragment F on Issue{title}`, `{"n":3}`},
		{`mutation($i:CreateIssueInput!){createIssue(input:$i){issue{id}}}`,
			`{"i":{"repositoryId":7,"title":"x","labelIds":null}}`},
		{`{__schema{types{name fields(includeDeprecated:true){name args{defaultValue}}}}}`, `null`},
		{`query($x:Nothing){viewer{a:login @skip(if:true) ...on Bot{id}}}`, `{"x":[{}]}`},
	} {
		f.Add(seed[0], seed[1])
	}
	permit := func(ctx context.Context, _ string) (context.Context, *route.Route, error) {
		return ctx, nil, errs.Absent()
	}
	do := Operations{Explain: func(err error) error { return err }, DB: dbtest.Open(f, db.SQLite)}
	api := &API{permit: permit, do: do, limits: unlimited{}}
	loaded := schema.Load()
	s := api.executable(loaded)
	api.schema = func() *exec.Schema { return s }
	api.documents = document.New(func() *ast.Schema { return loaded })
	f.Fuzz(func(t *testing.T, text, variables string) {
		d := api.documents.Read(text)
		if len(d.Errors) > 0 {
			return
		}
		given, _ := decode(json.RawMessage(variables)).(map[string]any)
		for _, op := range d.Query.Operations {
			coerced, wrong := exec.Variables(loaded, op, given)
			if len(wrong) > 0 {
				continue
			}
			if _, wrong := api.documents.Estimate(op, coerced); len(wrong) > 0 {
				continue
			}
			ctx := account.WithCaller(t.Context(), &account.Caller{ID: 1, Login: "alice"})
			ctx = context.WithValue(ctx, queryKey{}, &query{API: api, kept: map[string]kept{}, permitted: map[string]permitResult{},
				sent: httptest.NewRequest("POST", "/graphql", nil)})
			kind := "Query"
			if op.Operation == ast.Mutation {
				kind = "Mutation"
			}
			result := s.Execute(ctx, exec.Request{Document: d.Query, Operation: op, Variables: coerced},
				bare{kind: kind})
			if !json.Valid(result.Data) {
				t.Errorf("no JSON: %s", result.Data)
			}
		}
	})
}

// unlimited is no rate limit.
type unlimited struct{ Limits }

func (unlimited) Left(*http.Request, *account.Caller) (limit, remaining int64, reset time.Time) {
	return
}
