//go:build long

package main

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/browser"
)

// Every page looks as it should with all its menus open, in light and dark, wide and on a phone: boxes are
// whole, texts of buttons can be read, words are not broken, fields are wide enough.
func TestPagesLook(t *testing.T) {
	t.Parallel()
	d := startDemo(t, db.SQLite, "git push")
	for _, look := range []browser.Look{{}, {Dark: true, Width: 390, Height: 844}} {
		t.Run(fmt.Sprintf("%+v", look), func(t *testing.T) {
			visitAll(t, d, look, func(name string, b *browser.Tab) {
				for _, flaw := range b.Flaws() {
					t.Errorf("%s (%s): %s", name, b.Path(), flaw)
				}
			})
		})
	}
}
