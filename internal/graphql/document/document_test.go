package document

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/graphql/schema"
)

// BenchmarkNewQuery parses and validates the largest query that gh 2.23 sends, gh pr list with every field of
// --json, as one that was not met before: a millisecond at most.
func BenchmarkNewQuery(b *testing.B) {
	text, err := os.ReadFile("../testdata/prlist.graphql")
	if err != nil {
		b.Fatal(err)
	}
	d := New(sync.OnceValue(schema.Load))
	if read := d.parse(string(text)); len(read.Errors) > 0 {
		b.Fatal(read.Errors[0])
	}
	for b.Loop() {
		d.parse(string(text))
	}
}

// hostile are documents that cost much more than they say, by what the error begins with; empty: any.
func hostile() map[string]string {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	long := strings.Repeat("Q", 300_000)
	value := strings.Repeat("V", 200_000)
	nested := strings.Repeat("[", 900) + `"` + value + `"` + strings.Repeat("]", 900)
	return map[string]string{
		"query " + long + "(" + many(14_000, "$a%d:ID ") + "){viewer{id}}":                                "The query is longer",
		"query " + long[:200_000] + "{viewer{id}}":                                                        "The query is too large: a name",
		"{__schema{types{fields{" + long[:1000] + ":name}}}}":                                             "The query is too large: a name",
		"query q(" + many(10_000, "$a%d:ID ") + "){viewer{id}}":                                           "The query is too large: it has more than 1000",
		many(5000, "query q%d{viewer{...f}}") + "fragment f on User{id}":                                  "The query is too large: it has more than 50",
		many(50, "query q%d{...f0}") + many(3000, "fragment f%d on Query{viewer{id}}"):                    "",
		many(50, "query q%d{...f}") + `fragment f on Query{repository(owner:"` + value + `",name:X){id}}`: "",
		many(40, "query q%d{...f}") + "fragment f on Query{" + many(1000, "a%d:viewer{id}") + "}":         "The query is too large: it selects",
		"{repository(owner:" + nested + ",name:1){id}}":                                                   "",
		"{viewer{id " + strings.Repeat("@x ", 25_000) + "}}":                                              "",
		"{" + many(4000, "...f%d ") + "}" + many(4000, "fragment f%d on Query{viewer{id}}"):               "",
		"query q(" + many(1000, "$a%d:ID ") + "){" + many(3000, "b%d:node(id:$a999){id}") + "}":           "",
		"{" + many(9000, "a%d:nothing ") + "}":                                                            "Field 'nothing'",
		"{viewer" + strings.Repeat("{viewer", 20_000) + strings.Repeat("}", 20_000) + "}":                 "",
		"{repository(owner:" + strings.Repeat("{a:", 20_000) + "1" + strings.Repeat("}",
			20_000) + "){id}}": "",
	}
}

// What is told of a hostile document is small, and made quickly.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	d := New(sync.OnceValue(schema.Load))
	for text, want := range hostile() {
		start := time.Now()
		read := d.parse(text)
		told, err := json.Marshal(read.Errors)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%7d bytes, %d errors of %d bytes, %v: %.60q", len(text), len(read.Errors), len(told),
			time.Since(start).Round(time.Millisecond), told)
		if len(told) > 100_000 || len(read.Errors) > maxTold ||
			want != "" && (len(read.Errors) == 0 || !strings.HasPrefix(read.Errors[0].Message, want)) {
			t.Errorf("%.80q: %d errors, %d bytes: %.200s", text, len(read.Errors), len(told), told)
		}
	}
}
