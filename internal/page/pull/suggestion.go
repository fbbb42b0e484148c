package pull

import (
	"html"
	"html/template"
	"strings"

	"arbor/internal/page/diff"
)

// part is a piece of a comment: HTML, or a suggestion.
type part struct {
	Body       template.HTML
	Suggestion *suggestion
}

// suggestion is lines that somebody proposes for those that a comment is about.
type suggestion struct {
	Comment  *said
	Old, New []string
	MayApply bool
}

// What package markdown makes of a block of code that is marked as a suggestion.
const (
	suggestionBegin = `<pre><code class="language-suggestion">`
	suggestionEnd   = `</code></pre>`
)

// suggestions cuts a comment's HTML at its suggestions: texts stand between pieces of HTML, one more than
// texts. A block that holds elements was not made by Markdown, and stays HTML.
func suggestions(body template.HTML) (pieces []template.HTML, texts []string) {
	rest, kept := string(body), ""
	for {
		before, from, found := strings.Cut(rest, suggestionBegin)
		code, after, ended := strings.Cut(from, suggestionEnd)
		if !found || !ended {
			return append(pieces, template.HTML(kept+rest)), texts
		}
		if strings.Contains(code, "<") {
			kept, rest = kept+before+suggestionBegin+code+suggestionEnd, after
			continue
		}
		pieces, texts = append(pieces, template.HTML(kept+before)), append(texts, html.UnescapeString(code))
		kept, rest = "", after
	}
}

// split returns the parts of a comment of the thread.
func (t *thread) split(c *lineComment) (parts []part) {
	pieces, texts := suggestions(c.Body)
	for n, piece := range pieces {
		if strings.TrimSpace(string(piece)) != "" {
			parts = append(parts, part{Body: piece})
		}
		if n < len(texts) {
			s := &suggestion{Comment: &said{lineComment: c, Thread: t}, Old: c.lines(t.Rows),
				New: linesOf(texts[n])}
			s.MayApply = t.MayCommit && !t.Outdated && !c.Pending && c.Side == diff.Right && c.Line > 0 &&
				len(texts) == 1
			parts = append(parts, part{Suggestion: s})
		}
	}
	return parts
}

// lines are the lines that a comment is about, as they were when it was written and as far as rows, the end
// of its hunk, have them.
func (c *lineComment) lines(rows []diff.Row) (list []string) {
	start := c.OriginalStart
	if start == 0 {
		start = c.OriginalLine
	}
	for _, row := range rows {
		if row.New >= start && row.New <= c.OriginalLine && row.New > 0 && row.Kind != "d" {
			list = append(list, row.Text.Before+row.Text.Middle+row.Text.After)
		}
	}
	return list
}

// linesOf cuts a suggested text into lines.
func linesOf(text string) []string {
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
