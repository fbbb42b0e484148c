package reply

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"arbor/internal/account"
	"arbor/internal/errs"
)

// Bounds of a message.
const (
	MaxMessage = 10 << 20  // bytes, with attachments
	maxText    = 256 << 10 // bytes of the text with what it quotes
	maxDepth   = 5         // of parts in parts
	maxParts   = 50
)

// Message is what a mail says.
type Message struct {
	ID   string   // the Message-ID; empty: none
	From string   // the address of who wrote it, folded
	To   []string // addresses to which it was sent, as its headers say
	Auto bool     // a program wrote it: it is out of office, a bounce, a list
	Text string   // without what it quotes and without the signature
}

// Parse reads a mail. Error: 422 with a line for who wrote it.
func Parse(raw []byte) (*Message, error) {
	if len(raw) > MaxMessage {
		return nil, errs.Newf(errs.Invalid, "the mail is too large: at most %d MiB are read", MaxMessage>>20)
	}
	read, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, errs.New(errs.Invalid, "the mail cannot be read: its headers are not valid")
	}
	m := &Message{ID: strings.TrimSpace(read.Header.Get("Message-Id")), Auto: isAuto(read.Header)}
	from, err := mail.ParseAddressList(read.Header.Get("From"))
	if err == nil && len(from) == 1 {
		m.From = account.Fold(from[0].Address)
	}
	for _, name := range []string{"Delivered-To", "X-Original-To", "Envelope-To", "To", "Cc"} {
		for _, value := range read.Header[textproto.CanonicalMIMEHeaderKey(name)] {
			list, err := mail.ParseAddressList(value)
			if err != nil {
				continue
			}
			for _, a := range list {
				m.To = append(m.To, a.Address)
			}
		}
	}
	if m.Auto {
		return m, nil
	}
	w := &walk{}
	if err := w.part(textproto.MIMEHeader(read.Header), read.Body, 0); err != nil {
		return nil, err
	}
	if w.text == nil {
		if w.html {
			return nil, errs.New(errs.Invalid, "the mail has HTML alone: send plain text, or reply in the browser")
		}
		return nil, errs.New(errs.Invalid, "the mail has no text")
	}
	if m.Text = Own(*w.text); m.Text == "" {
		return nil, errs.New(errs.Invalid, "the mail says nothing besides what it quotes: write above the quoted text")
	}
	return m, nil
}

// isAuto reports whether a program wrote a mail (RFC 3834).
func isAuto(h mail.Header) bool {
	submitted := strings.ToLower(strings.TrimSpace(h.Get("Auto-Submitted")))
	precedence := strings.ToLower(strings.TrimSpace(h.Get("Precedence")))
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	_, returns := h["Return-Path"]
	switch {
	case submitted != "" && submitted != "no",
		precedence == "bulk", precedence == "junk", precedence == "list", precedence == "auto_reply",
		h.Get("X-Autoreply") != "", h.Get("X-Autorespond") != "", h.Get("List-Id") != "",
		returns && strings.Trim(h.Get("Return-Path"), " <>") == "",
		kind == "multipart/report":
		return true
	}
	return false
}

// walk looks for the text among the parts of a mail.
type walk struct {
	text  *string
	html  bool // there is a form in HTML
	parts int
}

// part looks at a part, and those in it. Error: 422.
func (w *walk) part(h textproto.MIMEHeader, body io.Reader, depth int) error {
	if w.parts++; w.parts > maxParts || depth > maxDepth {
		return errs.New(errs.Invalid, "the mail has too many parts")
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind, params = "text/plain", map[string]string{}
	}
	if how, _, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil && how == "attachment" {
		return nil
	}
	switch {
	case kind == "text/html":
		w.html = true
		return nil
	case kind == "text/plain":
		text, err := readText(h.Get("Content-Transfer-Encoding"), params, body)
		if err == nil {
			w.text = &text
		}
		return err
	case !strings.HasPrefix(kind, "multipart/"):
		return nil
	}
	for parts := multipart.NewReader(body, params["boundary"]); w.text == nil; {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return errs.New(errs.Invalid, "the mail cannot be read: its parts are not valid")
		}
		if err := w.part(p.Header, p, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// readText decodes a text. Error: 422.
func readText(encoding string, params map[string]string, body io.Reader) (string, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxText+1))
	if err != nil {
		return "", errs.New(errs.Invalid, "the mail cannot be read: its text is not encoded as it says")
	}
	if len(raw) > maxText {
		return "", errs.Newf(errs.Invalid, "the text is too long: at most %d KiB with what it quotes", maxText>>10)
	}
	text := string(raw)
	if name := params["charset"]; name != "" && !strings.EqualFold(name, "utf-8") {
		e, err := htmlindex.Get(name)
		if err != nil {
			return "", errs.Newf(errs.Invalid, "the text has an unknown character set, %q: send UTF-8", errs.Clip(name))
		}
		if text, err = e.NewDecoder().String(text); err != nil {
			return "", errs.New(errs.Invalid, "the text is not in the character set that it names")
		}
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x00", "")
	if strings.EqualFold(params["format"], "flowed") {
		text = unflow(text, strings.EqualFold(params["delsp"], "yes"))
	}
	return text, nil
}

// unflow joins the lines of paragraphs (RFC 3676). Lines of quotes are left alone: they are cut.
func unflow(text string, deletesSpace bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		body = strings.TrimPrefix(body, " ") // stuffed
		switch soft := strings.HasSuffix(body, " ") && body != "-- " && !strings.HasPrefix(body, ">"); {
		case soft && deletesSpace:
			b.WriteString(body[:len(body)-1])
		case soft:
			b.WriteString(body)
		default:
			b.WriteString(body)
			if ended {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
