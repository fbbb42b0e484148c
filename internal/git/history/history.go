// Package history answers questions about files, authors and branches from a repository's history:
//
//	lastcommits.go  which commits changed the entries of a directory last
//	blame.go        which commit wrote each line of a file
//	authors.go      the number of commits by author
//	changes.go      who changed how many lines when
//	divergence.go   how far branches have diverged from another one
//
// It stands above package git. Each answer is one walk of one process of git, and bounded.
package history
