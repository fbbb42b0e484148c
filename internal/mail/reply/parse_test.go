package reply

import (
	"strings"
	"testing"
	"unicode/utf8"

	"arbor/internal/errs"
)

// What people write stays, and what their programs quote below it goes.
func TestOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"plain":        {"Thanks!\n", "Thanks!"},
		"gmail":        {"Yes.\n\nOn Mon, 2 Mar 2026 at 10:00, Bob <bob@example.org>\nwrote:\n\n> Shall we?\n>\n> -- \n> View it\n", "Yes."},
		"german":       {"Ja.\n\nAm 02.03.26 um 10:00 schrieb Bob:\n> Sollen wir?\n", "Ja."},
		"outlook":      {"Yes.\n\n________________________________\nFrom: Bob\nSubject: x\n\nShall we?", "Yes."},
		"original":     {"Yes.\n-----Original Message-----\nFrom: Bob", "Yes."},
		"signature":    {"Yes.\n-- \nAlice\nGardener", "Yes."},
		"between":      {"> first?\nyes\n> second?\nno\n", "> first?\nyes\n> second?\nno"},
		"list":         {"I want:\n\n- one\n- two", "I want:\n\n- one\n- two"},
		"no quote":     {"See 12:\n", "See 12:"},
		"colon kept":   {"My view:\n\n> quoted\n", "My view:"},
		"quote alone":  {"On 2 March Bob wrote:\n> hi", ""},
		"rule":         {"one\n\n---\n\ntwo", "one\n\n---\n\ntwo"},
		"code":         {"```\na -- b\n```", "```\na -- b\n```"},
		"nothing":      {"\n \n", ""},
		"windows ends": {"a\n\n\n> b\n", "a"},
	} {
		if got := Own(c[0]); got != c[1] {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
	}
}

func mailOf(headers, body string) []byte {
	return []byte(strings.ReplaceAll("From: Alice <Alice@example.org>\nTo: reply+x@example.org\nMessage-ID: <1@a>\n"+headers+
		"\n"+body, "\n", "\r\n"))
}

// The text is found in each form that mail programs send.
func TestParse(t *testing.T) {
	t.Parallel()
	const alternative = "--b\nContent-Type: text/html\n\n<p>Hi</p>\n--b\nContent-Type: text/plain\n\nHi\n--b--\n"
	for name, c := range map[string]struct{ headers, body, want string }{
		"plain":            {"", "Hi\n", "Hi"},
		"quoted-printable": {"Content-Transfer-Encoding: quoted-printable\nContent-Type: text/plain; charset=utf-8\n", "Gr=C3=BC=\n=C3=9Fe", "Grüße"},
		"base64":           {"Content-Transfer-Encoding: BASE64\n", "R3LDvMOf\nZQ==\n", "Grüße"},
		"latin 1":          {"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n", "Gr=FC=DFe", "Grüße"},
		"flowed":           {"Content-Type: text/plain; format=flowed\n", "one \ntwo\nthree\n", "one two\nthree"},
		"alternative":      {"Content-Type: multipart/alternative; boundary=b\n", alternative, "Hi"},
		"nested": {"Content-Type: multipart/mixed; boundary=a\n", "--a\nContent-Type: multipart/alternative; boundary=b\n\n" +
			alternative + "--a\nContent-Type: text/plain\nContent-Disposition: attachment\n\nnot this\n--a--\n", "Hi"},
	} {
		m, err := Parse(mailOf(c.headers, c.body))
		if err != nil || m.Text != c.want || m.From != "alice@example.org" || m.ID != "<1@a>" ||
			len(m.To) != 1 || m.To[0] != "reply+x@example.org" {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
	for headers, why := range map[string]string{
		"Content-Type: text/html\n":                   "HTML alone",
		"Content-Type: image/png\n":                   "no text",
		"Content-Type: text/plain; charset=klingon\n": "unknown character set",
		"Content-Type: multipart/mixed\n":             "cannot be read",
		"Content-Transfer-Encoding: base64\n":         "not encoded as it says",
	} {
		if _, err := Parse(mailOf(headers, "%%%\n--a\nContent-Type: multipart/mixed")); !errs.Is(err, errs.Invalid) ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", headers, err, why)
		}
	}
	if _, err := Parse(mailOf("", strings.Repeat("x", maxText+1))); !errs.Is(err, errs.Invalid) {
		t.Errorf("a long text: %v", err)
	}
	if _, err := Parse(make([]byte, MaxMessage+1)); !errs.Is(err, errs.Invalid) {
		t.Errorf("a large mail: %v", err)
	}
	for _, h := range []string{"Auto-Submitted: auto-replied\n", "Precedence: bulk\n", "Return-Path: <>\n", "List-Id: <x>\n",
		"X-Autoreply: yes\n", "Content-Type: multipart/report; boundary=a\n"} {
		if m, err := Parse(mailOf(h, "I am away")); err != nil || !m.Auto {
			t.Errorf("%s: %+v %v", h, m, err)
		}
	}
	for _, h := range []string{"Auto-Submitted: no\n", "Return-Path: <alice@example.org>\n"} {
		if m, err := Parse(mailOf(h, "I am here")); err != nil || m.Auto {
			t.Errorf("%s: %+v %v", h, m, err)
		}
	}
}

// Parts in parts without end are refused.
func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	deep := "Content-Type: multipart/mixed; boundary=a\n\n"
	for range 10 {
		deep += "--a\nContent-Type: multipart/mixed; boundary=a\n\n"
	}
	many := "Content-Type: multipart/mixed; boundary=a\n\n" + strings.Repeat("--a\nContent-Type: image/png\n\nx\n", 100) + "--a--\n"
	for _, text := range []string{deep, many} {
		if m, err := Parse(mailOf(text, "")); !errs.Is(err, errs.Invalid) {
			t.Errorf("%+v %v", m, err)
		}
	}
}

// FuzzParse: no mail breaks reading, and what is read is text without what is quoted at its end.
func FuzzParse(f *testing.F) {
	f.Add(mailOf("", "Hi\n\nOn 2 March Bob wrote:\n> x\n"))
	f.Add(mailOf("Content-Type: multipart/alternative; boundary=b\n", "--b\nContent-Type: text/plain\n\nHi\n--b--\n"))
	f.Add(mailOf("Content-Type: text/plain; charset=utf-16; format=flowed; delsp=yes\n", "a \x00b"))
	f.Add(mailOf("Content-Transfer-Encoding: base64\n", "R3LDvMOfZQ=="))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Parse(raw)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
			return
		}
		if m.Auto {
			return
		}
		if m.Text == "" || !utf8.ValidString(m.Text) || strings.Contains(m.Text, "\x00") || len(m.Text) > 4*maxText {
			t.Fatalf("%q", m.Text)
		}
	})
}
