package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/exec"
)

// GitHub's bounds of one query: how many nodes it may ask for, and how many a connection gives.
const (
	maxAskedNodes = 500_000
	maxPage       = 100
)

// Estimate is what an operation may ask for, counted before it runs.
type Estimate struct {
	Nodes    int64
	requests int64 // lists and things that are asked for one by one
	changes  int64 // mutations
}

// Cost is what the operation takes off the rate limit: a point for each hundred requests, as at GitHub, and
// one for each mutation, which is a request by REST.
func (e Estimate) Cost() int64 { return max(1, (e.requests+50)/100, e.changes) }

// estimator walks an operation with its variables. The document was checked, so it is not too large.
type estimator struct {
	schema    *ast.Schema
	variables map[string]any
	Estimate
	errors []*exec.Error
	path   []any
}

// Estimate counts what an operation of a document may ask for. Errors: what GitHub refuses.
func (r *Reader) Estimate(
	op *ast.OperationDefinition, variables map[string]any,
) (Estimate, []*exec.Error) {
	e := estimator{schema: r.schema(), variables: variables}
	if op.Operation == ast.Mutation {
		e.changes = fieldsOf(op.SelectionSet)
	}
	e.selection(op.SelectionSet, 1)
	if len(e.errors) == 0 && e.Nodes > maxAskedNodes {
		e.tell(nil, "MAX_NODE_LIMIT_EXCEEDED",
			fmt.Sprintf("This query requests up to %d possible nodes which exceeds the maximum limit of %d.",
				e.Nodes, maxAskedNodes))
	}
	return e.Estimate, e.errors
}

// fieldsOf counts the fields of a selection, those of its fragments too.
func fieldsOf(set ast.SelectionSet) (n int64) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			n++
		case *ast.InlineFragment:
			n += fieldsOf(s.SelectionSet)
		case *ast.FragmentSpread:
			n += fieldsOf(s.Definition.SelectionSet)
		}
	}
	return n
}

func (e *estimator) selection(set ast.SelectionSet, times int64) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			e.field(s, times)
		case *ast.InlineFragment:
			e.selection(s.SelectionSet, times)
		case *ast.FragmentSpread:
			e.selection(s.Definition.SelectionSet, times)
		}
	}
}

func (e *estimator) field(s *ast.Field, times int64) {
	if len(s.SelectionSet) == 0 || strings.HasPrefix(s.Name, "__") {
		return
	}
	key := s.Alias
	if key == "" {
		key = s.Name
	}
	e.path = append(e.path, key)
	defer func() { e.path = e.path[:len(e.path)-1] }()
	d := s.Definition
	if d.Arguments.ForName("first") == nil {
		if d.Type.Elem == nil && len(d.Arguments) > 0 || d.Name == "viewer" {
			e.requests += times // a thing by its name or number
		}
		e.selection(s.SelectionSet, times)
		return
	}
	args, err := exec.Arguments(e.schema, d, s, e.variables)
	if err != nil {
		return // the field tells it
	}
	size := e.size(s, args)
	e.requests = min(e.requests+times, maxAskedNodes)
	times = min(times*max(1, size), maxAskedNodes+1)
	if size > 0 {
		e.Nodes = min(e.Nodes+times, 2*maxAskedNodes)
	}
	e.selection(s.SelectionSet, times)
}

// size is how many nodes a connection is asked for; 0 where only counts are. What was given is checked in any
// case.
func (e *estimator) size(s *ast.Field, args map[string]any) int64 {
	given := false
	var size int
	for _, name := range [...]string{"first", "last"} {
		n, ok := args[name].(int)
		switch {
		case !ok:
			continue
		case n < 0:
			e.tell(s.Position, "", fmt.Sprintf("`%s` on the `%s` connection cannot be less than zero.",
				name, s.Name))
		case n > maxPage:
			e.tell(s.Position, "EXCESSIVE_PAGINATION", fmt.Sprintf(
				"Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", n,
				s.Name,
				name, maxPage))
		}
		if !given {
			given, size = true, n
		}
	}
	if !selectsNodes(s.SelectionSet) {
		return 0
	}
	if !given && DefaultSize(s.ObjectDefinition.Name, s.Name) > 0 {
		return DefaultSize(s.ObjectDefinition.Name, s.Name)
	}
	if !given {
		e.tell(s.Position, "MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf(
			"You must provide a `first` or `last` value to properly paginate the `%s` connection.", s.Name))
	}
	return int64(max(0, size))
}

// DefaultSize is the size of a connection that GitHub pages without first or last; 0 for the others.
// Terraform's provider asks for a team's members and repositories in that way, release-drafter for a commit's
// history.
func DefaultSize(kind, field string) int64 {
	switch kind + "." + field {
	case "Team.members", "Team.repositories", "Commit.history":
		return maxPage
	}
	return 0
}

// NodeFields are the fields of a connection for which its nodes are read: they, or where they end.
func NodeFields() []string { return []string{"nodes", "edges", "pageInfo"} }

// selectsNodes reports that a connection's nodes are asked for, and not only counts.
func selectsNodes(set ast.SelectionSet) bool {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if slices.Contains(NodeFields(), s.Name) {
				return true
			}
		case *ast.InlineFragment:
			if selectsNodes(s.SelectionSet) {
				return true
			}
		case *ast.FragmentSpread:
			if selectsNodes(s.Definition.SelectionSet) {
				return true
			}
		}
	}
	return false
}

func (e *estimator) tell(at *ast.Position, kind, message string) {
	if len(e.errors) >= maxTold {
		return
	}
	told := &exec.Error{Type: kind, Message: message, Path: append([]any(nil), e.path...)}
	if at != nil {
		told.Locations = []exec.Location{{Line: at.Line, Column: at.Column}}
	}
	e.errors = append(e.errors, told)
}
