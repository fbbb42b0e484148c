package diff

import (
	"context"
	"strings"
	"time"

	"arbor/internal/highlight"
)

// How long the colours of one page may take. What is not coloured until then is plain, unless it is kept from
// before; the script asks for the page again with ?colours=1, and takes the colours from there.
const (
	maxColouring = 10 * time.Millisecond
	maxLater     = 500 * time.Millisecond
)

// colour colours the rows of files, as long as their tags fit into so many bytes. It reports whether it had no time
// or no lexer for some.
func colour(ctx context.Context, texts *highlight.Texts, files []*File, left int, limit time.Duration) (late bool) {
	if texts == nil {
		return false
	}
	end := time.Now().Add(limit)
	lines := func(name, text string) []string {
		list, isPlain := texts.Kept(name, text)
		switch {
		case list != nil || isPlain:
			return list
		case time.Now().After(end):
			late = true
			return nil
		}
		coloured := texts.Lines(ctx, name, text)
		if list, _ = texts.Kept(name, text); list == nil { // others were being coloured
			late = true
		}
		return coloured
	}
	for _, f := range files {
		for from := 0; from < len(f.rows); {
			to := from + 1
			for to < len(f.rows) && f.rows[to].Kind != "h" {
				to++
			}
			colourHunk(f.rows[from:to], f.Filename, lines, &left)
			from = to
		}
	}
	return late
}

// colourHunk colours the old and the new text of a hunk, each as a text of its own.
func colourHunk(rows []Row, name string, lines func(name, text string) []string, left *int) {
	for _, side := range [...]struct{ other, only string }{{"d", "a"}, {"a", "d"}} {
		var text strings.Builder
		var of []*Row
		changed := false
		for n := range rows {
			if k := rows[n].Kind; k == "h" || k == "n" || k == side.other {
				continue
			}
			changed = changed || rows[n].Kind == side.only
			m := &rows[n].Text
			text.WriteString(m.Before + m.Middle + m.After + "\n")
			of = append(of, &rows[n])
		}
		if side.only == "d" && !changed || strings.ContainsRune(text.String(), 0) {
			continue
		}
		list := lines(name, text.String())
		if len(list) != len(of) {
			continue
		}
		for n, row := range of {
			if row.Colour != "" {
				continue
			}
			if *left -= highlight.Tags(list[n]); row.Text.Middle != "" {
				*left -= 2 * len("</k-><k->") // around the mark
			}
			if *left < 0 {
				return
			}
			row.Colour = list[n]
		}
	}
}
