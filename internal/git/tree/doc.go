// Package tree works on trees as data: it edits, merges and counts them. It reads them
// by a function that the caller gives, and starts no process.
//
//	edit.go   new trees out of old ones and edits (decision 44)
//	merge.go  merges of three trees, as git makes them
//	count.go  how many paths a tree comes to with all below it
//
// Only trees on the way to a difference are read. What is made is git's own, byte for
// byte, and the caller's to write.
package tree
