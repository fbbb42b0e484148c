//go:build long

package pages_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/page/pull"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// The pictures are in stylePictures, one of each part in each look, and were taken with the browser and fonts that
// the file "drawn-by" there names. make style renews them.
const stylePictures = "testdata/style"

const (
	maxShift = 24    // by which a color of a pixel may differ, of 255
	maxShare = 0.002 // of pixels that may differ more
)

// Parts of pages look as they did when somebody last looked at them. If this failed, a change of a style sheet or
// template for one page would change others, and nobody would see it.
func TestStyleLooksAsBefore(t *testing.T) {
	t.Parallel()
	renew := os.Getenv("ARBOR_STYLE") == "renew"
	drawnBy := drawnBy(t)
	if was, err := os.ReadFile(filepath.Join(stylePictures, "drawn-by")); !renew &&
		(err != nil || string(was) != drawnBy) {
		t.Skipf("NOT COMPARED: the pictures of the style page were drawn by\n%s\nand this machine has\n%s\n"+
			"Look at /site/style, and run: make style", was, drawnBy)
	}
	s := apitest.Start(t, db.SQLite)
	s.Admin(t, "root-gardener")
	for name, look := range map[string]browser.Look{"light": {}, "dark": {Dark: true},
		"light-phone": {Width: 360, Height: 740}, "dark-phone": {Width: 360, Height: 740, Dark: true}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "root-gardener"))
		b.Go("/site/style")
		whole, parts := pictureOf(t, b)
		if len(parts) < 15 {
			t.Fatalf("the page has %d parts", len(parts))
		}
		for part, box := range parts {
			comparePicture(t, part+"-"+name, cropped(whole, box), renew)
		}
		if name != "light" && name != "dark-phone" {
			continue
		}
		for _, state := range pull.SampleStates[1:] {
			b.Go("/site/style?merge=" + state)
			whole, parts := pictureOf(t, b)
			comparePicture(t, "merge-"+state+"-"+name, cropped(whole, parts["merge"]), renew)
		}
	}
	if renew {
		testkit.NoError(t, os.WriteFile(filepath.Join(stylePictures, "drawn-by"), []byte(drawnBy), 0o644))
	}
}

// drawnBy names what pictures depend on besides the pages: the browser and the fonts.
func drawnBy(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{{"chromium", "--version"}, {"fc-match", "system-ui"}, {"fc-match", "monospace"},
		{"fc-match", "emoji"}} {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			if os.Getenv("ARBOR_TEST_STRICT") == "1" {
				t.Fatalf("%s: %v", args[0], err)
			}
			t.Skipf("NOT TESTED: pictures of the style page need %s (apt-get install chromium fontconfig)", args[0])
		}
		fmt.Fprintf(&all, "%s\n", bytes.TrimSpace(out))
	}
	return all.String()
}

// pictureOf is a picture of the page, once all that it loads is there, and where its parts are, by their names.
func pictureOf(t *testing.T, b *browser.Tab) (whole image.Image, parts map[string]image.Rectangle) {
	t.Helper()
	var found map[string][4]int
	b.Run(chromedp.Evaluate(`(async () => {
		for (const picture of document.images) { picture.loading = 'eager'; await picture.decode(); }
		await document.fonts.ready;
		return Object.fromEntries([...document.querySelectorAll('.sample')].map((part) => {
			const box = part.getBoundingClientRect();
			return [part.id.replace('style-', ''),
				[box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY].map(Math.round)];
		}));
	})()`, &found, browser.Await))
	parts = map[string]image.Rectangle{}
	for name, at := range found {
		parts[name] = image.Rect(at[0], at[1], at[2], at[3])
	}
	whole, err := png.Decode(bytes.NewReader(b.Picture()))
	testkit.NoError(t, err)
	return whole, parts
}

// cropped is a part of a picture in few colours, so that its file is small.
func cropped(whole image.Image, box image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rect(0, 0, box.Dx(), box.Dy()))
	draw.Draw(part, part.Bounds(), whole, box.Min, draw.Src)
	for n := range part.Pix {
		if n%4 != 3 {
			part.Pix[n] = part.Pix[n]&0xf0 | part.Pix[n]>>4
		}
	}
	return part
}

// comparePicture compares a picture with the one that is kept under a name, or keeps it.
func comparePicture(t *testing.T, name string, got *image.RGBA, renew bool) {
	t.Helper()
	file := filepath.Join(stylePictures, name+".png")
	if renew {
		var b bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		testkit.NoError(t, encoder.Encode(&b, got))
		testkit.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		return
	}
	data, err := os.ReadFile(file)
	testkit.NoError(t, err)
	kept, err := png.Decode(bytes.NewReader(data))
	testkit.NoError(t, err)
	want := image.NewRGBA(kept.Bounds())
	draw.Draw(want, want.Bounds(), kept, kept.Bounds().Min, draw.Src)
	if share := differing(got, want); share > maxShare {
		seen := filepath.Join(os.TempDir(), "arbor-style-"+name+".png")
		var b bytes.Buffer
		testkit.NoError(t, png.Encode(&b, got))
		testkit.NoError(t, os.WriteFile(seen, b.Bytes(), 0o644))
		t.Errorf("%s: %.2f %% of it look different, see %s and %s. If it is meant: make style", name,
			100*share, seen, file)
	}
}

// differing is the share of pixels that differ; of pictures of different sizes all do.
func differing(a, b *image.RGBA) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	count := 0
	for n := 0; n < len(a.Pix); n += 4 {
		for c := range 3 {
			if d := int(a.Pix[n+c]) - int(b.Pix[n+c]); d > maxShift || d < -maxShift {
				count++
				break
			}
		}
	}
	return float64(count) / float64(len(a.Pix)/4)
}

// What compares pictures sees a button of another colour, and not the noise of a letter's edge.
func TestDiffering(t *testing.T) {
	t.Parallel()
	blank := func() *image.RGBA { return image.NewRGBA(image.Rect(0, 0, 1000, 100)) }
	noise, button := blank(), blank()
	for n := range 100 {
		noise.Pix[4*n] = 200
		noise.Pix[4*n+4000] = maxShift
	}
	for n := range 60 * 20 {
		button.Pix[4*n+1] = 100
	}
	if got := differing(blank(), noise); got > maxShare {
		t.Errorf("noise is a difference of %v", got)
	}
	if got := differing(blank(), button); got <= maxShare {
		t.Errorf("a button is a difference of %v", got)
	}
	if got := differing(blank(), image.NewRGBA(image.Rect(0, 0, 1000, 101))); got != 1 {
		t.Errorf("another height is a difference of %v", got)
	}
}

// Menus keep to the window, at both edges and on a phone.
func TestMenusKeepToTheWindow(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Admin(t, "root-gardener")
	for _, look := range []browser.Look{{}, {Width: 360, Height: 740}} {
		b := browser.Open(t, s.URL, look)
		b.SignIn(s.Session(t, "root-gardener"))
		b.Go("/site/style")
		var outside []string
		b.Run(chromedp.Evaluate(`(async () => {
			const menus = [...document.querySelectorAll('details:is(.menu, .sure)')], outside = [];
			if (menus.length < 8) outside.push(menus.length + ' menus');
			for (const menu of menus) {
				menu.open = true;
				for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame);
				const box = (menu.querySelector(':scope > div') ?? menu).getBoundingClientRect();
				if (box.left < 0 || box.right > innerWidth) outside.push(menu.innerText.slice(0, 60) + ': ' +
					box.left + ' to ' + box.right);
				menu.open = false;
			}
			return outside;
		})()`, &outside, browser.Await))
		for _, menu := range outside {
			t.Errorf("%+v: %s", look, menu)
		}
	}
}
