// Package clients runs stories with other people's API clients, unmodified,
// against a real server: programs that were written for GitHub and never heard
// of us must find what they expect (decision 3). It holds tests only.
//
// Each client does all that the API can: its stories fail for a line of the
// route table that none of them brought to a good end. So whoever adds a route
// adds it to a story of each.
//
//	operations_test.go     stories, and what they must reach
//	machine_test.go        what is skipped where
//	github_test.go         go-github: how it connects, and what tests share
//	people_test.go         go-github: organizations, members, repositories, stars
//	tracker_test.go        go-github: an issue tracker from creation to lock
//	trackerlists_test.go   go-github: lists with every option, and their pages
//	trackerevents_test.go  go-github: what happened, and when
//	trackersearch_test.go  go-github: what is found, and how much
//	git_test.go            go-github: histories made of API calls
//	pull_test.go           go-github: a change from a fork to the merge
//	reviews_test.go        go-github: reviewers at work
//	octokit_test.go        octokit, the client for JavaScript: runs testdata/octokit
//	gh_test.go             gh, the command: runs testdata/gh
package clients
