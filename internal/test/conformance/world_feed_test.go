//go:build long

package conformance

// following: alice and bob follow each other, and dave for a while.
func (w *world) following() {
	w.do("alice", "PUT /user/following/bob")
	w.do("bob", "PUT /user/following/alice")
	w.do("alice", "PUT /user/following/dave")
	w.do("alice", "GET /user/following/dave")
	w.do("alice", "DELETE /user/following/dave")
	for _, list := range []string{"GET /user/followers", "GET /user/following", "GET /users/bob/followers",
		"GET /users/bob/following", "GET /users/bob/following/alice"} {
		w.do("alice", list)
	}
}

// feeds: what happened, from every side.
func (w *world) feeds() {
	for _, feed := range []string{
		"GET /events", "GET " + garden + "/events", "GET /networks/alice/garden/events",
		"GET /orgs/orchard/events", "GET /users/alice/events",
		"GET /users/alice/events/public", "GET /users/alice/events/orgs/orchard",
		"GET /users/alice/received_events", "GET /users/alice/received_events/public",
	} {
		w.do("alice", feed+"?per_page=100")
	}
	w.do("", "GET "+garden+"/contributors")
}

// archives are files, or lead to them.
func (w *world) archives() {
	for _, kind := range []string{"tarball", "zipball"} {
		w.request(githubJSON, "alice", "GET "+garden+"/"+kind+"/main")
	}
}
