// Package wire has git's own protocol as bytes: what clients ask, and what they are
// told. It knows no repository and starts no process.
//
//	pktline.go    pkt-lines; sideband.go several streams in one
//	advertise.go  refs, and the list of them that a fetch or a push begins with
//	lsrefs.go     protocol 2's request for refs
//	fetch.go      the objects that a fetch names
//	section.go    where a message ends on a connection that stays open
//	push.go       the commands before a pack; report.go what became of them
//
// What git would not send is Malformed. Nothing that a client names is looked up
// here, and no name of a ref is trusted: see object.CheckRefName.
package wire
