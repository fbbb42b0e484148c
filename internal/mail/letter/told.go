package letter

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/issuekit"
	"arbor/internal/mail"
	"arbor/internal/mail/reply"
	"arbor/internal/markdown"
	"arbor/internal/notification"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// toldView is what told.html shows.
type toldView struct {
	Subject string
	Parts   []toldPart
	Threads []toldThread
	More    string // what was left out

	Page, View, Stop, Settings string
	Why                        string
}

type toldPart struct {
	By, Did, Link string
	Body          string
	HTML          template.HTML
	Inline        []toldInline
}

type toldInline struct {
	Path, Body string
	HTML       template.HTML
}

type toldThread struct{ In, Title, Link string }

// whys say why somebody is notified.
var whys = map[notification.Reason]string{
	0:                            "You get this because it is your own activity.",
	notification.Subscribed:      "You get this because you watch the repository.",
	notification.Manual:          "You get this because you subscribed to this thread.",
	notification.StateChange:     "You get this because you changed the state of this thread.",
	notification.Commented:       "You get this because you commented.",
	notification.Author:          "You get this because you are the author.",
	notification.Assign:          "You get this because you were assigned.",
	notification.ReviewRequested: "You get this because your review was requested.",
	notification.Mention:         "You get this because you were mentioned.",
	notification.TeamMention:     "You get this because a team of yours was mentioned.",
}

// told tells of what happened in a thread.
func (l *Letters) told(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	ctx = web.WithInfo(ctx, &web.Info{Site: l.site})
	t, err := l.Notices.Told(ctx, m)
	if err != nil {
		return nil, err
	}
	page := l.site + pathOf(t.Thread, t.In)
	v := &toldView{Subject: subjectOf(t), Page: page, View: "View it", Stop: l.stop(t.Stop),
		Settings: l.site + "/settings/notifications", Why: whys[t.Reason]}
	if l.Reply != "" && t.Issue != 0 {
		v.Why = "Reply to this mail to comment. " + v.Why
	}
	if t.More > 0 {
		v.More = fmt.Sprintf("%d more are on the page.", t.More)
	}
	for _, p := range t.Parts {
		part := toldPart{By: p.By, Did: p.Did, Body: p.Body}
		if p.Anchor != "" {
			part.Link = page + "#" + p.Anchor
		}
		if part.HTML, err = l.html(ctx, t.In, p.Body); err != nil {
			return nil, err
		}
		for _, i := range p.Inline {
			inline := toldInline{Path: i.Path, Body: i.Body}
			if inline.HTML, err = l.html(ctx, t.In, i.Body); err != nil {
				return nil, err
			}
			part.Inline = append(part.Inline, inline)
		}
		v.Parts = append(v.Parts, part)
	}
	v.bound()
	made, err := v.message(t.To)
	if err != nil {
		return nil, err
	}
	reason := t.Reason.String()
	if reason == "" {
		reason = "your_activity"
	}
	made.From, made.ToList, made.List, made.Reason = t.Parts[len(t.Parts)-1].By, true, t.In.FullName(), reason
	made.Unsubscribe, made.Page = v.Stop, page
	if l.Reply != "" && t.Issue != 0 {
		key, err := mail.Key(ctx, l.DB)
		if err != nil {
			return nil, err
		}
		made.ReplyTo = reply.Address(l.Reply, key, t.Reader.ID, t.Issue)
	}
	if root := rootOf(t.Thread); t.Parts[0].Kind == notification.Opened {
		made.ID = root
	} else {
		made.References = []string{root}
	}
	return made, nil
}

// digest lists what happened in a day or a week.
func (l *Letters) digest(ctx context.Context, m *mail.Mail) (*mail.Message, error) {
	ctx = web.WithInfo(ctx, &web.Info{Site: l.site})
	d, err := l.Notices.Digest(ctx, m)
	if err != nil {
		return nil, err
	}
	of := map[notification.Digest]string{notification.Daily: "day", notification.Weekly: "week"}[d.Digest]
	v := &toldView{Subject: fmt.Sprintf("Notifications of the %s: %d", of, d.Total),
		Page: l.site + "/dashboard/notifications", View: "View all", Stop: l.stop(d.Stop),
		Settings: l.site + "/settings/notifications", Why: "You get this because you chose a list of each " + of + "."}
	for _, t := range d.Threads {
		if a := d.Repos[t.RepoID]; a != nil {
			v.Threads = append(v.Threads, toldThread{a.FullName(), mail.Line(titleOf(t), maxTitle),
				l.site + pathOf(t, a)})
		}
	}
	if n := d.Total - int64(len(d.Threads)); n > 0 {
		v.More = fmt.Sprintf("%d more are in the inbox.", n)
	}
	made, err := v.message(d.To)
	if err == nil {
		made.Unsubscribe, made.Reason = v.Stop, "digest"
	}
	return made, err
}

func (l *Letters) stop(secret string) string {
	return l.site + "/notifications/unsubscribe?link=" + url.QueryEscape(secret)
}

const maxTitle = 150 // characters

// html renders a text. Images are links, so nobody learns when a mail is read, and addresses have their host.
func (l *Letters) html(ctx context.Context, a *repo.Access, source string) (template.HTML, error) {
	if source == "" {
		return "", nil
	}
	out, err := l.Texts.HTML(ctx, a, source)
	if err != nil {
		return "", err
	}
	out = markdown.Images(out, func(string) (string, bool) { return "", false })
	return template.HTML(strings.ReplaceAll(out, `href="/`, `href="`+template.HTMLEscapeString(l.site)+`/`)), nil
}

func titleOf(t *notification.Thread) string {
	if t.Issue != 0 {
		return t.Title + " (#" + strconv.FormatInt(t.Number, 10) + ")"
	}
	return t.Title
}

// subjectOf is that of a mail, whose end is kept however long the title is.
func subjectOf(t *notification.Told) string {
	title, end := t.Title, ""
	switch {
	case t.Issue != 0:
		end = " (#" + strconv.FormatInt(t.Number, 10) + ")"
		if t.Pull {
			end = " (PR #" + strconv.FormatInt(t.Number, 10) + ")"
		}
	case t.Release != 0:
		title = "Release " + t.Title
	case t.Commit != "":
		end = " (" + string(t.Commit[:min(7, len(t.Commit))]) + ")"
	}
	begin := "[" + mail.Line(t.In.FullName(), 100) + "] "
	return begin + mail.Line(title, 200-len([]rune(begin+end))) + end
}

// rootOf is the message id of the first mail of a thread, which all others refer to.
func rootOf(t *notification.Thread) string {
	if t.Issue != 0 {
		return "issue." + strconv.FormatInt(int64(t.Issue), 10)
	}
	return "thread." + strconv.FormatInt(t.SubjectID, 10)
}

// pathOf is the page of a thread.
func pathOf(t *notification.Thread, a *repo.Access) string {
	in := web.Path(a.Owner.Login, a.Name)
	switch {
	case t.Issue != 0:
		return in + issuekit.PageSegment(t.Pull) + strconv.FormatInt(t.Number, 10)
	case t.Release != 0:
		return in + "/releases/tag/" + (&url.URL{Path: t.Tag}).EscapedPath()
	}
	return in + "/commit/" + string(t.Commit)
}

// mostShown bounds the texts in a mail, in bytes of either form. So the end of a mail with its links is never cut.
const mostShown = 192 << 10

// tooLong stands for a text that is left out.
const tooLong = "(This is too long for a mail.)"

// bound leaves out the texts beyond the bound. What was done, and the link to it, stay.
func (v *toldView) bound() {
	left := mostShown
	fits := func(body string, html template.HTML) bool {
		n := max(len(body), len(html))
		if n > left {
			return false
		}
		left -= n
		return true
	}
	for n := range v.Parts {
		p := &v.Parts[n]
		if !fits(p.Body, p.HTML) {
			p.Body, p.HTML = tooLong, tooLong
		}
		for m := range p.Inline {
			if i := &p.Inline[m]; !fits(i.Body, i.HTML) {
				i.Body, i.HTML = tooLong, tooLong
			}
		}
	}
}

// message renders both forms.
func (v *toldView) message(to string) (*mail.Message, error) {
	var html bytes.Buffer
	if err := layout.ExecuteTemplate(&html, "told.html", v); err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, p := range v.Parts {
		fmt.Fprintf(&b, "%s %s", mail.Line(p.By, 100), p.Did)
		if p.Body != "" {
			b.WriteString(":\n\n" + strings.TrimSpace(p.Body))
		}
		b.WriteString("\n\n")
		for _, i := range p.Inline {
			fmt.Fprintf(&b, "On %s:\n\n%s\n\n", mail.Line(i.Path, 300), strings.TrimSpace(i.Body))
		}
	}
	for _, t := range v.Threads {
		fmt.Fprintf(&b, "%s: %s\n%s\n\n", t.In, t.Title, t.Link)
	}
	if v.More != "" {
		b.WriteString(v.More + "\n\n")
	}
	fmt.Fprintf(&b, "-- \n%s: %s\nUnsubscribe: %s\n%s\nChoose which mails you get: %s\n", v.View, v.Page, v.Stop,
		v.Why, v.Settings)
	return &mail.Message{To: to, Subject: v.Subject, Text: b.String(), HTML: html.String()}, nil
}
