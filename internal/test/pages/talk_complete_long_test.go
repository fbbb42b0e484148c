//go:build long

package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
)

// enterKey is the key as browsers send it: where a script takes the key, no character follows.
var enterKey = []chromedp.Action{
	input.DispatchKeyEvent(input.KeyRawDown).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13),
	input.DispatchKeyEvent(input.KeyChar).WithKey("Enter").WithText("\r"),
	input.DispatchKeyEvent(input.KeyUp).WithKey("Enter").WithCode("Enter").WithWindowsVirtualKeyCode(13),
}

// The list stands at the caret, within the window, also on a phone, at the end of a line and low on the page. It is
// used by keys alone, and says to assistive technology what is chosen.
func TestCompletionsInABrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "olive")
	s.Org(t, "guild", "olive")
	s.Repo(t, "guild/plot", false)
	s.Check(t, apitest.Case{Do: "POST /orgs/guild/teams", As: "olive", Send: `{"name": "Mowers"}`, Status: 201})
	s.Check(t, apitest.Case{Do: "POST /repos/guild/plot/issues", As: "olive", Send: `{"title": "Slugs"}`, Status: 201})
	s.Settle(t)
	const field, open = "#new-comment textarea", ".hints:not([hidden])"
	of := func(word string) string { return open + `[data-word="` + word + `"]` }
	for _, look := range []browser.Look{{}, {Width: 360, Height: 640}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "olive"))
		b.Go("/guild/plot/issues/1")
		stands := func(what string) {
			t.Helper()
			var flaw string
			b.Eval(`(() => { const f = document.querySelector("`+field+`"), l = document.querySelector("`+open+`").getBoundingClientRect();
				const copy = document.createElement("div"), style = getComputedStyle(f), caret = document.createElement("span");
				for (const name of style) copy.style.setProperty(name, style.getPropertyValue(name));
				Object.assign(copy.style, { position: "absolute", whiteSpace: "pre-wrap", left: "0", top: "0" });
				copy.append(f.value.slice(0, f.selectionStart), caret);
				document.body.append(copy);
				const c = caret.getBoundingClientRect(), o = copy.getBoundingClientRect(), b = f.getBoundingClientRect();
				const at = { left: b.left + c.left - o.left, top: b.top + c.top - o.top - f.scrollTop, bottom: b.top + c.bottom - o.top - f.scrollTop };
				copy.remove();
				const far = Math.min(Math.abs(l.top - at.bottom), Math.abs(l.bottom - at.top));
				if (l.left < 0 || l.top < 0 || l.right > innerWidth || l.bottom > innerHeight) return 'it leaves the window';
				if (far > 4) return 'it is ' + far + ' px above or below the caret';
				if (l.width > 60 && at.left < l.left - 2 || at.left > l.right + 2) return 'it is beside the caret';
				return f.getAttribute('aria-activedescendant') === document.querySelector('`+open+` [aria-selected=true]').id ? '' : 'nothing is active'; })()`,
				&flaw)
			if flaw != "" {
				t.Errorf("%s, %d wide: %s", what, look.Width, flaw)
			}
		}
		for what, before := range map[string]string{"first line": "", "end of a line": strings.Repeat("word ", 7),
			"after many lines": strings.Repeat("line\n", 30), "wide letters": strings.Repeat("草", 40) + " ",
			"right to left": "שלום "} {
			b.Fill(field, before)
			b.Press("@m")
			b.See(of("@m"), "guild/mowers")
			stands(what)
			b.Press(kb.Escape)
			b.Eval(`document.querySelector("`+open+`") === null ? '' : 'open'`, &what)
			if what != "" {
				t.Error("Escape leaves the list open")
			}
		}
		b.Fill(field, "")
		b.Press(":smil")
		b.See(of(":smil"), "smile")
		b.See("#new-comment [role=status].hide", "suggestions")
		if flaws := b.Flaws(); len(flaws) > 0 {
			t.Errorf("%d wide: %q", look.Width, flaws)
		}
		b.Fill(field, ":smil") // the search for flaws took the focus
		b.See(of(":smil"), "smile")
		b.Run(enterKey...)
		b.Press("and #slugs")
		b.See(of("#slugs"), "Slugs")
		b.Press(kb.Tab)
		b.Press("for @guild/m")
		b.See(of("@guild/m"), "guild/mowers")
		b.Press(kb.ArrowDown)
		b.Run(enterKey...)
		var got string
		if b.Eval(`document.querySelector("`+field+`").value`, &got); got != ":smile: and #1 for @guild/mowers " {
			t.Errorf("the text: %q", got)
		}
	}
	b := browser.Open(t, s.URL, browser.Look{NoScript: true})
	b.SignIn(s.Session(t, "olive"))
	b.Go("/guild/plot/issues/1")
	b.Fill(field, "@m")
	if strings.Contains(b.Text("main"), "guild/mowers") {
		t.Error("without a script something completes")
	}
}
