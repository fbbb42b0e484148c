// Package document reads queries of GraphQL: it parses and validates them, tells clients what is wrong in
// GitHub's words, and estimates what an operation may ask for. All of it before anything runs, so that a
// small text cannot cost much.
//
//   - document.go: a text becomes a [Document]
//   - check.go: what bounds the validation, and errors that clients know; values.go: those about arguments,
//     variables and selections
//   - cost.go: nodes, requests and points of the rate limit
package document

import (
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"arbor/internal/cache"
	"arbor/internal/graphql/exec"
)

// Bounds of a document, before anything is made of it. Errors and answers repeat its names, and validation
// goes through all operations.
const (
	maxQuery      = 256 << 10 // bytes; what is longer comes as variables
	maxTokens     = 60_000
	maxName       = 255 // bytes of a name, an alias or a number
	maxOperations = 50
	maxVariables  = 1000 // of an operation
)

// Document is a query that was parsed and validated.
type Document struct {
	Query  *ast.QueryDocument
	Errors []*exec.Error // what is wrong; with any nothing runs
	size   int           // of its text, in bytes
}

// documentCost is about what a document takes in memory, in times of its text.
const documentCost = 40

// maxKept is the longest query that is kept, in bytes.
const maxKept = 64 << 10

// documentBytes bounds the documents that are kept, in bytes of memory.
const documentBytes = 8 << 20

// Reader reads queries on a schema, and keeps those that are right.
type Reader struct {
	schema func() *ast.Schema
	kept   *cache.Recent[[sha256.Size]byte, *Document]
}

// New returns a Reader. schema is called for each query.
func New(schema func() *ast.Schema) *Reader {
	return &Reader{schema, cache.NewRecent[[sha256.Size]byte](documentBytes, func(d *Document) int {
		return documentCost * d.size
	})}
}

// Stats returns statistics of the cache.
func (r *Reader) Stats(name string) cache.Stats { return r.kept.Stats(name) }

// newRules are the rules of validation, without two that GitHub does not hold clients to: gh's own queries
// ask for fields of two types under one key, and other clients spread fragments on types that cannot be
// there.
func newRules() *rules.Rules {
	r := rules.NewDefaultRules()
	r.RemoveRule("OverlappingFieldsCanBeMerged")
	r.RemoveRule("PossibleFragmentSpreads")
	return r
}

// Read parses and validates a query, or takes it from memory.
func (r *Reader) Read(text string) *Document {
	key := sha256.Sum256([]byte(text))
	if len(text) <= maxKept {
		if found, ok := r.kept.Get(key); ok {
			return found
		}
	}
	read := r.parse(text)
	if len(text) <= maxKept && len(read.Errors) == 0 {
		r.kept.Put(key, read)
	}
	return read
}

func (r *Reader) parse(text string) *Document {
	if err := checkText(text); err != nil {
		return &Document{Errors: []*exec.Error{err}}
	}
	q, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err != nil {
		return &Document{Errors: []*exec.Error{syntaxError(err)}}
	}
	// First what bounds the rest: validation goes into fragments wherever they are spread.
	if errs := r.check(q); len(errs) > 0 {
		return &Document{Errors: errs}
	}
	read := &Document{Query: q, size: len(text)}
	for _, e := range validator.ValidateWithRules(r.schema(), q, newRules()) {
		if len(read.Errors) == maxTold {
			break
		}
		read.Errors = append(read.Errors, told(e))
	}
	return read
}

// checkText refuses a text that is too long, or has names that are.
func checkText(text string) *exec.Error {
	if len(text) > maxQuery {
		return &exec.Error{Message: "The query is longer than 256 KiB: send what is long as variables."}
	}
	for words := lexer.New(&ast.Source{Input: text}); ; {
		word, err := words.ReadToken()
		if err != nil || word.Kind == lexer.EOF {
			return nil // the parser says what is wrong
		}
		switch word.Kind {
		case lexer.Name, lexer.Int, lexer.Float:
			if len(word.Value) > maxName {
				return &exec.Error{Message: "The query is too large: a name in it is longer than 255 bytes."}
			}
		}
	}
}

func syntaxError(err error) *exec.Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return &exec.Error{Message: "Parse error"}
	}
	out := told(e)
	out.Message = "Parse error: " + out.Message
	return out
}

func told(e *gqlerror.Error) *exec.Error {
	out := &exec.Error{Message: Cut(e.Message, maxMessage)} // it may repeat a value
	if e.Rule != "" {
		out.Extensions = map[string]any{"code": e.Rule}
	}
	for _, l := range e.Locations {
		out.Locations = append(out.Locations, exec.Location{Line: l.Line, Column: l.Column})
	}
	return out
}

// Cut shortens a text to so many bytes, between characters.
func Cut(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
