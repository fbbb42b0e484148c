// Package packfile reads and writes packs and their indexes, as bytes and files. It
// knows no repository and starts no process.
//
//	index.go   which objects a pack holds, and where
//	sizes.go   what objects are and how large, off the heads of their entries
//	need.go    the memory that unpacking a small pack takes
//	object.go  an object as an entry; write.go packs of whole objects
//
// What clients sent is read here: every length is checked before it is used.
package packfile
