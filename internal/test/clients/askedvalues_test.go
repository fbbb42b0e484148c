//go:build long

package clients

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// variables gives an operation's variables values that exist, by where they are used.
func (a *asker) variables(t *testing.T, op *ast.OperationDefinition) map[string]any {
	t.Helper()
	values, inputs := map[string]any{}, map[string]map[string]any{}
	walkFields(op.SelectionSet, map[string]bool{}, func(f *ast.Field) {
		for _, arg := range f.Arguments {
			given := func(at string, d *ast.VariableDefinition) any { return a.value(f, at, d) }
			if op.Operation == ast.Mutation && arg.Name == "input" {
				if inputs[f.Name] == nil {
					inputs[f.Name] = a.inputs(t, f.Name)
				}
				given = func(at string, d *ast.VariableDefinition) any {
					if at == "input" {
						return a.fitting(inputs[f.Name], d.Definition, false)
					}
					return inputs[f.Name][strings.TrimPrefix(at, "input.")]
				}
			}
			a.bind(op, arg.Name, arg.Value, values, given)
		}
	})
	for _, d := range op.VariableDefinitions {
		if d.Type.NonNull && d.DefaultValue == nil && values[d.Variable] == nil {
			values[d.Variable] = a.any(d.Type)
		}
	}
	return values
}

// bind finds the variables in a value and gives them theirs.
func (a *asker) bind(op *ast.OperationDefinition, at string, v *ast.Value, values map[string]any,
	given func(string, *ast.VariableDefinition) any,
) {
	if v.Kind == ast.Variable {
		if d := op.VariableDefinitions.ForName(v.Raw); d != nil && values[v.Raw] == nil {
			if value := given(at, d); value != nil {
				values[v.Raw] = value
			}
		}
		return
	}
	for _, c := range v.Children {
		name := at
		if c.Name != "" {
			name += "." + c.Name
		}
		a.bind(op, name, c.Value, values, given)
	}
}

// walkFields calls fn for the fields of a selection, however deep.
func walkFields(list ast.SelectionSet, seen map[string]bool, fn func(*ast.Field)) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.Field:
			fn(s)
			walkFields(s.SelectionSet, seen, fn)
		case *ast.InlineFragment:
			walkFields(s.SelectionSet, seen, fn)
		case *ast.FragmentSpread:
			if !seen[s.Name] {
				seen[s.Name] = true
				walkFields(s.Definition.SelectionSet, seen, fn)
			}
		}
	}
}

// fitting are the fields of an input that its type has, and anything for those that must be given.
func (a *asker) fitting(input map[string]any, d *ast.Definition, all bool) map[string]any {
	fits := map[string]any{}
	for _, f := range d.Fields {
		if v := input[f.Name]; v != nil && (all || f.Name != "commitOID" && f.Name != "inReplyTo") {
			fits[f.Name] = v
		} else if f.Type.NonNull && f.DefaultValue == nil {
			fits[f.Name] = a.any(f.Type)
		}
	}
	return fits
}

// any is a value of a type.
func (a *asker) any(t *ast.Type) any {
	if t.Elem != nil {
		return []any{}
	}
	switch d := a.schema.Types[t.NamedType]; d.Kind {
	case ast.Enum:
		return d.EnumValues[0].Name
	case ast.InputObject:
		return a.fitting(nil, d, true)
	}
	switch t.NamedType {
	case "Int", "Float":
		return 1
	case "Boolean":
		return true
	case "DateTime", "Date":
		return "2020-01-02T03:04:05Z"
	}
	return ""
}

// value is one of a field's argument that leads to something; nil leaves it out.
func (a *asker) value(f *ast.Field, at string, d *ast.VariableDefinition) any {
	is, mark := a.home.Is, a.home.Mark
	switch f.Name + "." + at {
	case "repository.owner":
		return a.home.Owner
	case "repository.name":
		return a.home.Name
	case "issue.number", "issueOrPullRequest.number":
		return json.Number(is["issue"])
	case "pullRequest.number":
		return json.Number(is["pull"])
	case "milestone.number":
		return json.Number(is["milestone"])
	case "organization.login", "repositoryOwner.login":
		return "guild"
	case "user.login":
		return asking
	case "team.slug":
		return "gardeners"
	case "label.name":
		return is["label"]
	case "object.expression":
		return "main:README.md"
	case "object.oid":
		return is["commit"]
	case "blame.path":
		return "README.md"
	case "history.path", "file.path":
		return "README.md"
	case "ref.qualifiedName":
		return "refs/heads/" + mark + "-side"
	case "refs.refPrefix":
		return "refs/heads/"
	case "compare.headRef":
		return mark + "-topic"
	case "release.tagName":
		return mark + "-v1"
	case "search.query":
		return a.searched(f)
	case "resource.url":
		return a.URL + "/" + a.home.Owner + "/" + a.home.Name + a.page(f)
	case "node.id", "nodes.ids":
		return a.nodes(f, d.Type.Elem != nil)
	case "collaborators.query", "mentionableUsers.query", "assignableUsers.query", "suggestedActors.query":
		return nil
	}
	switch name := at[strings.LastIndex(at, ".")+1:]; {
	case name == "first" || name == "last":
		if name == "last" && f.Arguments.ForName("first") != nil {
			return nil // programs choose one of both
		}
		return 20
	case d.Type.NonNull && (name == "after" || name == "before"):
		return "" // of some programs' first page
	case d.Type.NonNull:
		return a.any(d.Type)
	}
	return nil
}

// searched is a query that finds what a search asks for.
func (a *asker) searched(f *ast.Field) string {
	text, in := selected(f), "repo:"+a.home.Owner+"/"+a.home.Name
	kind := ""
	if t := f.Arguments.ForName("type"); t != nil {
		kind = t.Value.Raw
	}
	switch {
	case kind == "USER" || text["User"]:
		return asking
	case kind == "REPOSITORY" || text["Repository"]:
		return in
	case kind == "DISCUSSION":
		return a.home.Mark
	case text["Issue"] && !text["PullRequest"]:
		return in + " is:issue"
	}
	return in + " is:pr"
}

// page is the address of what a field asks for, in its repository.
func (a *asker) page(f *ast.Field) string {
	if selected(f)["PullRequest"] {
		return "/pull/" + a.home.Is["pull"]
	}
	return "/issues/" + a.home.Is["issue"]
}

// selected are the types for which a field has fragments.
func selected(f *ast.Field) map[string]bool {
	kinds := map[string]bool{}
	var walk func(ast.SelectionSet)
	walk = func(list ast.SelectionSet) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.Field:
				if s.Name == "nodes" || s.Name == "edges" || s.Name == "node" {
					walk(s.SelectionSet)
				}
			case *ast.InlineFragment:
				kinds[s.TypeCondition] = true
				walk(s.SelectionSet)
			case *ast.FragmentSpread:
				kinds[s.Definition.TypeCondition] = true
				walk(s.Definition.SelectionSet)
			}
		}
	}
	walk(f.SelectionSet)
	return kinds
}

// nodes are the ids of one of each kind that a field asks for.
func (a *asker) nodes(f *ast.Field, list bool) any {
	t := a.T
	at, is, ids := a.at, a.home.Is, []any{}
	kinds := selected(f)
	for _, k := range []struct{ kind, path string }{
		{"Issue", at("/issues/" + is["issue"])}, {"PullRequest", at("/pulls/" + is["pull"])},
		{"IssueComment", at("/issues/comments/" + is["comment"])},
		{"PullRequestReviewComment", at("/pulls/comments/" + is["line"])},
		{"PullRequestReview", at("/pulls/" + is["pull"] + "/reviews/" + is["review"])},
		{"Repository", at("")}, {"Label", at("/labels/" + is["label"])}, {"User", "/user"},
		{"Organization", "/orgs/guild"}, {"Release", at("/releases/" + is["release"])},
		{"Milestone", at("/milestones/" + is["milestone"])}, {"Commit", at("/commits/main")},
		{"Ref", at("/git/ref/heads/main")}, {"CheckRun", at("/check-runs/" + is["check run"])},
	} {
		if kinds[k.kind] {
			id, _ := a.OK(t, asking, "GET "+k.path, "")["node_id"].(string)
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		id, _ := a.OK(t, asking, "GET "+at("/issues/"+is["issue"]), "")["node_id"].(string)
		ids = append(ids, id)
	}
	if list {
		return ids
	}
	return ids[0]
}

// core are the types of which the world has one.
var core = []string{"Repository", "PullRequest", "Issue", "IssueComment", "PullRequestReview", "PullRequestReviewComment",
	"PullRequestReviewThread", "Commit", "User", "Label", "Milestone", "Release", "Ref"}

// must reports a field of which an answer has something: one that is never null, of a type that is there.
func (a *asker) must(kind, field string) bool {
	return slices.Contains(core, kind) && !a.empty[kind+"."+field] &&
		a.schema.Types[kind].Fields.ForName(field).Type.NonNull
}
