//go:build long

package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// picture is a script that makes a file with a picture of 8 by 8 points, named bed.png, in a DataTransfer d.
const picture = `const c = new OffscreenCanvas(8, 8); c.getContext('2d').fillRect(0, 0, 8, 8);
	const d = new DataTransfer(); d.items.add(new File([await c.convertToBlob()], 'bed [1].png', { type: 'image/png' }));
	const field = document.querySelector('textarea[name=body]');`

// A user pastes one picture into a new issue, drops another, and sees both in the issue. Users who can see
// the repository see them, also a private one; strangers do not.
func TestAttachInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "rae", "sam")
	for _, private := range []bool{false, true} {
		name := fmt.Sprintf("alice/plot%t", private)
		s.Grant(t, s.Repo(t, name, private), "rae", account.Pull)
		b := browser.Open(t, s.URL, browser.Look{})
		b.SignIn(s.Session(t, "rae"))
		b.Go("/" + name + "/issues/new")
		b.Fill("#title", "Slugs")
		b.Fill("textarea[name=body]", "before ")
		does(b, picture+`field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: d, bubbles: true, cancelable: true }))`)
		b.See(".editor [role=status]", "bed [1].png is attached.")
		does(b, picture+`field.dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true }))`)
		becomes(t, b, `document.querySelector('textarea[name=body]').value.split('/attachments/').length === 3`)
		var text string
		b.Eval(`document.querySelector('textarea[name=body]').value`, &text)
		if !strings.HasPrefix(text, `before ![bed \[1\].png](/`+name+"/attachments/") ||
			strings.Contains(text, "Uploading") {
			t.Errorf("the text is %q", text)
		}
		b.Follow("main form button.main")
		const loaded = `[...document.querySelectorAll('.said img')].filter((i) => i.naturalWidth === 8).length === 2`
		becomes(t, b, loaded)
		var at string
		b.Eval(`document.querySelector('.said img').getAttribute('src')`, &at)

		b = browser.Open(t, s.URL, browser.Look{})
		b.SignIn(s.Session(t, "sam"))
		b.Go("/" + name + "/issues/1")
		if !private {
			becomes(t, b, loaded)
			continue
		}
		var width int
		b.Run(chromedp.Evaluate(
			`new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth);
			i.onerror = () => done(-1); i.src = `+fmt.Sprintf("%q", at)+` })`, &width, browser.Await))
		if width != -1 {
			t.Errorf("a stranger's browser shows a picture %d wide", width)
		}
	}
}

// does runs a script and waits for its promise.
func does(b *browser.Tab, script string) {
	var done bool
	b.Run(chromedp.Evaluate(`(async () => { `+script+`; return true })()`, &done, browser.Await))
}

// becomes waits until a script gives true.
func becomes(t *testing.T, b *browser.Tab, script string) {
	t.Helper()
	var now bool
	testkit.Eventually(t, func() bool { b.Eval(script, &now); return now }, script+" at "+b.Path(),
		func() string { return b.Text("body") })
}

// A file that is refused leaves the text as it was, and says why. Nothing in an attached page runs, also when
// somebody opens it. Without the script the same is done by a form in a page of its own.
func TestRefusedAndWithoutAScript(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	b := browser.Open(t, s.URL, browser.Look{})
	b.SignIn(s.Session(t, "alice"))
	b.Go("/alice/garden/issues/new")
	b.Fill("textarea[name=body]", "kept")
	does(b, `const d = new DataTransfer(); d.items.add(new File([], 'nothing.txt'));
		document.querySelector('textarea').dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true }))`)
	b.See(".editor [role=status]", "nothing.txt could not be attached. The file is empty.")
	var text string
	if b.Eval(`document.querySelector('textarea[name=body]').value`, &text); text != "kept" {
		t.Errorf("the text is %q", text)
	}

	file := filepath.Join(t.TempDir(), "bed.gif")
	testkit.NoError(t, os.WriteFile(file, []byte("GIF89a/*<script>document.title='ran'</script>*/=1"),
		0o600))
	b = browser.Open(t, s.URL, browser.Look{NoScript: true, Width: 360, Height: 740})
	b.SignIn(s.Session(t, "alice"))
	b.Go("/alice/garden/attachments")
	b.Run(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
	b.Follow("main form button.main")
	b.See("main", "bed.gif")
	var markdown string
	b.Run(chromedp.Value(".copy input", &markdown, chromedp.ByQuery))
	at := strings.TrimSuffix(strings.TrimPrefix(markdown, "![bed.gif]("), ")")
	if !strings.HasPrefix(at, "/alice/garden/attachments/") {
		t.Fatalf("the Markdown is %q", markdown)
	}
	b = browser.Open(t, s.URL, browser.Look{})
	b.Go(at)
	var title string
	if b.Run(chromedp.Title(&title)); title == "ran" {
		t.Error("a script ran")
	}
	b = browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.SignIn(s.Session(t, "alice"))
	b.Go("/alice/garden/attachments")
	b.Click("main .sure summary")
	b.Follow("main .sure button")
	b.See("main", "There are none.")
}
