package git

import "sync"

// objectSet remembers objects of which something is known that stays so, since
// nothing is deleted: that all they lead to is in their repository, say. Like
// treeCache it has two halves, and an entry belongs to one repository.
type objectSet struct {
	mu         sync.Mutex
	young, old map[treeKey]struct{}
}

// maxWhole bounds one half: about 6 MB.
const maxWhole = 50_000

func (w *objectSet) has(k treeKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.young[k]; ok {
		return true
	}
	_, ok := w.old[k]
	if ok {
		w.putLocked(k)
	}
	return ok
}

func (w *objectSet) put(k treeKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.putLocked(k)
}

func (w *objectSet) putLocked(k treeKey) {
	if w.young == nil || len(w.young) >= maxWhole {
		w.old, w.young = w.young, map[treeKey]struct{}{}
	}
	w.young[k] = struct{}{}
}

// MarkWhole notes that an object and all that it leads to are here, durably.
// Who makes a commit of whole parents and a whole tree says so, and spares
// CheckConnected its walk.
func (r *Repository) MarkWhole(shas ...SHA) {
	s := r.git.state(r.dir)
	for _, sha := range shas {
		r.git.whole.put(treeKey{s, sha})
	}
}

// IsWhole reports whether an object was marked. False means nothing.
func (r *Repository) IsWhole(sha SHA) bool {
	return r.git.whole.has(treeKey{r.git.state(r.dir), sha})
}
