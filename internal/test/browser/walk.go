package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"arbor/internal/test/testkit"
)

// Stop is a page of a walk, as somebody sees it.
type Stop struct {
	Name, Path string
	As         string // a login; empty: nobody
}

// Walk is a visit of many pages in one browser.
type Walk struct {
	Base    string // scheme and host of the site
	Axe     string // the source of axe-core; empty: not run
	Session func(login string) string
	Stops   []Stop // those of one person one after the other
}

// widths are those of a phone, a tablet, a laptop and a large screen.
var widths = []int64{360, 768, 1280, 1920}

// leg is one way through all pages.
type leg struct {
	name     string
	look     Look
	noScript bool
	widths   []int64 // the first is that in which a page is loaded
}

// Run visits each page in light and dark, in four widths, and without script in two. Nothing moves while a page
// loads, axe-core finds nothing at level AA, no resource comes from another host, and Layout, Flaws, and on the
// phone Menus find nothing.
func (w *Walk) Run(t *testing.T) {
	t.Helper()
	first := Open(t, w.Base, Look{})
	first.Go("/login") // starts the browser
	for _, l := range []leg{
		{"light", Look{Width: 1280, Height: 900}, false, []int64{1280, 360, 768, 1920}},
		{"dark", Look{Width: 360, Height: 740, Dark: true}, false, widths},
		{"without script", Look{Width: 360, Height: 740}, true, []int64{360, 1280}},
	} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			w.walk(t, first.Beside(t, l.look), l)
			t.Logf("%d pages in %v", len(w.Stops), time.Since(start).Round(time.Second))
		})
	}
}

func (w *Walk) walk(t *testing.T, b *Tab, l leg) {
	t.Helper()
	as := ""
	for _, s := range w.Stops {
		if s.As != as {
			as = s.As
			b.Run(network.ClearBrowserCookies())
			if as != "" {
				b.SignIn(w.Session(as))
			}
		}
		bad := func(flaw string) { t.Errorf("%s (%s): %s", s.Name, b.Path(), flaw) }
		b.Resize(l.look.Width, l.look.Height)
		if l.noScript {
			b.Run(emulation.SetScriptExecutionDisabled(true))
		}
		b.Go(s.Path)
		b.Run(emulation.SetScriptExecutionDisabled(false)) // for what follows
		for _, shift := range b.Shifts() {
			bad("it shifts while it loads: " + shift)
		}
		for _, width := range l.widths {
			b.Resize(width, l.look.Height)
			for _, flaw := range b.Layout() {
				bad(fmt.Sprintf("%d wide: %s", width, flaw))
			}
		}
		b.Resize(l.look.Width, l.look.Height)
		if w.Axe != "" {
			for _, flaw := range b.axe(w.Axe) {
				bad(flaw)
			}
		}
		var sources []string
		b.Eval(`performance.getEntriesByType("resource").map((e) => e.name)`, &sources)
		for _, source := range sources {
			if !strings.HasPrefix(source, w.Base+"/") {
				bad("it loads " + source)
			}
		}
		if !l.noScript {
			for _, flaw := range b.Flaws() {
				bad(flaw)
			}
		}
		if l.look.Width == widths[0] {
			for _, flaw := range b.Menus(!l.noScript) {
				bad(flaw)
			}
		}
	}
}

// axe runs axe-core, and returns what it finds at level AA.
func (b *Tab) axe(source string) (list []string) {
	b.t.Helper()
	var found string
	b.Eval(source+`;0`, nil)
	b.Run(chromedp.Evaluate(
		`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then((r) =>
		JSON.stringify(r.violations.map((v) => [v.id, v.help, v.nodes.slice(0, 3).map((n) => n.html + n.failureSummary)])))`,
		&found, Await))
	var violations [][]any
	testkit.NoError(b.t, json.Unmarshal([]byte(found), &violations))
	for _, v := range violations {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// Resize gives the window another size. The page is not loaded again.
func (b *Tab) Resize(width, height int64) {
	b.t.Helper()
	b.Run(emulation.SetDeviceMetricsOverride(width, height, 1, false))
}

// Beside opens another tab in the same browser, with cookies of its own.
func (b *Tab) Beside(t testing.TB, look Look) *Tab {
	t.Helper()
	beside := &Tab{t: t, base: b.base}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(beside.reportThrown)
	t.Cleanup(cancel)
	beside.begin(ctx, look)
	return beside
}

// Shifts lists what parts of the page moved since it began to load, as browsers measure layout shifts: by how
// much, and from which rectangle (left, top, width, height) to which.
func (b *Tab) Shifts() (list []string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(shifted, &list, Await))
	return list
}

const shifted = `new Promise((done) => {
	const shifts = [], box = (r) => [r.x, r.y, r.width, r.height].join(" ");
	new PerformanceObserver((list) => { for (const e of list.getEntries()) shifts.push(e.value.toFixed(5) + e.sources.map((s) =>
		"; " + (s.node?.outerHTML ?? s.node?.textContent ?? "what is gone").slice(0, 200) + ": " +
		box(s.previousRect) + " to " + box(s.currentRect)).join("")); })
		.observe({ type: "layout-shift", buffered: true });
	setTimeout(() => done(shifts), 20);
})`
