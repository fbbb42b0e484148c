//go:build long

package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// While somebody reads an issue and types, what others do appears, and nothing that the reader does is lost.
func TestLiveInBrowser(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "will")
	s.Grant(t, s.Repo(t, "alice/plot", false), "will", account.Push)
	const one = "/repos/alice/plot/issues/1"
	api(t, s, "alice", "POST /repos/alice/plot/issues", 201, changeObject{"title": "One",
		"body": strings.Repeat("A long text.\n\n", 60)}, nil)
	api(t, s, "alice", "POST "+one+"/comments", 201, changeObject{"body": "First"}, nil)
	b := enter(t, s, "will", browser.Look{})
	b.Go("/alice/plot/issues/1")
	b.Fill(".compose textarea", "Half a sente")
	var at, now struct {
		Top   float64
		Start int
		Focus bool
	}
	const look = `(() => { const f = document.querySelector('.compose textarea'); return { Top: f.getBoundingClientRect().top,
			Start: f.selectionStart, Focus: document.activeElement === f }; })()`
	var done bool
	b.Eval(`(() => { const f = document.querySelector('.compose textarea'); f.scrollIntoView({ block: 'center' });
		f.setSelectionRange(4, 6); return true; })()`, &done)
	b.Eval(look, &at)
	api(t, s, "alice", "POST "+one+"/comments", 201, changeObject{"body": "Second, **bold**"}, nil)
	b.See(".timeline", "Second, bold")
	b.See("#live", "One new comment.")
	b.Eval(look, &now)
	if d := now.Top - at.Top; !now.Focus || now.Start != 4 || d > 2 || d < -2 {
		t.Errorf("before a comment came %+v, after it %+v", at, now)
	}
	api(t, s, "alice", "PATCH "+one, 200, changeObject{"title": "Another title", "labels": []string{"fresh"},
		"state": "closed"}, nil)
	b.See(".threadhead", "Another title")
	b.See(".threadhead .state", "Closed")
	b.See("#side-labels", "fresh")
	b.See(".compose", "Reopen issue")
	b.See("#live", "This is now")
	b.Eval(`document.querySelector('.compose textarea').value === 'Half a sente'`, &done)
	if !done {
		t.Error("the text that was being typed is lost")
	}
	api(t, s, "alice", "POST "+one+"/reactions", 201, changeObject{"content": "rocket"}, nil)
	b.See(".thread > article .reactions", "1")
	api(t, s, "alice", "POST /repos/alice/plot/issues/comments/1/reactions", 201, changeObject{"content": "heart"}, nil)
	b.See("#issuecomment-1 .reactions", "1")
	led(t, s, "alice", "/alice/plot/issues/1/comments/1/hide", "reason", "outdated")
	b.See("#issuecomment-1", "marked as outdated")
	for _, flaw := range b.Flaws() {
		t.Error(flaw)
	}

	// A text that is being edited stays until it is saved or given up; one that was deleted goes.
	var made struct{ ID int64 }
	api(t, s, "will", "POST "+one+"/comments", 201, changeObject{"body": "Mine"}, &made)
	b.See(".timeline", "Mine")
	b.Eval(`(() => { const a = [...document.querySelectorAll('.timeline article')].at(-1).querySelector('a[data-edit]');
		a.closest('details').open = true; a.click(); return true; })()`, &done)
	b.See(".timeline form.edit", "Update comment")
	b.Fill(".timeline form.edit textarea", "Mine and more")
	api(t, s, "alice", "PATCH /repos/alice/plot/issues/comments/"+fmt.Sprint(made.ID), 200,
		changeObject{"body": "Changed by alice"}, nil)
	api(t, s, "alice", "POST "+one+"/comments", 201, changeObject{"body": "Later"}, nil)
	b.See(".timeline", "Later")
	b.Eval(`document.querySelector('.timeline form.edit textarea').value === 'Mine and more'`, &done)
	if !done {
		t.Error("an edited text is lost")
	}
	b.Eval(`(document.querySelector('.timeline form.edit [data-cancel]').click(), document.activeElement.blur(), true)`, &done)
	b.See(".timeline", "Changed by alice")
	api(t, s, "alice", "DELETE /repos/alice/plot/issues/comments/"+fmt.Sprint(made.ID), 204, nil, nil)
	gone := `![...document.querySelectorAll('.timeline')].some((n) => n.textContent.includes('Changed by alice'))`
	testkit.Eventually(t, func() bool {
		b.Eval(gone, &done)
		return done
	}, "a deleted comment goes")
}

// The merge box follows checks, reviews and the merge.
func TestLiveMergeBox(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	changePlant(t, s)
	number := propose(t, s, "tune")
	at := "/alice/plot/pull/" + fmt.Sprint(number)
	b := enter(t, s, "alice", browser.Look{Width: 360, Height: 740})
	b.Go(at)
	b.See("#merge", "no conflicts")
	status := "POST /repos/alice/plot/statuses/" + head(t, s, number)
	api(t, s, "alice", status, 201, changeObject{"state": "pending", "context": "build"}, nil)
	b.See("#merge", "have not completed")
	api(t, s, "alice", status, 201, changeObject{"state": "success", "context": "build"}, nil)
	b.See("#merge", "All checks have passed")
	api(t, s, "will", "POST /repos/alice/plot/pulls/"+fmt.Sprint(number)+"/reviews", 200,
		changeObject{"event": "APPROVE", "body": "Fine"}, nil)
	b.See("#merge", "Approved by will")
	b.See(".timeline", "Fine")
	api(t, s, "will", "PUT /repos/alice/plot/pulls/"+fmt.Sprint(number)+"/merge", 200, changeObject{}, nil)
	b.See("#merge", "Revert")
	b.See(".pullline .state", "Merged")
	for _, flaw := range b.Flaws() {
		t.Error(flaw)
	}
}
