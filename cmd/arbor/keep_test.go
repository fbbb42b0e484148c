package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptKeep puts a string of the last answer's JSON into the environment:
// keep NAME FIELD, where FIELD may be a path such as object.sha.
func scriptKeep(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: keep NAME FIELD")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for part := range strings.SplitSeq(args[1], ".") {
		object, _ := value.(map[string]any)
		value = object[part]
	}
	text, ok := value.(string)
	if !ok {
		ts.Fatalf("the answer has no %s", args[1])
	}
	ts.Setenv(args[0], text)
}
