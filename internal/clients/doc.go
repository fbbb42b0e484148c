// Package clients runs stories with other people's API clients, unmodified,
// against a real server: programs that were written for GitHub and never heard
// of us must find what they expect (decision 3). It holds tests only.
//
//	github_test.go         go-github: how it connects, and what tests share
//	tracker_test.go        go-github: an issue tracker from creation to lock
//	trackerlists_test.go   go-github: lists with every option, and their pages
//	trackerevents_test.go  go-github: what happened, and when
//	trackersearch_test.go  go-github: what is found, and how much
//
// A client of another language belongs beside them in a file of its own, which
// skips, loudly, where its language is not installed.
package clients
