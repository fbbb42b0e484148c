// Package clients runs stories with other people's API clients, unmodified,
// against a real server: programs that were written for GitHub and never heard
// of us must find what they expect (decision 3). It holds tests only.
//
// Each client does all that the API can. For operations that none of its stories
// brought to a good end, the tests themselves make a request of package fixture
// with the client's method for it; one that fails has to be written in a story.
//
//	operations_test.go     stories, and what they must reach
//	machine_test.go        what is skipped where
//	github_test.go         go-github: how it connects, and what tests share
//	githubothers_test.go   go-github: its method for an operation that no story asks for
//	people_test.go         go-github: organizations, members, repositories, stars
//	tracker_test.go        go-github: an issue tracker from creation to lock
//	trackerlists_test.go   go-github: lists with every option, and their pages
//	trackerevents_test.go  go-github: what happened, and when
//	trackersearch_test.go  go-github: what is found, and how much
//	git_test.go            go-github: histories made of API calls
//	pull_test.go           go-github: a change from a fork to the merge
//	reviews_test.go        go-github: reviewers at work
//	teams_test.go          go-github: invitations, teams and signing keys
//	rules_test.go          go-github: protection, code owners and rulesets
//	releases_test.go       go-github: releases and their files
//	hooks_test.go          go-github: hooks and their deliveries
//	feeds_test.go          go-github: feeds of what happened
//	siteadmin_test.go      go-github: what site administrators do
//	octokit_test.go        octokit, the client for JavaScript: runs testdata/octokit
//	githubschema_test.go   answers of GraphQL are held against GitHub's schema
//	gh_test.go             gh, the command: runs testdata/gh
//	porcelain_test.go      gh's own commands, in all ways in which it reaches a server: runs testdata/porcelain
//	ghlogin_test.go        gh auth login in a browser, on this machine and with TLS
//	probot_test.go         a GitHub App that hears, comments and checks
//	reviewdog_test.go      reviewdog: checks and reviews of what a linter says
//	semanticrelease_test.go  semantic-release: versions, notes and files
//	pygithub_test.go       PyGithub: runs testdata/pygithub
//	renovate_test.go       renovate, as far as it gets
//	peribolos_test.go      peribolos: an organization, its teams and repositories from testdata/peribolos
//	gitxargs_test.go       git-xargs: one command in all repositories of an organization
//	tofu_test.go           OpenTofu with GitHub's provider: testdata/tofu
//	oauth2proxy_test.go    oauth2-proxy signs people in, as with GitHub and by OpenID Connect
//	buildbot_test.go       Buildbot builds pushes and pull requests, and signs people in: runs testdata/buildbot
//	programs_test.go       builds programs that the Go module proxy has
package clients
