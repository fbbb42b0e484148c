package explore

import "arbor/internal/page"

// commit is a commit with the repository where it was found.
type commit struct {
	page.Commit
	Repository page.Repository
}

// Path is the address of the commit's page.
func (c *commit) Path() string { return page.Local(c.HTMLURL) }

// hit is a file that was found.
type hit struct {
	Path       string
	HTMLURL    string `json:"html_url"`
	Repository page.Repository
	Matches    []struct {
		Property string
		Fragment string
		Matches  []struct{ Indices [2]int }
	} `json:"text_matches"`
}

// Address is that of the file's page.
func (h *hit) Address() string { return page.Local(h.HTMLURL) }

// span is a part of a fragment, which matches or not.
type span struct {
	Text string
	Hit  bool
}

// Fragments are the parts of the file in which something matches, cut where it begins and ends to match.
func (h *hit) Fragments() (list [][]span) {
	for _, m := range h.Matches {
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
