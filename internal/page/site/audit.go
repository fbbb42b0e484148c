package site

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"arbor/internal/audit"
	"arbor/internal/page"
	"arbor/internal/web"
)

// event is a row of the audit log.
type event struct{ *audit.Event }

// At is when it happened.
func (e event) At() time.Time { return e.CreatedAt.Time() }

// Data are the changes in one line, with spaces for line breaks; empty: there are none.
func (e event) Data() page.Clipped {
	var b bytes.Buffer
	if json.Indent(&b, e.Changes, "", "") != nil || b.String() == "{}" {
		return page.Clipped{}
	}
	return page.Clip(strings.ReplaceAll(b.String(), "\n", " "), 500)
}

type auditView struct {
	view
	Phrase  string
	List    []event
	Actions []audit.Action
}

const auditSize = 50

// GET /site/audit
//
// Audit lists the audit log of the whole server, the newest first; phrase chooses, after and before are
// cursors.
func (p *Pages) Audit(w http.ResponseWriter, r *http.Request) error {
	f, err := p.frame(r, "audit", "Audit log")
	if err != nil {
		return err
	}
	q := web.QueryOf(r)
	v := &auditView{view: f, Phrase: q.Get("phrase"), Actions: audit.Actions}
	var filter audit.Filter
	if err = filter.SetCursors(q.Get("after"), q.Get("before")); err == nil {
		err = filter.Parse(v.Phrase)
	}
	if err != nil {
		return p.t.Refuse(w, r, "audit.html", err, v)
	}
	list, more, err := p.Accounts.Events(r.Context(), filter, auditSize)
	if err != nil {
		return err
	}
	for n := range list {
		v.List = append(v.List, event{&list[n]})
	}
	next, prev := filter.Around(list, more)
	v.Pages = page.Pager{Older: v.at("after", next), Newer: v.at("before", prev)}
	return p.t.Page(w, r, "audit.html", v)
}

// at is the address of the page at a cursor; empty: there is none.
func (v *auditView) at(name, cursor string) string {
	if cursor == "" {
		return ""
	}
	return "?" + page.Query("phrase", v.Phrase, name, cursor).Encode()
}
