package git

// maxWhole is how many objects one half of a cache of names holds: about 6 MB.
const maxWhole = 50_000

// MarkWhole notes that an object and all that it leads to are here, durably.
// Who makes a commit of whole parents and a whole tree says so, and spares
// CheckConnected its walk.
func (r *Repository) MarkWhole(shas ...SHA) {
	s := r.git.state(r.dir)
	for _, sha := range shas {
		r.git.whole.Put(treeKey{s, sha}, struct{}{})
	}
}

// IsWhole reports whether an object was marked. False means nothing.
func (r *Repository) IsWhole(sha SHA) bool {
	_, ok := r.git.whole.Get(treeKey{r.git.state(r.dir), sha})
	return ok
}
