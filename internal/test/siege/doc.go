// Package siege attacks a real server from all sides while honest people work.
// It has no code of its own, only a test:
//
//	make siege                                      (ten minutes on each engine)
//	go test -tags long ./internal/test/siege -args -for 2m          (shorter)
//
// The server is an `arbor serve --memory 1GiB` in a process of its own. Some of
// what harms was pushed long ago, before the server refused such pushes: it is
// written into the store before the server starts. Attackers come from
// addresses of their own (127.66.0.0/16); some have a token. Honest callers have
// tokens, too, and come from another address.
//
// What must hold to the end: each honest request succeeds, within two seconds,
// and a clone or a push within ten; the server and git's processes together
// stay below 1 GiB; the log has no line that blames the server. In a run that is
// not asked for with -for, which takes some seconds within `go test ./...`, times
// are printed and decide nothing.
//
//	siege_test.go     the run, and what it prints
//	world_test.go     the store, and the server in a process
//	plant_test.go     the repositories that harm
//	honest_test.go    the honest callers
//	web_test.go       attacks by requests of the API
//	bots_test.go      attacks by what is there for automation
//	fetch_test.go     attacks by fetches, archives and pushes
//	socket_test.go    attacks by connections that send or read slowly, or never
//	memory_test.go    the memory of the server and of its children
package siege
