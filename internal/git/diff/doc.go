// Package diff compares two trees of a repository, which commits may stand for. It stands
// above package git, and reads by git.Repository alone.
//
//	compare.go  Compare: the changed files, with counts and patches within bounds
//	part.go     comparisons of more text than git is given: some of the files
//	page.go     the bounds of what GitHub shows, and the changes of named files
//	write.go    Write and WritePatches: changes of any size, as text
//	trees.go    what differs, found without a process, before git is asked
//	output.go   reads what `git diff-tree` prints
//
// git queues all changes before it prints a line. So trees.go always goes first: it
// counts the changes, decides how git may look for renames, and is itself the answer
// where there are too many for git.
package diff
