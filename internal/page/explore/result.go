package explore

import (
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/search"
	"arbor/internal/search/code"
)

// foundCommit is a commit with the repository where it was found.
type foundCommit struct {
	page.Commit
	Repository string
	Path       string // of its page
}

func newFoundCommit(c *gitdata.CommitView) foundCommit {
	v := page.NewCommit(c)
	return foundCommit{v, c.In.FullName(), v.HTMLURL}
}

// hit is a file that was found.
type hit struct {
	Path       string
	Address    string // of its page
	Repository string
	matches    []search.TextMatch
}

func newHit(h *code.Hit) hit {
	return hit{page.Valid(h.Path), page.RepoPath(h.In) + "/blob/" + string(h.Commit) + page.Segments(h.Path),
		h.In.FullName(), h.Matches}
}

// span is a part of a fragment, which matches or not.
type span struct {
	Text string
	Hit  bool
}

// Fragments are the parts of the file in which something matches, cut where it begins and ends to match.
func (h *hit) Fragments() (list [][]span) {
	for _, m := range h.matches {
		if m.Property == "path" {
			continue
		}
		runes, at := []rune(m.Fragment), 0
		var spans []span
		for _, place := range m.Matches {
			from, to := place.Indices[0], place.Indices[1]
			if from < at || to < from || to > len(runes) {
				continue
			}
			spans = append(spans, span{Text: string(runes[at:from])}, span{string(runes[from:to]), true})
			at = to
		}
		list = append(list, append(spans, span{Text: string(runes[at:])}))
	}
	return list
}
