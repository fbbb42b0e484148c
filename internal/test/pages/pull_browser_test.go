//go:build long

package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/page/diff"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// enter opens a browser in which somebody is signed in.
func enter(t *testing.T, s *apitest.Server, login string, look browser.Look) *browser.Tab {
	t.Helper()
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), login, "a long secret", nil))
	a := post(t, s, "", "/login", 303, "login", login, "password", "a long secret")
	b := browser.Open(t, s.URL, look)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == "arbor_session" {
			b.SignIn(c.Value)
		}
	}
	return b
}

// Somebody reviews in a browser: a comment on a line in its place, a file that was viewed, the review
// submitted; and watches how the pull request becomes mergeable.
func TestInBrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	number := propose(t, s, "clash")
	at := fmt.Sprintf("/alice/plot/pull/%d", number)
	b := enter(t, s, "will", browser.Look{})
	b.Go(at + "/files")
	var done bool
	b.Eval(`(() => {
		const cell = [...document.querySelectorAll('tr.a td:nth-child(2)')].find((n) => n.textContent === '3');
		cell.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));
		const button = cell.querySelector('.addnote');
		button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
		return button.getAttribute('aria-label') === 'Comment on line 3' && document.activeElement.matches('.lineform textarea');
	})()`, &done)
	if !done {
		t.Error("no form opens below the line")
	}
	b.Fill(".under .lineform textarea", "Said in a browser")
	b.Follow(`.under .lineform button[name="review"]`)
	b.See("main", "Said in a browser")
	b.See(".reviewmenu > summary", "Finish your review")
	b.Click("button[form=viewed]")
	b.See("button[form=viewed][aria-checked=true]", "Viewed")
	b.See("#viewcount", "1 of 1 viewed")
	b.Go(at + "/files")
	b.See("button[form=viewed][aria-checked=true]", "Viewed")
	b.See("#viewcount", "1 of 1 viewed")
	b.Click(".reviewmenu > summary")
	b.Fill("#review textarea", "Fine with me")
	b.Click(`#review input[value="APPROVE"]`)
	b.Follow("#review button.main")
	b.See("#merge", "Approved by will")

	edit(t, s, "main", song("3", "moved"), "Get in the way")
	b.Go(at)
	b.See("#merge", "song.txt")
	b.Eval("document.activeElement.blur(), true", &done)
	edit(t, s, "main", song(), "Get out of the way")
	b.See("#merge", "no conflicts")
	b.Follow(`#merge button[class="main"]`)
	b.See("#merge", "Revert")
	var entries int
	b.Eval(`[...document.querySelectorAll('.event')].filter((n) => /merged|closed|mentioned/.test(n.textContent)).length`, &entries)
	if entries != 1 {
		t.Errorf("the merge has %d entries", entries)
	}
}

// Numbers of lines lead to their lines, in both forms, by GitHub's addresses; and the form for a comment on a
// file opens in its place, or without the script on a page of its own.
func TestLinesAndFilesInBrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	at := fmt.Sprintf("/alice/plot/pull/%d/files", propose(t, s, "tune"))
	b := enter(t, s, "will", browser.Look{})
	file := "#diff-" + diff.ID("song.txt")
	for form, cell := range map[string]string{"": "tr.a td:nth-child(2)",
		"?diff=split": "tr td.a:nth-child(3)"} {
		b.Go(at + form + file + "R5")
		b.See(file+" tr.on", "fifth line")
		b.Go(at + form)
		var hash, sign string
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll('%s %s')].find((n) => n.textContent === '3').click(), location.hash`, file, cell), &hash)
		if hash != file+"R3" {
			t.Errorf("the number leads to %q", hash)
		}
		b.See(file+" tr.on", "third line")
		b.Eval(fmt.Sprintf(`getComputedStyle(document.querySelector('%s tr.on td:last-child'), '::before').content`, file), &sign)
		if sign != `"+"` {
			t.Errorf("%q: an added line has the sign %s", form, sign)
		}
	}
	b.Click(file + " [data-talk]")
	b.Fill(file+" .filetalk textarea", "Of the whole file")
	if path := b.Path(); strings.Contains(path, "talk=") {
		t.Errorf("the browser went to %s", path)
	}
	b.Follow(file + ` .filetalk button[class="main"]`)
	b.See(file+" > header + .in", "Of the whole file")
	plain := enter(t, s, "will", browser.Look{NoScript: true})
	plain.Go(at)
	plain.Follow(file + " [data-talk]")
	plain.Fill(file+" .lineform textarea", "Without the script")
	plain.Follow(file + ` .lineform button[class="main"]`)
	plain.See(file+" > header + .in", "Without the script")
	plain.Go(at)
	plain.Follow(".diffbar noscript a")
	plain.Follow(file + ` tr.a a[aria-label="Comment on line 5"]`)
	plain.Fill(file+" .under textarea", "On a line without the script")
	plain.Follow(file + ` .under button[class="main"]`)
	plain.See(file+" .under .reviewthread", "On a line without the script")
	plain.Go(at)
	plain.Follow("button[form=viewed]")
	plain.See(".difffile", "Collapsed.")
}
