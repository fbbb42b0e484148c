//go:build long

package main

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/browser"
)

// counted is a tab that counts what a person clicks.
type counted struct {
	*browser.Tab
	clicks int
}

func (c *counted) click(selector string) {
	c.clicks++
	c.Click(selector)
}

func (c *counted) follow(selector string) {
	c.clicks++
	c.Follow(selector)
}

// The ten things that a team does most take no more clicks than at GitHub, from the page where they begin:
// the repository's home, or a pull request's changes or conversation.
func TestClicks(t *testing.T) {
	t.Parallel()
	d := startDemo(t, db.SQLite, "git push")
	b := browser.Open(t, d.address(), browser.Look{})
	b.SignIn(demoSession(t, d.address(), "alice"))
	const at = "/alice/greenhouse"
	tab := func(name string) string { return fmt.Sprintf(`nav a[href="%s/%s"]`, at, name) }
	things := []struct {
		name   string
		github int // clicks there
		begin  string
		do     func(c *counted)
	}{
		{"find an issue", 1, at, func(c *counted) {
			c.follow(tab("issues"))
			c.Fill(`main input[name="q"]`, "is:open vents")
			c.Submit()
			c.See("main", "The vents open too late")
		}},
		{"open an issue", 4, at, func(c *counted) { // the repository offers templates
			c.follow(tab("issues"))
			c.follow(`main a[href="` + at + `/issues/new"]`)
			c.follow(`main a[href="?template=blank"]`)
			c.Fill(`input[name="title"]`, "A door that clicks")
			c.follow(`main form.split button.main`)
			c.See("h1", "A door that clicks")
		}},
		{"read a diff", 3, at, func(c *counted) {
			c.follow(tab("pulls"))
			c.follow(`main a[href="` + at + `/pull/12"]`)
			c.follow(`a[href="` + at + `/pull/12/files"]`)
			c.See("main", "@@")
		}},
		{"comment on a line", 2, at + "/pull/12/files", func(c *counted) {
			c.Eval(`document.querySelector("tr.a td:nth-child(2)").dispatchEvent(new MouseEvent("mouseover", { bubbles: true })), 0`, nil)
			c.click(".addnote")
			c.Fill(".lineform textarea", "Said with two clicks")
			c.follow(`.lineform button[name="review"] + button`)
			c.See("main", "Said with two clicks")
		}},
		{"review", 3, at + "/pull/12/files", func(c *counted) {
			c.click(".reviewmenu > summary")
			c.Fill("#review textarea", "Seen")
			c.click(`#review input[value="COMMENT"]`)
			c.follow("#review button.main")
			c.See("main", "Seen")
		}},
		{"merge", 2, at + "/pull/12", func(c *counted) {
			c.follow("#merge .methods button")
			c.See("#merge", "Revert")
		}},
		{"edit a file", 4, at, func(c *counted) {
			c.follow(`main a[href="` + at + `/blob/main/README.md"]`)
			c.follow(`main a[href="` + at + `/edit/main/README.md"]`)
			c.Tab.Click(".codeeditor") // the caret goes to the text
			c.Press("# Greenhouse")
			c.follow("main form.editfile button.main")
			c.See("main", "Greenhouse")
		}},
		{"blame", 2, at, func(c *counted) {
			c.follow(`main a[href="` + at + `/blob/main/README.md"]`)
			c.follow(`main a[href="` + at + `/blame/main/README.md"]`)
			c.See("main", "Greenhouse")
		}},
		{"find a file", 2, at, func(c *counted) {
			c.follow(`main a[href="` + at + `/find/main"]`)
			c.Fill(`main input[name="q"]`, "night")
			c.follow(`main a[href="` + at + `/blob/main/windows/night.go"]`)
			c.See("main", "package windows")
		}},
		{"star", 1, at, func(c *counted) {
			c.click(`form[action$="/star"] button`)
			c.See(`form[action$="/unstar"]`, "Starred")
		}},
	}
	var table strings.Builder
	for _, thing := range things {
		c := &counted{Tab: b}
		b.Go(thing.begin)
		thing.do(c)
		fmt.Fprintf(&table, "%-18s %d (GitHub %d)\n", thing.name, c.clicks, thing.github)
		if c.clicks > thing.github {
			t.Errorf("%s takes %d clicks, at GitHub %d", thing.name, c.clicks, thing.github)
		}
	}
	t.Logf("clicks\n%s", &table)
}
