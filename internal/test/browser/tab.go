package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/test/testkit"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Tab is a page that a person works in.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	base string // scheme and host of the site

	questions atomic.Int32
	mu        sync.Mutex
	thrown    []string // errors of scripts that nothing caught
}

// Look is how a tab looks.
type Look struct {
	Width, Height int64 // 0: 1280 x 900
	Dark          bool
	NoScript      bool // scripts are off
}

// program finds Chromium. Where there is none the test is skipped, or fails with ARBOR_TEST_STRICT=1.
func program(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("ARBOR_TEST_STRICT") == "1" {
			t.Fatal("chromium is not installed (apt-get install chromium)")
		}
		t.Skip("NOT TESTED: a page in a browser needs chromium (apt-get install chromium)")
	}
	return path
}

// Open starts headless Chromium, with an empty profile, for a site.
func Open(t testing.TB, base string, look Look) *Tab {
	t.Helper()
	if look.Width == 0 {
		look.Width, look.Height = 1280, 900
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(t)),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.UserDataDir(profile(t)),
		chromedp.WSURLReadTimeout(testkit.Patience), chromedp.WindowSize(int(look.Width), int(look.Height)))
	b := &Tab{t: t, base: strings.TrimSuffix(base, "/")}
	t.Cleanup(b.reportThrown) // after the browser has ended
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b.begin(ctx, look)
	return b
}

// begin makes the tab that of a context.
func (b *Tab) begin(ctx context.Context, look Look) {
	b.t.Helper()
	b.ctx = ctx
	chromedp.ListenTarget(ctx, b.leaveAnyway)
	chromedp.ListenTarget(ctx, b.scriptFailed)
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	b.Run(emulation.SetDeviceMetricsOverride(look.Width, look.Height, 1, look.Width < 600),
		emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		emulation.SetScriptExecutionDisabled(look.NoScript))
}

// leaveAnyway answers the question whether to leave a page with a text that was not sent, and counts it.
func (b *Tab) leaveAnyway(event any) {
	if asked, is := event.(*page.EventJavascriptDialogOpening); is && asked.Type == page.DialogTypeBeforeunload {
		b.questions.Add(1)
		go func() { _ = chromedp.Run(b.ctx, page.HandleJavaScriptDialog(true)) }()
	}
}

// scriptFailed notes an error of a page's script that nothing catches. It fails the test at its end.
func (b *Tab) scriptFailed(event any) {
	if e, is := event.(*runtime.EventExceptionThrown); is {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.thrown = append(b.thrown, e.ExceptionDetails.Error())
	}
}

func (b *Tab) reportThrown() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.thrown {
		b.t.Error("a script failed: " + text)
	}
}

// Questions is how often the browser asked whether to leave a page.
func (b *Tab) Questions() int { return int(b.questions.Load()) }

// Hang runs an endless loop in the frame whose address has a part. It needs a frame with an origin of its own.
func (b *Tab) Hang(part string) {
	b.t.Helper()
	testkit.Eventually(b.t, func() bool {
		targets, err := chromedp.Targets(b.ctx)
		testkit.NoError(b.t, err)
		at := slices.IndexFunc(targets, func(i *target.Info) bool {
			return i.Type == "iframe" && strings.Contains(i.URL, part)
		})
		if at < 0 {
			return false
		}
		ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(targets[at].TargetID))
		b.t.Cleanup(cancel)
		go func() { _ = chromedp.Run(ctx, chromedp.Evaluate(`while (true);`, nil)) }()
		return true
	}, "a frame of "+part+" with a process of its own")
}

// profile is a folder that goes when the browser's last process has ended, which may be after the test.
func profile(t testing.TB) string {
	dir, err := os.MkdirTemp("", "arbor-browser-")
	testkit.NoError(t, err)
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return dir
}

// Run runs what chromedp can do, and fails the test when it cannot within testkit.Patience.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testkit.Patience)
	defer cancel()
	// The first Run starts the browser, which lives as long as its context does.
	if chromedp.FromContext(b.ctx).Target == nil {
		if err := chromedp.Run(b.ctx); err != nil {
			b.t.Fatalf("the browser did not start: %v", err)
		}
	}
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%v\nat %s", err, b.where())
	}
}

func (b *Tab) where() string {
	var at, text string
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Location(&at), chromedp.Text("body", &text, chromedp.ByQuery))
	return fmt.Sprintf("%s:\n%.3000s", at, text)
}

// SignIn sets the browser's session, the cookie's value.
func (b *Tab) SignIn(session string) {
	b.t.Helper()
	u, err := url.Parse(b.base)
	testkit.NoError(b.t, err)
	b.Run(network.SetCookie("arbor_session",
		session).WithDomain(u.Hostname()).WithPath("/").WithHTTPOnly(true))
}

// Go opens a path of the site.
func (b *Tab) Go(path string) {
	b.t.Helper()
	b.Run(chromedp.Navigate(b.base + path))
}

// Click clicks the first thing that a CSS selector finds, once it is visible, and waits for a page that it
// leads to.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Run(click(selector))
}

// click clicks the first element that a CSS selector finds, once it is visible. If a script of the page replaces
// the element before the click, it finds the new one.
func click(selector string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		for {
			err := chromedp.Tasks{chromedp.WaitVisible(selector, chromedp.ByQuery),
				chromedp.Click(selector, chromedp.ByQuery)}.Do(ctx)
			if gone := (*cdproto.Error)(nil); !errors.As(err, &gone) || gone.Code != noNode || ctx.Err() != nil {
				return err
			}
		}
	})
}

// noNode is the code of the browser's error for an element that the page no longer has.
const noNode = -32000

// Follow clicks what leads to another page, and waits for that page.
func (b *Tab) Follow(selector string) {
	b.t.Helper()
	b.leave(selector, click(selector))
}

// Submit presses Enter in the field that has the focus, and waits for the page that answers its form.
func (b *Tab) Submit() {
	b.t.Helper()
	b.Leave(kb.Enter)
}

// Leave sends keys that lead to another page, as chromedp/kb names them, and waits for that page.
func (b *Tab) Leave(keys string) {
	b.t.Helper()
	b.leave(keys, chromedp.KeyEvent(keys))
}

// leave does what leads to another page, and waits for that page.
func (b *Tab) leave(by string, actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testkit.Patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v\nat %s", by, err, b.where())
	}
}

// Fill writes a text into a field, in place of what is there.
func (b *Tab) Fill(selector, text string) {
	b.t.Helper()
	b.Run(chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.Focus(selector, chromedp.ByQuery),
		chromedp.KeyEvent("a", chromedp.KeyModifiers(input.ModifierCtrl)), chromedp.KeyEvent(kb.Backspace),
		chromedp.KeyEvent(text))
}

// Press sends keys, as chromedp/kb names them, to what has the focus.
func (b *Tab) Press(keys string) {
	b.t.Helper()
	b.Run(chromedp.KeyEvent(keys))
}

// Text is the visible text of the first thing that a selector finds.
func (b *Tab) Text(selector string) (text string) {
	b.t.Helper()
	b.Run(chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// See waits until a text is to be seen in what a selector finds.
func (b *Tab) See(selector, text string) {
	b.t.Helper()
	var seen string
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		err := chromedp.Run(ctx, chromedp.Text(selector, &seen, chromedp.ByQuery))
		cancel()
		if err == nil && strings.Contains(seen, text) {
			return
		}
	}
	b.t.Fatalf("%q is not in %q\nat %s", text, seen, b.where())
}

// Path is the path and query of the page.
func (b *Tab) Path() string {
	b.t.Helper()
	var at string
	b.Run(chromedp.Location(&at))
	return strings.TrimPrefix(at, b.base)
}

// Eval runs a script and reads its result.
func (b *Tab) Eval(script string, into any) {
	b.t.Helper()
	b.Run(chromedp.Evaluate(script, into))
}

// Await configures chromedp.Evaluate to wait for the value of a promise.
func Await(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// Picture is a PNG of the whole page.
func (b *Tab) Picture() (png []byte) {
	b.t.Helper()
	b.Run(chromedp.FullScreenshot(&png, 100))
	return png
}
