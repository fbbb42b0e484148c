package main

import (
	"net/http"
	"regexp"
	"time"

	"arbor/internal/test/testkit"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptAwait asks for a path again and again until the answer matches, for what
// the server does by itself after a while.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	var login string
	if len(args) == 4 && args[0] == "-as" {
		login, args = args[1], args[2:]
	}
	if len(args) != 2 || neg {
		ts.Fatalf("usage: await [-as LOGIN] PATH PATTERN")
	}
	pattern, err := regexp.Compile("(?s)" + args[1])
	ts.Check(err)
	var text string
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var res *http.Response
		if res, text = scriptInstance(ts).do(login, "GET", args[0], http.Header{},
			nil); res.StatusCode == http.StatusOK && pattern.MatchString(text) {
			return
		}
	}
	ts.Fatalf("GET %s never matches %s: %s", args[0], args[1], text)
}
