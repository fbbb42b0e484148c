package code

import (
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"time"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type blameView struct {
	at
	part
	Hunks []hunk
	Why   string // why nothing is blamed
}

// hunk is a run of lines of one commit.
type hunk struct {
	SHA, Author, Login, Summary string
	When                        time.Time
	Age                         string // a class, hot0 (as new as the newest line of the file) to hot5 (as old as the oldest)
	// the page that blames the file before the commit; empty: there was none
	Before string
	Start  int
	First  template.HTML
	Rest   []template.HTML
}

// Rows are the hunk's rows: the first begins with the author of the lines, and spans them all.
func (h *hunk) Rows(repo string) template.HTML {
	var b strings.Builder
	escape := template.HTMLEscapeString
	by := escape(h.Author)
	if h.Login != "" {
		by = `<a class="by" href="` + escape(web.Path(h.Login)) + `">` + escape(h.Login) + `</a>`
	}
	before := ""
	if h.Before != "" {
		before = ` · <a href="` + escape(h.Before) + `" title="Blame the file before this change" aria-label="Blame the file before ` +
			page.Short(h.SHA) + `">before this change</a>`
	}
	who := fmt.Sprintf(`<td rowspan="%d" class="who %s"><div><a class="subject" href="%s/commit/%s" title="%[5]s">%[5]s</a>`+
		`<span class="soft">%s · %s%s</span></div></td>`, 1+len(h.Rest), h.Age,
		escape(repo), h.SHA,
		escape(h.Summary), by, page.Date(h.When), before)
	writeRow(&b, h.Start, h.First, who)
	for n, line := range h.Rest {
		writeRow(&b, h.Start+n+1, line)
	}
	return template.HTML(b.String())
}

// GET /{owner}/{repo}/blame/{path...}
//
// Blame answers the authors of the lines of a file, 1,500 a page, with links to earlier versions. Error: 404.
func (p *Pages) Blame(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "blame")
	if err != nil {
		return err
	}
	if place.At.Type != "blob" {
		return page.SeeOther(w, r, place.Link("tree", place.At.Path))
	}
	v := &blameView{at: place}
	b, err := p.with.Git.Blame(r.Context(), a, v.At.SHA, v.At.Path)
	if errs.Is(err, errs.Invalid) {
		problem, _ := page.ProblemOf(err)
		v.Why = problem.Message
		return p.t.Page(w, r, "blame.html", v)
	}
	if err != nil {
		return page.Absent(err)
	}
	if to := p.hunks(r, v, b); to != "" {
		return page.SeeOther(w, r, v.Link("blame", v.At.Path)+to)
	}
	return p.t.Page(w, r, "blame.html", v)
}

// hunks returns the view of what was blamed. It returns the query of another page if the requested line is
// there.
func (p *Pages) hunks(r *http.Request, v *blameView, b *gitdata.Blamed) (to string) {
	var text strings.Builder
	for _, h := range b.Hunks {
		for _, line := range h.Lines {
			text.WriteString(strings.TrimSuffix(line, "\r"))
			text.WriteByte('\n')
		}
	}
	list, total, cut := p.lines(r.Context(), path.Base(v.At.Path), text.String())
	v.part = partOf(r, list, total, cut)
	var oldest, newest time.Time
	for _, h := range b.Hunks {
		if when := h.Commit.When; oldest.IsZero() || when.Before(oldest) {
			oldest = when
		}
		if h.Commit.When.After(newest) {
			newest = h.Commit.When
		}
	}
	for _, h := range b.Hunks {
		from, to := max(h.Start, v.From), min(h.Start+len(h.Lines)-1, v.To)
		if from > to {
			continue
		}
		c, mine := h.Commit, v.Lines[from-v.From:to-v.From+1]
		x := hunk{SHA: string(c.SHA), Author: page.Valid(c.Author), Login: b.Logins[c.SHA], Summary: page.Valid(c.Summary),
			When: c.When, Age: age(c.When, oldest, newest), Start: from, First: mine[0], Rest: mine[1:]}
		if c.Before != "" {
			x.Before = v.Repo.Path + "/blame/" + string(c.Before) + segments(c.BeforePath)
		}
		v.Hunks = append(v.Hunks, x)
	}
	return lineAsked(r, list)
}

// ages is how many classes of ages there are.
const ages = 6

// age is the class of when a line was written, between the oldest and the newest line of its file.
func age(t, oldest, newest time.Time) string {
	n := time.Duration(0)
	if span := newest.Sub(oldest); span > 0 {
		n = min(newest.Sub(t)/(span/ages+1), ages-1)
	}
	return "hot" + string(rune('0'+n))
}
