//go:build long

package pages_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// watched opens a browser that notes what pages do against their policy.
func watched(t *testing.T, s *apitest.Server, look browser.Look) *browser.Tab {
	t.Helper()
	b := browser.Open(t, s.URL, look)
	b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdp.AddScriptToEvaluateOnNewDocument(`window.violations = [];
			document.addEventListener('securitypolicyviolation', (e) =>
				violations.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile));`).Do(ctx)
		return err
	}))
	return b
}

// pressAlone presses a key that types nothing if the page takes it, as keyboards do.
func pressAlone(b *browser.Tab, key string, code int64) {
	press := input.DispatchKeyEvent(input.KeyRawDown).WithKey(key).WithCode(key).WithWindowsVirtualKeyCode(code)
	b.Run(press, input.DispatchKeyEvent(input.KeyUp).WithKey(key).WithCode(key).WithWindowsVirtualKeyCode(code))
}

// lawful checks that the page did nothing against its policy.
func lawful(t *testing.T, b *browser.Tab) {
	t.Helper()
	var list []string
	if b.Eval(`window.violations`, &list); len(list) > 0 {
		t.Errorf("%s: %v", b.Path(), list)
	}
}

// Files are edited with line numbers, colours and the Tab key, by keyboard alone, and what is written is what is
// committed. Before a text that was not sent is lost, the browser asks.
func TestEditor(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	for name, look := range map[string]browser.Look{"light": {}, "dark": {Dark: true}, "phone": {Width: 390, Height: 844}} {
		t.Run(name, func(t *testing.T) {
			b := watched(t, s, look)
			b.SignIn(s.Session(t, "sam"))
			b.Go("/alice/garden/new/main")
			b.Fill("#path", name+".go")
			b.Press(kb.Tab)
			b.Press("package a")
			pressAlone(b, "Enter", 13)
			b.Press("func b() {")
			pressAlone(b, "Enter", 13)
			b.Press("return // end")
			pressAlone(b, "Tab", 9)
			var text, colour string
			b.Eval(`document.querySelector('#text').value`, &text)
			if text != "package a\nfunc b() {\n\t\treturn // end" {
				t.Errorf("the text is %q", text)
			}
			const in = `document.querySelector('.codeeditor').shadowRoot`
			var numbers int
			b.Eval(in+`.querySelectorAll('.cm-lineNumbers .cm-gutterElement').length`, &numbers)
			b.Eval(`((root) => getComputedStyle([...root.querySelectorAll('.cm-line span')].find((n) => n.textContent === 'package')).color)(`+
				in+`)`, &colour)
			want := "rgb(163, 24, 76)"
			if look.Dark {
				want = "rgb(255, 143, 168)"
			}
			if numbers < 3 || colour != want {
				t.Errorf("%d line numbers, keywords are %s", numbers, colour)
			}
			pressAlone(b, "Escape", 27)
			b.Press(kb.Tab)
			var out bool
			if b.Eval(`document.activeElement.name === 'preview'`, &out); !out {
				t.Error("Escape and Tab do not leave the editor")
			}
			for _, flaw := range b.Flaws() {
				t.Errorf("%s", flaw)
			}
			lawful(t, b)
			b.Go("/alice/garden")
			if b.Questions() != 1 {
				t.Errorf("the browser asked %d times before the text was lost", b.Questions())
			}
			b.Go("/alice/garden/new/main?filename=" + name + ".go&value=one")
			b.Click(".codeeditor")
			b.Press("two ")
			b.Follow(".editfile button[name=preview]")
			b.See("[aria-label^='Changed'], .difffile", "two")
			b.Go("/alice/garden/new/main?filename=" + name + ".go&value=one")
			if b.Questions() != 2 {
				t.Errorf("the browser asked %d times before a text in preview was lost", b.Questions())
			}
			b.Click("label[for=text]")
			b.Press("two ")
			b.Follow(".editfile button.main")
			if b.Questions() != 2 {
				t.Error("the browser asks though the text was sent")
			}
			a := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/contents/" + name + ".go", As: "alice",
				Headers: map[string]string{"Accept": "application/vnd.github.raw+json"}})
			if got := string(a.Body); !strings.Contains(got, "two") || !strings.Contains(got, "one") {
				t.Errorf("the file is %q", got)
			}
		})
	}
	b := browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.SignIn(s.Session(t, "sam"))
	b.Go("/alice/garden/edit/main/song.txt")
	b.Fill("#text", "plain")
	b.Follow(".editfile button.main")
	b.See("table.code", "plain")
}

// A comment that was not sent is not lost by a click.
func TestUnsentComment(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201, Send: `{"title": "One"}`})
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "sam"))
	b.Go("/alice/garden/issues/1")
	b.Go("/alice/garden")
	if b.Questions() != 0 {
		t.Error("the browser asks though nothing was typed")
	}
	b.Go("/alice/garden/issues/1")
	b.Fill("textarea[name=body]", "a thought")
	b.Follow("header.site .brand")
	testkit.Eventually(t, func() bool { return b.Questions() == 1 }, "the browser asks")
}

// fillFile writes a text into the form of a file, in place of what is there.
func fillFile(b *browser.Tab, look browser.Look, text string) {
	if look.NoScript {
		b.Fill("#text", text)
		return
	}
	b.Click(".codeeditor")
	b.Run(chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)))
	b.Press(text)
}

// A PDF is shown by the browser's own viewer, and what only says that it is one is not.
func TestPDF(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	codePlant(t, s, "alice/garden", false)
	for name, text := range map[string]string{"a.pdf": "%PDF-1.4\n%%EOF\n", "b.pdf": "<script>alert(1)</script>", "c.txt": "%PDF-1.4"} {
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + name, As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "m", "content": %q}`, base64.StdEncoding.EncodeToString([]byte(text)))})
		kind, policy := "text/plain; charset=utf-8", "sandbox"
		if name == "a.pdf" {
			kind, policy = "application/pdf", "frame-ancestors 'self'"
		}
		a := s.Do(t, apitest.Case{Do: "GET /alice/garden/raw/main/" + name})
		if h := a.Header; h.Get("Content-Type") != kind || !strings.Contains(h.Get("Content-Security-Policy"), policy) ||
			h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", name, h)
		}
	}
	b := watched(t, s, browser.Look{})
	b.Go("/alice/garden/blob/main/a.pdf")
	b.See("main", "Download it")
	var tall float64
	b.Eval(`document.querySelector('iframe.pdf').getBoundingClientRect().height`, &tall)
	if tall < 300 {
		t.Errorf("the PDF is %v pixels high", tall)
	}
	lawful(t, b)
}
