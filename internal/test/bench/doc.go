// Package bench compares Arbor's costs with those of the bare work.
// It contains only benchmarks:
//
//	go test -tags long ./internal/test/bench -run '^$' -bench . -benchtime 1x -timeout 90m
//
// Each figure is a ratio within one run: Arbor and its floor take turns, pair
// by pair, and the median of the pairs counts, so that a busy machine slows
// both alike. The floors are a push, clone or listing of git itself by path, a
// handler that writes the same bytes from memory, and the bare driver's own
// synced transaction. The server is a real `arbor serve` in a process of its
// own; the handler is one too. At the end stands a line for each bound, with
// "ok" or "OVER": how fast a machine is decides no test.
//
//	suite_test.go     the bounds' table, pairs and medians
//	process_test.go   arbor serve as a process, its memory and its children
//	floor_test.go     the handler that writes bytes from memory
//	client_test.go    a client that costs little compared with the server
//	git_test.go       pushes and clones
//	tree_test.go      trees: first reads, repeated reads, memory
//	page_test.go      pages of a large repository, cold
//	plant_test.go     plants: additions, the long list
//	merge_test.go     merges compared with those of git's processes
//	pull_test.go      pull requests: made, merged, waiting at a base, read
//	rule_test.go      pushes and merges under twenty rulesets
//	issues_test.go    lists of a tracker of a million issues, on both engines
//	issueread_test.go, issuewrite_test.go   reads during writes; filing issues
//	worst_test.go     judged by the worst of many figures
//	star_test.go      stars: long lists, and starring compared with the driver's own transactions
//	backup_test.go    how long writers wait during a backup
//	asset_test.go     files of releases up and down, compared with a copy on the disk
//	hook_test.go      pushes with ten subscribed hooks
//	reset_test.go     a throwaway server goes back to its seed
//	idle_test.go      tokens; start and memory of a server at rest
//	graphql_test.go   the first query, and one as large as editors send
//	cost_test.go      processor time of requests, of the node and of PostgreSQL; no ratios, but of use on any machine
//	node_test.go      reads by two and three nodes, each bound to a share of a core, compared with those by one
//	capacity_test.go  a simulation with these costs: how many people some nodes and one PostgreSQL carry
//	hangup_test.go    a test, no figure: who hangs up leaves nothing behind
package bench
