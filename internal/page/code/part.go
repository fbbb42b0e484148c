package code

import (
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/highlight"
	"arbor/internal/page"
	"arbor/internal/web"
)

// Bounds of a page of a file, so that what it adds to the text stays below 100 KB: of 1,500 lines the rows
// take some 57 KB. What is left is for colours; from where there are more, lines are plain.
const (
	linesPerPage = 1500
	maxMarkup    = 85_000 // bytes of rows, colours and escapes
)

// lines are the first lines of a text as HTML, all of it escaped, and how many it has.
func (p *Pages) lines(ctx context.Context, name, text string) (list []string, total int, cut bool) {
	total = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		total++
	}
	if len(text) > maxText {
		text, cut = text[:maxText], true
		text = strings.ToValidUTF8(text[:strings.LastIndexByte(text, '\n')+1], "")
	}
	if total == 0 {
		return nil, 0, false
	}
	return p.kit.Texts.Lines(ctx, name, text), total, cut
}

// part is the lines of a file that a page of it shows.
type part struct {
	From, To int // lines, From is the first; To is 0 where the text has none
	Shown    int // lines on all pages
	Total    int // lines of the text
	Cut      bool
	Lines    []template.HTML // on this page
	Around   page.Pager      // the pages before and after
}

// Several reports that the file has more than one page.
func (p *part) Several() bool { return p.Shown > linesPerPage }

// Last reports the last of the pages.
func (p *part) Last() bool { return p.To == p.Shown }

// Query leads to this page of the file from another address of it; empty: the first page.
func (p *part) Query() string {
	if p.From <= linesPerPage {
		return ""
	}
	return "?page=" + strconv.Itoa(p.From/linesPerPage+1)
}

// PerPage is how many lines a page has; so the script finds the page of a line.
func (p *part) PerPage() int { return linesPerPage }

// partOf returns the lines of the request's page, or the last page if there are fewer. total is the number
// of lines of the text; list may lack some, as cut says.
func partOf(r *http.Request, list []string, total int, cut bool) part {
	last := max(1, (len(list)+linesPerPage-1)/linesPerPage)
	number := int(min(web.ReadPage(r).Number, int64(last)))
	from := (number - 1) * linesPerPage
	to := min(from+linesPerPage, len(list))
	p := part{From: from + 1, To: to, Shown: len(list), Total: total, Cut: cut,
		Around: page.PagesOf(r, number < last)}
	left := maxMarkup
	for n := from; n < to; n++ {
		left -= rowMarkup(n+1) + highlight.Escapes(list[n])
	}
	for _, line := range list[from:to] {
		if left -= highlight.Tags(line); left < 0 {
			line = highlight.Plain(line)
		}
		p.Lines = append(p.Lines, template.HTML(line)) // escaped by package highlight
	}
	return p
}

// lineAsked is where a line that the query asks for is: the page of it, and the line on that; empty: none is
// asked for.
func lineAsked(r *http.Request, list []string) string {
	n, err := strconv.Atoi(web.QueryOf(r).Get("line"))
	if err != nil || len(list) == 0 {
		return ""
	}
	n = min(max(n, 1), len(list))
	q := r.URL.Query()
	q.Del("line")
	q.Set("page", strconv.Itoa((n-1)/linesPerPage+1))
	return "?" + q.Encode() + "#L" + strconv.Itoa(n)
}

// writeRow writes the row of a line: its number, which is a link, and the text. End tags that HTML can do
// without are left out, for there are many rows.
func writeRow(b *strings.Builder, n int, line template.HTML, before ...string) {
	number := strconv.Itoa(n)
	b.WriteString(`<tr id=L` + number + `>` + strings.Join(before, "") + `<td><a href=#L` + number +
		`>` + number + `</a><td>`)
	b.WriteString(string(line))
}

// rowMarkup is how many bytes writeRow writes besides the text and the number.
func rowMarkup(n int) int {
	return len(`<tr id=L><td><a href=#L></a><td>`) + 2*len(strconv.Itoa(n))
}
