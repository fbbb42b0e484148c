// Package object has the words of Git: how objects are named, what they are, and
// their bytes. It knows no repository and starts no process.
//
//	sha.go      SHA, ID; types of objects and modes of entries
//	new.go      objects that are to be written; how large one may be
//	entry.go    trees as bytes
//	commit.go   commits out of bytes
//	encode.go   commits and tags as bytes; signatures and dates
//	refname.go  which names of refs are allowed (decision 50)
//	path.go     which paths a tree may contain (decision 44)
//
// Reading accepts odd objects, as old histories have them; writing produces only what `git
// fsck` accepts.
package object
