// Package conformance holds what Arbor says in the GitHub dialect against
// GitHub's own OpenAPI description of api.github.com: status, content type and
// body of every operation that both have. It holds tests only.
//
//	description_test.go  reads the description and compiles its schemas
//	check_test.go        one answer against one schema: required, missing, wrong
//	recorder_test.go     notes every exchange with the server under its operation
//	exceptions_test.go   where the description and api.github.com disagree
//	report_test.go       the table that `make conformance` prints
//	payload_test.go      the run: a full store, then every operation
//	world_*_test.go      what fills the store and asks for it, area by area
//
// The description comes from npm (testdata/openapi names the version). A route
// that both have and that the run does not request fails the test, so a new
// route needs a request in one of the world's files.
package conformance
