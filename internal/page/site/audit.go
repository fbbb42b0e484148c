package site

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/web"
)

// event is a row of the audit log.
type event struct {
	Action  string
	Actor   string
	IP      string `json:"actor_ip"`
	Right   string
	Org     string
	User    string
	Repo    string
	Data    json.RawMessage
	Created int64 `json:"created_at"` // milliseconds since 1970
}

// At is when it happened.
func (e *event) At() time.Time { return time.UnixMilli(e.Created) }

// Changes are the event's data in one line, with spaces for line breaks; empty: there are none.
func (e *event) Changes() page.Clipped {
	var b bytes.Buffer
	if json.Indent(&b, e.Data, "", "") != nil || b.String() == "{}" {
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

var linked = regexp.MustCompile(`[?&](after|before)=([^&>]+)[^>]*>; rel="(next|prev)"`)

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
	answer, err := p.kit.Send(r, inside.Request{Path: "/admin/audit-log",
		Query: page.Query("phrase", v.Phrase, "per_page", "50",
			"after", q.Get("after"), "before", q.Get("before"))})
	if errs.Is(err, errs.Invalid) {
		if v.Problem, err = page.ProblemOf(err); err != nil {
			return err
		}
		return p.t.Again(w, r, "audit.html", v.Problem, v)
	}
	if err != nil {
		return err
	}
	for _, m := range linked.FindAllStringSubmatch(answer.Header().Get("Link"), -1) {
		cursor, err := url.QueryUnescape(m[2])
		if err != nil {
			continue
		}
		to := "?" + page.Query("phrase", v.Phrase, m[1], cursor).Encode()
		if m[3] == "next" {
			v.Pages.Older = to
		} else {
			v.Pages.Newer = to
		}
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &v.List); err != nil {
		return err
	}
	return p.t.Page(w, r, "audit.html", v)
}
