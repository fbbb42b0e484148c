package issue

import (
	"crypto/sha256"

	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// digest is a hash of an issue as a list shows it.
type digest [16]byte

// digestKey names what such an issue depends on, besides what the legend, the
// accounts and answerName say.
type digestKey struct {
	id, changed  int64
	open, closed int64 // issues of its milestone
}

// tag is the entity tag of a list of one repository's issues: a hash of the hashes
// of its issues, which pages that are made from memory share, since to hash a page
// takes as long as to make it.
func (p *page) tag(a *repo.Access, body []byte) string {
	base := ""
	if k := p.info.Media.Kind; p.legend != nil && p.rollups == nil && k != "html" && k != "full" {
		base = string(tracker.Name(p.info, a)) + itoa(a.AccountsGeneration)
	}
	all := make([]byte, 0, len(p.issues)*len(digest{}))
	start := 1 // behind the bracket, and then each comma
	for n, i := range p.issues {
		shown := body[start:p.ends[n]]
		start = p.ends[n] + 1
		hash := func() (d digest) {
			sum := sha256.Sum256(shown)
			copy(d[:], sum[:])
			return d
		}
		var d digest
		if base == "" {
			d = hash()
		} else {
			key := digestKey{id: i.ID, changed: i.changed}
			if m := p.milestones[i.MilestoneID]; m != nil {
				key.open, key.closed = m.OpenIssues, m.ClosedIssues
			}
			d = p.legend.digests.get(base, key, hash)
		}
		all = append(all, d[:]...)
	}
	return web.Tag(all)
}
