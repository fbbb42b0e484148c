//go:build long

package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A program stops at the first query that is refused, however little of it the program needs. The files in testdata/asked
// have the fields and arguments that programs ask for, by type; here they are asked in a world with one of each thing.
// Every query is valid at GitHub, none has errors, and what the world has is answered.
//
// With ARBOR_TEST_OPERATIONS=DIR the documents DIR/PROGRAM/*.graphql are sent as well, as the program has them;
// -update-asked writes the file of each such program anew.
func TestWhatProgramsAsk(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "asked", "*.graphql"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	s := apitest.Start(t, db.SQLite)
	againstGitHubs(t, s)
	a := newAsker(t, s, described.Schema)
	for _, file := range files {
		program := strings.TrimSuffix(filepath.Base(file), ".graphql")
		t.Run(program, func(t *testing.T) { a.program(t, file) })
	}
}

// program asks for all that a program asks for.
func (a *asker) program(t *testing.T, file string) {
	facts := readFacts(t, file)
	a.met = map[string]bool{}
	passed, absent := 0, 0
	queries := facts.queries(a.schema)
	for _, q := range queries {
		switch a.replay(t, q.document, q.operation) {
		case answered:
			passed++
		case featureAbsent:
			absent++
		}
	}
	t.Logf("%d of %d answered, %d refused by the name of the feature", passed, len(queries), absent)
	var never []string
	for kind, fields := range facts {
		for _, f := range fields {
			if at := kind + "." + f.Name; !a.met[at] && a.must(kind, f.Name) {
				never = append(never, at)
			}
		}
	}
	if slices.Sort(never); len(never) > 0 {
		t.Errorf("nothing was answered for %s", strings.Join(slices.Compact(never), " "))
	}
}

// outcome is what became of an operation.
type outcome int

const (
	failed outcome = iota
	answered
	featureAbsent // a mutation of a feature that Arbor does not have
)

// lenient are the rules of validation that GitHub holds clients to.
func lenient() *rules.Rules {
	r := rules.NewDefaultRules()
	r.RemoveRule("OverlappingFieldsCanBeMerged")
	r.RemoveRule("PossibleFragmentSpreads")
	return r
}

// replay sends one operation of a document with variables that exist.
func (a *asker) replay(t *testing.T, document, name string) outcome {
	t.Helper()
	q, err := parser.ParseQuery(&ast.Source{Input: document})
	testkit.NoError(t, err)
	if errs := validator.ValidateWithRules(a.schema, q, lenient()); len(errs) > 0 {
		t.Errorf("%s is not valid at GitHub: %v\n%.2000s", name, errs, document)
		return failed
	}
	op := q.Operations.ForName(name)
	variables := a.variables(t, op)
	send, err := json.Marshal(map[string]any{"query": document, "operationName": op.Name, "variables": variables})
	testkit.NoError(t, err)
	got := a.Do(t, apitest.Case{Do: "POST /graphql", As: asking, Send: string(send)})
	var answer struct {
		Data   map[string]any
		Errors []struct{ Type, Message string }
	}
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != 200 {
		t.Errorf("%s: %d %.500s", name, got.Status, got.Body)
		return failed
	}
	if len(answer.Errors) > 0 {
		if op.Operation == ast.Mutation && strings.HasPrefix(answer.Errors[0].Message, "Arbor has no ") {
			return featureAbsent
		}
		t.Errorf("%s: %v\n%.2000s\n%.500s", name, answer.Errors, document, send)
		return failed
	}
	a.note(op.SelectionSet, answer.Data)
	return answered
}

// note remembers the fields for which an answer has something.
func (a *asker) note(list ast.SelectionSet, value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			a.note(list, one)
		}
	case map[string]any:
		for _, s := range list {
			switch s := s.(type) {
			case *ast.Field:
				inner := v[s.Alias]
				if inner == nil || inner == "" {
					continue
				}
				if l, ok := inner.([]any); ok && len(l) == 0 {
					continue
				}
				a.met[s.ObjectDefinition.Name+"."+s.Name] = true
				a.note(s.SelectionSet, inner)
			case *ast.InlineFragment:
				a.note(s.SelectionSet, v)
			case *ast.FragmentSpread:
				a.note(s.Definition.SelectionSet, v)
			}
		}
	}
}

// TestOperationsOfPrograms sends the documents of programs whose sources somebody has at hand.
func TestOperationsOfPrograms(t *testing.T) {
	dir := os.Getenv("ARBOR_TEST_OPERATIONS")
	if dir == "" {
		t.Skip("ARBOR_TEST_OPERATIONS names no folder of documents")
	}
	s := apitest.Start(t, db.SQLite)
	againstGitHubs(t, s)
	a := newAsker(t, s, described.Schema)
	programs, err := os.ReadDir(dir)
	testkit.NoError(t, err)
	for _, p := range programs {
		t.Run(p.Name(), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, p.Name(), "*.graphql"))
			testkit.NoError(t, err)
			a.met = map[string]bool{}
			facts, all, passed, absent := facts{}, 0, 0, 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				testkit.NoError(t, err)
				operations, err := apart(string(text))
				if all += max(len(operations), 1); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				for _, o := range operations {
					facts.add(a.schema, o.document)
					switch a.replay(t, o.document, o.operation) {
					case answered:
						passed++
					case featureAbsent:
						absent++
					}
				}
			}
			t.Logf("%d of %d answered, %d refused by the name of the feature", passed, all, absent)
			if *updateAsked {
				facts.write(t, filepath.Join("testdata", "asked", p.Name()+".graphql"))
			}
		})
	}
}
