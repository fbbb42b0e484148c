package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Errors about a query have GitHub's words, codes and paths, by which clients choose what to do.
func TestMistakesAreToldAsAtGitHub(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		for _, a := range []ask{
			{query: `{repository(owner:"alice"){id}}`, want: `{"errors": [{"path": ["query", "repository"],
				"extensions": {"code": "missingRequiredArguments", "className": "Field", "name": "repository",
				"arguments": "name"}, "locations": [{"line": 1, "column": 2}],
				"message": "Field 'repository' is missing required arguments: name"}]}`},
			{query: `query Q{a:repository{id}}`, want: `{"errors": [{"path": ["query Q", "a"],
				"message": "Field 'repository' is missing required arguments: owner, name"}]}`},
			{query: `mutation{createIssue(input:{title:"x"}){issue{id}}}`,
				want: `{"errors": [{"path": ["mutation", "createIssue", "input", "repositoryId"],
				"extensions": {"code": "missingRequiredInputObjectAttribute", "argumentName": "repositoryId",
				"argumentType": "ID!", "inputObjectType": "CreateIssueInput"},
				"message": "Argument 'repositoryId' on InputObject 'CreateIssueInput' is required. Expected type ID!"}]}`},
			{query: `{repository(owner:"alice",name:"garden",colour:1){id}}`,
				want: `{"errors": [{"path": ["query", "repository", "colour"],
				"extensions": {"code": "argumentNotAccepted", "name": "repository", "typeName": "Field",
				"argumentName": "colour"}}]}`},
			{query: `mutation{createIssue(input:{repositoryId:"x",title:"x",colour:1}){issue{id}}}`,
				want: `{"errors": [{"message": "InputObject 'CreateIssueInput' doesn't accept argument 'colour'"}]}`},

			// Variables that the query does not declare, or does not use, or that were not given.
			{query: `{repository(owner:$o,name:"garden"){id}}`,
				want: `{"errors": [{"path": ["query", "repository", "owner"],
				"extensions": {"code": "variableNotDefined", "variableName": "o"},
				"message": "Variable $o is used by anonymous query but not declared"}]}`},
			{query: `query Q($o:String!){viewer{login}}`, want: `{"errors": [{"path": ["query Q"],
				"extensions": {"code": "variableNotUsed", "variableName": "o"},
				"message": "Variable $o is declared by Q but not used"}]}`},
			{query: `query($o:String!){repository(owner:$o,name:"garden"){id}}`,
				want: `{"errors": [{"locations": [{"line": 1, "column": 7}],
				"extensions": {"value": null, "problems": [{"path": [], "explanation": "Expected value to not be null"}]},
				"message": "Variable $o of type String! was provided invalid value"}]}`},
			{query: `query($o:String!,$n:String!){repository(owner:$o,name:$n){id}}`,
				want: `{"errors": [{"message": "Variable $o of type String! was provided invalid value"},
				{"message": "Variable $n of type String! was provided invalid value"}]}`},

			// Those of the wrong type, by declaration and by value.
			{query: `query($n:String!){repository(owner:"alice",name:"garden"){issue(number:$n){id}}}`,
				variables: map[string]any{"n": "1"},
				want: `{"errors": [{"path": ["query", "repository", "issue", "number"],
				"extensions": {"code": "variableMismatch", "variableName": "n", "typeName": "String!",
				"argumentName": "number", "errorMessage": "Type mismatch"},
				"message": "Type mismatch on variable $n and argument number (String! / Int!)"}]}`},
			{query: `query($n:Int){repository(owner:"alice",name:"garden"){issue(number:$n){id}}}`,
				variables: map[string]any{"n": 1},
				want: `{"errors": [{"extensions": {"errorMessage": "Nullability mismatch"},
				"message": "Nullability mismatch on variable $n and argument number (Int / Int!)"}]}`},
			{query: `query($n:[Int!]!){repository(owner:"alice",name:"garden"){issue(number:$n){id}}}`,
				variables: map[string]any{"n": []int{1}},
				want:      `{"errors": [{"message": "List dimension mismatch on variable $n and argument number ([Int!]! / Int!)"}]}`},
			{query: `query($n:Int!){repository(owner:"alice",name:"garden"){issue(number:$n){id}}}`,
				variables: map[string]any{"n": "one"},
				want: `{"errors": [{"extensions": {"value": "one", "problems": [{"path": [],
				"explanation": "Could not coerce value \"one\" to Int"}]},
				"message": "Variable $n of type Int! was provided invalid value"}]}`},
			{query: `mutation($i:CreateIssueInput!){createIssue(input:$i){issue{id}}}`,
				variables: map[string]any{"i": map[string]any{"repositoryId": "x", "labelIds": []any{nil}, "x": 1}},
				want: `{"errors": [{"extensions": {"problems": [{"path": ["x"],
				"explanation": "Field is not defined on CreateIssueInput"},
				{"path": ["title"], "explanation": "Expected value to not be null"},
				{"path": ["labelIds", 0], "explanation": "Expected value to not be null"}]},
				"message": "Variable $i of type CreateIssueInput! was provided invalid value for x (Field is not defined on CreateIssueInput), title (Expected value to not be null), labelIds.0 (Expected value to not be null)"}]}`},
			{query: `query($s:[IssueState!]){repository(owner:"alice",name:"garden"){issues(states:$s){totalCount}}}`,
				variables: map[string]any{"s": "AJAR"},
				want:      `{"errors": [{"extensions": {"problems": [{"explanation": "Expected \"AJAR\" to be one of: OPEN, CLOSED"}]}}]}`},

			// Values in the query itself.
			{query: `{repository(owner:"alice",name:"garden"){issue(number:"one"){id}}}`,
				want: `{"errors": [{"path": ["query", "repository", "issue", "number"],
				"extensions": {"code": "argumentLiteralsIncompatible", "typeName": "Field", "argumentName": "number"},
				"message": "Argument 'number' on Field 'issue' has an invalid value (\"one\"). Expected type 'Int!'."}]}`},
			{query: `{repository(owner:"alice",name:"garden"){issues(states:[AJAR]){totalCount}}}`,
				want: `{"errors": [{"message": "Argument 'states' on Field 'issues' has an invalid value (AJAR). Expected type 'IssueState!'."}]}`},
			{query: `{repository(owner:null,name:"garden"){id}}`,
				want: `{"errors": [{"message": "Argument 'owner' on Field 'repository' has an invalid value (null). Expected type 'String!'."}]}`},

			// Objects without selections, and selections of scalars.
			{query: `{repository(owner:"alice",name:"garden")}`, want: `{"errors": [{"path": ["query", "repository"],
				"extensions": {"code": "selectionMismatch", "nodeName": "field 'repository'", "typeName": "Repository"},
				"message": "Field must have selections (field 'repository' returns Repository but has no selections. Did you mean 'repository { ... }'?)"}]}`},
			{query: `{viewer{login{x}}}`, want: `{"errors": [{"path": ["query", "viewer", "login"],
				"extensions": {"code": "selectionMismatch"},
				"message": "Selections can't be made on scalars (field 'login' returns String but has selections [\"x\"])"}]}`},

			// What is right stays so.
			{query: `query($w:Boolean!,$s:[IssueState!]=OPEN){repository(owner:"alice",name:"garden"){
				name @include(if:$w) issues(states:$s,first:1,orderBy:{field:CREATED_AT,direction:ASC}){totalCount}}}`,
				variables: map[string]any{"w": true}, want: `{"data": {"repository": {"name": "garden"}}}`},
			{query: `query($o:String!){repository(owner:$o,name:"garden"){none(x:$o){y(z:$w)}}}`,
				variables: map[string]any{"o": "alice"},
				want: `{"errors": [{"message": "Field 'none' doesn't exist on type 'Repository'"},
				{"message": "Variable $w is used by anonymous query but not declared"}]}`},
		} {
			a.check(t, s)
		}
	})
}
