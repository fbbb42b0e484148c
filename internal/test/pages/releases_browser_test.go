//go:build long

package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/browser"
	"arbor/internal/test/testkit"
)

// A user creates a repository, stars it, drafts a release with a file, having taken another one out, and publishes it, in a browser with
// and without scripts. Another user downloads the file.
func TestReleasesInABrowser(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	file := filepath.Join(t.TempDir(), "seeds.csv")
	testkit.NoError(t, os.WriteFile(file, []byte("pea,bean\n"), 0o600))
	other := filepath.Join(t.TempDir(), "other.csv")
	testkit.NoError(t, os.WriteFile(other, []byte("x"), 0o600))
	for _, look := range []browser.Look{{}, {NoScript: true, Width: 360, Height: 740}} {
		t.Run(fmt.Sprintf("%+v", look), func(t *testing.T) {
			name := fmt.Sprintf("plot%d", look.Width)
			b := browser.Open(t, s.URL, look)
			b.SignIn(s.Session(t, "alice"))
			b.Go("/new")
			b.Fill("#name", name)
			b.Click("input[name=readme]")
			b.Follow("main form button.main")
			b.See(".repohead .title", name)
			b.Follow(`form[action$="/star"] button`)
			b.See(`form[action$="/unstar"] button`, "Starred")
			b.Go("/alice/" + name + "/releases")
			b.Follow("main .button.main")
			b.Fill("#tag", "v1")
			b.Fill("#name", "First harvest")
			b.Follow("button[name=action][value=generate]")
			var notes string
			b.Eval(`document.querySelector("[name=body]").value`, &notes)
			if !strings.Contains(notes, "Full Changelog") {
				t.Errorf("the notes are %q", notes)
			}
			files := []string{file}
			if !look.NoScript {
				files = append(files, other)
			}
			b.Run(chromedp.SetUploadFiles("#files", files, chromedp.ByQuery))
			if !look.NoScript {
				b.See(".chosen", "seeds.csv")
				b.Click(`.chosen button[aria-label="Remove other.csv"]`)
			}
			b.Follow("button[name=action][value=draft]:not(.hide)")
			b.See("main article", "Draft")
			b.See(".assets", "seeds.csv")
			b.Follow("main article header .button")
			b.See("fieldset", "Remove seeds.csv")
			b.Follow("button[name=action][value=publish]")
			b.See("main article", "Latest")
			if at := b.Path(); at != "/alice/"+name+"/releases/tag/v1" {
				t.Errorf("led to %s", at)
			}
			s.Check(t, apitest.Case{Do: "GET /alice/" + name + "/releases/download/v1/seeds.csv", Status: 200,
				Body: "pea,bean\n"})
			s.Check(t, apitest.Case{Do: "GET /alice/" + name + "/releases/download/v1/other.csv", Status: 404})
		})
	}
}
