//go:build long

package pages_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

const paste = `field.dispatchEvent(new ClipboardEvent('paste',
	{ clipboardData: d, bubbles: true, cancelable: true }))`

// held makes uploads wait until go() is called.
const held = `const real = window.realFetch ??= window.fetch;
	const wait = new Promise((go) => { window.go = go });
	window.fetch = async (...a) => { await wait; if (window.down) throw new Error('down'); return real(...a) }`

// place is a field's text with | at the caret or around the selection, and an attached picture as (PICTURE).
func place(b *browser.Tab, selector string) (text string) {
	b.Eval(`(() => { const f = document.querySelector("`+selector+`"), at = f.selectionStart, to = f.selectionEnd;
		return (f.value.slice(0, at) + '|' + (to > at ? f.value.slice(at, to) + '|' : '') + f.value.slice(to))
			.replace(/!\[bed[^)]*\)/g, '(PICTURE)') })()`, &text)
	return text
}

// Text that is typed before, during and after the upload of a picture stays where it was typed, and the
// picture stays.
func TestTypingAroundAPicture(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))
	const body = "textarea[name=body]"
	uploaded := func() { b.See(".editor [role=status]", "bed [1].png is attached.") }
	for _, test := range []struct {
		name string
		work func()
		want string
	}{
		{"after the upload", func() {
			does(b, picture+paste)
			uploaded()
			b.Press("and on")
		}, "before (PICTURE)\nand on|"},
		{"during the upload, behind it", func() {
			does(b, held+"\n"+picture+paste)
			b.Press("and on")
			b.Eval(`go(), 1`, nil)
			uploaded()
			b.Press(" and on")
		}, "before (PICTURE)\nand on and on|"},
		{"during the upload, before it", func() {
			does(b, held+"\n"+picture+paste)
			b.Run(chromedp.KeyEvent(kb.Home, chromedp.KeyModifiers(input.ModifierCtrl)))
			b.Press("long ")
			b.Eval(`go(), 1`, nil)
			uploaded()
			b.Press("ago ")
		}, "long ago |before (PICTURE)\n"},
		{"within the mark", func() {
			does(b, held+"\n"+picture+paste+`; field.setSelectionRange(12, 12)`)
			b.Eval(`go(), 1`, nil)
			uploaded()
			b.Press("and on")
		}, "before (PICTURE)\nand on|"},
		{"where the mark was deleted", func() {
			does(b, held+"\n"+picture+paste+`; field.value = 'one two'; field.setSelectionRange(3, 3)`)
			b.Eval(`go(), 1`, nil)
			uploaded()
			b.Press(" and a half")
		}, "one and a half| two(PICTURE)\n"},
		{"where the upload fails", func() {
			does(b, held+"\n"+picture+paste)
			b.Press("and on")
			b.Eval(`window.down = true, go(), 1`, nil)
			b.See(".editor [role=status]", "could not be attached")
			b.Press(" and on")
		}, "before and on and on|"},
		{"with an input method", func() {
			does(b, held+"\n"+picture+paste)
			b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
				return input.ImeSetComposition("にほ", 2, 2).Do(ctx)
			}))
			b.Eval(`window.go(), 1`, nil)
			becomes(t, b, `performance.getEntriesByType('resource').some((r) => r.name.endsWith('/attachments'))`)
			does(b, `await window.realFetch('/healthz')`)
			b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
				return input.ImeSetComposition("にほん", 3, 3).Do(ctx)
			}))
			b.Run(chromedp.ActionFunc(func(ctx context.Context) error {
				return input.InsertText("日本").Do(ctx)
			}))
			uploaded()
		}, "before (PICTURE)\n日本|"},
	} {
		b.Go("/alice/garden/issues/new")
		b.Fill(body, "before ")
		test.work()
		if got := place(b, body); got != test.want {
			t.Errorf("%s: the text is %q, want %q", test.name, got, test.want)
		}
	}
}

// A suggestion is written only where its name is being typed. Quoting, editing and ticking leave unsent texts
// of the page as they are.
func TestScriptLeavesWhatIsTyped(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "rae")
	s.Repo(t, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: `{"title":"Slugs","body":"- [ ] salt"}`})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "alice", Status: 201,
		Send: `{"body":"Everywhere."}`})
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))
	const body = "#new-comment textarea"
	want := func(what, want string) {
		t.Helper()
		if got := place(b, body); got != want {
			t.Errorf("%s: the text is %q, want %q", what, got, want)
		}
	}

	b.Go("/alice/garden/issues/1")
	b.Fill(body, "Ask @ra")
	b.See(".hints:not([hidden])", "rae")
	b.Run(chromedp.KeyEvent(kb.Home))
	b.Press("\r")
	want("Enter after the caret was moved", "\n|Ask @ra")

	// Suggestions that come after the name was deleted are not shown.
	b.Fill(body, "")
	does(b, held)
	b.Press("Ask @r")
	does(b, `await new Promise((done) => setTimeout(done, 300))`) // it has asked
	for range 2 {
		b.Press(kb.Backspace)
	}
	does(b, `window.go(); await window.realFetch('/healthz')`)
	b.Press("\r")
	want("Enter after the name was deleted", "Ask \n|")

	// Quoting adds to a comment that is begun, without leaving the page.
	b.Go("/alice/garden/issues/1")
	b.Fill(body, "I saw them.")
	b.Click("#issuecomment-1 details.menu summary")
	b.Click("#issuecomment-1 a[data-quote]")
	becomes(t, b, `document.querySelector("#new-comment textarea").value.includes("Everywhere")`)
	want("after a quote", "I saw them.\n\n> Everywhere.\n\n|")

	// A text that is being edited already stays as it is when Edit is chosen again.
	for range 2 {
		b.Click("#issuecomment-1 details.menu summary")
		b.Click("#issuecomment-1 a[data-edit]")
		b.Run(chromedp.WaitVisible("#issuecomment-1 textarea", chromedp.ByQuery))
		b.Press(" And there.")
	}
	testkit.Eventually(t, func() bool {
		var text string
		b.Eval(`document.querySelector("#issuecomment-1 textarea").value`, &text)
		return strings.Count(text, "And there.") == 2
	}, "both are in the text", func() string { return b.Text("#issuecomment-1") })

	// A task that cannot be ticked leaves the comment that is begun.
	does(b, `window.alert = (text) => { window.said = text };
		window.fetch = async () => { throw new Error('the network is down') }`)
	b.Click(`.task`)
	becomes(t, b, `window.said?.startsWith('This was not saved.') &&
		document.querySelector('.task').ariaChecked === 'false'`)
	want("after a task that failed", "I saw them.\n\n> Everywhere.\n\n|")
}
