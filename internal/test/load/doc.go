// Package load sends a real server everything at once: attacks of many kinds, and the work of honest people.
//
//	make siege     all attacks while honest people work: ten minutes on each engine, times decide
//	make test-all  a short siege: each connection attack by itself, then all until each honest step succeeded
//	make soak      honest people only: what the server takes must not grow
//
//	go test -tags long ./internal/test/load -args -for 2m           a siege of two minutes
//	go test -tags long ./internal/test/load -args -attack 'clones'  one attack instead of all
//
// The server is an `arbor serve --memory 1GiB` in a process of its own. Some harmful repositories were
// pushed long ago, before the server refused such pushes: they are written into the store before the server
// starts. Attackers come from addresses of their own; some have a token. Honest callers come from another
// address. All but one have accounts; that one reads and clones like most visitors of a public server.
//
// In a siege with -for each honest request must succeed within two seconds (five without an account), a clone, a
// push and a request for megabytes within ten; the server and its git processes together stay below 1 GiB. During a
// single attack each honest step must succeed, however long it takes. In every siege the server afterwards
// lets go of everything although the attackers' connections stay, its log has no line that blames it, and
// `arbor check` finds the store sound. A short run prints times, which decide nothing.
//
// An attack is a row: its name, its workers, and a function that tries it once. A step of an honest caller is a
// row, too: its name, its bound, and a function.
//
//	load_test.go      the runs
//	tally_test.go     what became of each attack and each honest step
//	world_test.go     the store, its server in a process, and callers
//	plant_test.go     the repositories that harm
//	honest_test.go    the honest callers
//	request_test.go   attacks by requests of the API
//	git_test.go       attacks by fetches, archives and pushes
//	held_test.go      attacks by connections that send or read slowly, or never, also over SSH
//	http2_test.go     attacks over TLS and HTTP/2
//	watch_test.go     memory, processes and metrics of the server
//	conn.go, http2.go connections of ill-behaved clients, which tests of precise bounds use as well
package load
