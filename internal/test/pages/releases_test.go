package pages_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// releasesEvilBody is Markdown that would run, were it not sanitized.
const releasesEvilBody = "**bold** <script>alert(3)</script> <img src=x onerror=alert(4)> [go](javascript:alert(5))"

const releasesAt = "/alice/plot/releases"

// releasesPlant creates alice's repository plot with push access for bob.
func releasesPlant(t *testing.T, s *apitest.Server) {
	t.Helper()
	s.Users(t, "alice", "bob", "sam")
	s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "plot", "auto_init": true}`,
		Status: 201})
	s.Grant(t, s.Access(t, "alice", "alice/plot").Repo, "bob", account.Push)
}

// upload sends a form with files, names and contents in turn.
func upload(t *testing.T, s *apitest.Server, as, path string, files ...string) *apitest.Answer {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for n := 0; n+1 < len(files); n += 2 {
		part, err := form.CreateFormFile("file", files[n])
		testkit.NoError(t, err)
		part.Write([]byte(files[n+1]))
	}
	form.Close()
	a := s.Do(t, apitest.Case{Do: "POST " + path, As: as, Send: b.String(),
		Headers: map[string]string{"Accept": apitest.Browser, "Content-Type": form.FormDataContentType()}})
	if a.Status/100 != 3 {
		a.Harmless(t, path)
	}
	return a
}

// sendRelease sends the form of a release: fields, then files, then the button, which browsers send last.
func sendRelease(t *testing.T, s *apitest.Server, as, path, action string, fields []string, files ...string) *apitest.Answer {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for n := 0; n+1 < len(fields); n += 2 {
		testkit.NoError(t, form.WriteField(fields[n], fields[n+1]))
	}
	for n := 0; n+1 < len(files); n += 2 {
		part, err := form.CreateFormFile("file", files[n])
		testkit.NoError(t, err)
		part.Write([]byte(files[n+1]))
	}
	testkit.NoError(t, form.WriteField("action", action))
	form.Close()
	a := s.Do(t, apitest.Case{Do: "POST " + path, As: as, Send: b.String(),
		Headers: map[string]string{"Accept": apitest.Browser, "Content-Type": form.FormDataContentType()}})
	if a.Status/100 != 3 {
		a.Harmless(t, path)
	}
	return a
}

// Files come with the form of a release: it is published when all of them are there. What fails leaves a draft that has
// the files so far and what was typed, and nobody else sees anything before.
func TestFilesWhileWriting(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		const to = releasesAt + "/new"
		s.Visit(t, "bob", "GET "+to).Shows(t, 200, `enctype="multipart/form-data"`, `type="file"`)
		fields := func(tag string, more ...string) []string {
			return append([]string{"tag", tag, "target", "main", "name", evil, "body", "Notes\r\nof " + tag, "latest", "legacy"}, more...)
		}
		sendRelease(t, s, "bob", to, "publish", fields("tag1"), "seeds.csv", "pea\n", "map.png", "x").Leads(t, releasesAt+"/tag/tag1")
		s.Visit(t, "", "GET "+releasesAt+"/tag/tag1").Shows(t, 200, "seeds.csv", "map.png", "Notes", "Latest", evil)
		s.Check(t, apitest.Case{Do: "GET " + releasesAt + "/download/tag1/seeds.csv", Status: 200, Body: "pea\n"})
		sendRelease(t, s, "bob", to, "publish", fields("tag2")).Leads(t, releasesAt+"/tag/tag2")

		// Two files of one name: the first stays, in a draft that has what was typed.
		a := sendRelease(t, s, "bob", to, "publish", fields("tag3"), "seeds.csv", "1", "seeds.csv", "2")
		a.Shows(t, 422, "seeds.csv: Name is taken", "was saved as a draft", "Choose the files again", "of tag3", `action="/alice/plot/releases/edit/`)
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "!tag3")
		_, draft := idOf(t, s, "tag3")
		edit := strings.Replace(draft, "/tag/", "/edit/", 1)
		// Replaced in one form: the old file goes, the new one has its name; and published.
		id := first(t, string(a.Body), `name="drop" value="([0-9]+)"`)
		sendRelease(t, s, "bob", edit, "publish", fields("tag3", "drop", id, "drop", "999999", "drop", "x"), "seeds.csv", "3").
			Leads(t, releasesAt+"/tag/tag3")
		s.Check(t, apitest.Case{Do: "GET " + releasesAt + "/download/tag3/seeds.csv", Status: 200, Body: "3"})
		// What is removed stays while the form is refused, and a file alone takes the place of one of its name.
		id = first(t, string(s.Visit(t, "bob", "GET "+releasesAt+"/edit/tag3").Body), `name="drop" value="([0-9]+)"`)
		sendRelease(t, s, "bob", releasesAt+"/edit/tag3", "save", fields("no tag~", "drop", id)).Shows(t, 422, "no tag~", "checked>")
		sendRelease(t, s, "bob", releasesAt+"/edit/tag3", "save", fields("tag3", "drop", id), "other.csv", "4", "other.csv", "5").
			Shows(t, 422, "other.csv: Name is taken", "Remove", "!was saved as a draft")
		s.Check(t, apitest.Case{Do: "GET " + releasesAt + "/download/tag3/seeds.csv", Status: 200, Body: "3"})
		sendRelease(t, s, "bob", releasesAt+"/edit/tag3", "save", fields("tag3", "drop", id), "seeds.csv", "6", "seeds.csv", "7").
			Shows(t, 422, "seeds.csv: Name is taken")
		s.Check(t, apitest.Case{Do: "GET " + releasesAt + "/download/tag3/seeds.csv", Status: 200, Body: "6"})
		s.Visit(t, "bob", "POST "+releasesAt+"/edit/tag3", "action", "save", "tag", "tag3", "target", "main", "name", evil,
			"body", "Notes", "drop", id).Leads(t, releasesAt+"/tag/tag3") // it is gone already
		// A file of another release is not removed.
		form := s.Visit(t, "bob", "GET "+releasesAt+"/edit/tag1").Shows(t, 200, "Remove", "seeds.csv")
		id = first(t, string(form.Body), `name="drop" value="([0-9]+)"`)
		sendRelease(t, s, "bob", releasesAt+"/edit/tag3", "save", fields("tag3", "drop", id)).Leads(t, releasesAt+"/tag/tag3")
		s.Visit(t, "", "GET "+releasesAt+"/tag/tag1").Shows(t, 200, "seeds.csv", "map.png")
		sendRelease(t, s, "bob", releasesAt+"/edit/tag1", "save", fields("tag1", "drop", id)).Leads(t, releasesAt+"/tag/tag1")
		s.Visit(t, "", "GET "+releasesAt+"/tag/tag1").Shows(t, 200, "!seeds.csv", "map.png")

		// Notes are generated with the files kept.
		sendRelease(t, s, "bob", to, "x", fields("tag4", "action", "generate"), "late.csv", "x").Shows(t, 200, "Full Changelog", "late.csv",
			"Publish release")
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "!tag4")
		// What is wrong is said before any file is read, and leaves nothing.
		sendRelease(t, s, "bob", to, "publish", fields("no tag~"), "a.csv", "x").Shows(t, 422, "no tag~", "Choose the files again")
		sendRelease(t, s, "bob", to, "dance", fields("tag5"), "a.csv", "x").Shows(t, 422, "what to do", "a.csv")
		sendRelease(t, s, "sam", to, "publish", fields("tag6"), "a.csv", "x").Shows(t, 403)
		sendRelease(t, s, "sam", releasesAt+"/edit/tag1", "save", fields("tag1"), "a.csv", "x").Shows(t, 403)
		sendRelease(t, s, "", to, "publish", fields("tag6"), "a.csv", "x").Leads(t, "/login")
		many := []string{}
		for n := range 51 {
			many = append(many, fmt.Sprintf("f%d", n), "x")
		}
		sendRelease(t, s, "bob", to, "publish", fields("tag7"), many...).Shows(t, 422, "at most 50 files", "f49")
		sendRelease(t, s, "bob", to, "publish", fields("tag8", "body", strings.Repeat("x", 1<<20)), "a", "x").Shows(t, 413)
		sendRelease(t, s, "bob", to, "publish", fields("tag8", "name", "\xff"), "a", "x").Shows(t, 400)
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "!tag5", "!tag6", "!tag7", "!tag8")
	})
}

// Files that break off leave no draft behind, however far they came.
func TestFilesThatBreakOff(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		const part = "--b\r\nContent-Disposition: form-data; name=\"%s\"%s\r\n\r\n%s"
		fields := fmt.Sprintf(part, "tag", "", "v9\r\n") + fmt.Sprintf(part, "target", "", "main\r\n")
		one := fields + fmt.Sprintf(part, "file", `; filename="one.csv"`, "1\r\n")
		for name, body := range map[string]string{"in the first file": fields + fmt.Sprintf(part, "file", `; filename="one.csv"`, "pea"),
			"between two":        one,
			"in the second file": one + fmt.Sprintf(part, "file", `; filename="two.csv"`, "bean")} {
			at, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
			testkit.NoError(t, err)
			fmt.Fprintf(at, "POST %s/new HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nAccept: text/html\r\nCookie: %s=%s\r\n"+
				"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n%s",
				releasesAt, strings.TrimPrefix(s.URL, "http://"), s.URL, session.Cookie, s.Session(t, "bob"), body)
			drafts := func() int {
				var list []any
				s.Check(t, apitest.Case{Do: "GET /repos" + releasesAt, As: "bob", Status: 200}).JSON(t, &list)
				return len(list)
			}
			testkit.Eventually(t, func() bool { return drafts() == 1 }, name+": the draft")
			testkit.NoError(t, at.Close())
			testkit.Eventually(t, func() bool { return drafts() == 0 }, name+": the draft goes")
		}
	})
}

// idOf is the id of the release of a tag, or of the first draft.
func idOf(t *testing.T, s *apitest.Server, tag string) (id string, page string) {
	t.Helper()
	var list []struct {
		ID      int64
		Tag     string `json:"tag_name"`
		HTMLURL string `json:"html_url"`
	}
	s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/releases", As: "alice", Status: 200}).JSON(t, &list)
	for _, r := range list {
		if r.Tag == tag {
			return fmt.Sprint(r.ID), strings.TrimPrefix(r.HTMLURL, s.URL)
		}
	}
	t.Fatalf("no release of %s in %v", tag, list)
	return "", ""
}

// A release is drafted, visible only with push access, edited, published and deleted with forms.
func TestLifeOfARelease(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "No releases yet", "!New release")
		s.Visit(t, "", "GET "+releasesAt+"/latest").Shows(t, 404)
		s.Visit(t, "bob", "GET "+releasesAt+"/new").Shows(t, 200, "Publish release", `value="main"`)
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "draft", "tag", "v1", "target", "main", "name",
			evil,
			"body", releasesEvilBody, "latest", "legacy")
		_, draft := idOf(t, s, "v1")
		s.Visit(t, "bob", "GET "+draft).Shows(t, 200, evil, "bold", "Draft", "Add files")
		s.Visit(t, "sam", "GET "+draft).Shows(t, 404)
		s.Visit(t, "sam", "GET "+releasesAt).Shows(t, 200, "No releases yet")
		edit := strings.Replace(draft, "/tag/", "/edit/", 1)
		s.Visit(t, "sam", "GET "+edit).Shows(t, 404)
		s.Visit(t, "bob", "GET "+edit).Shows(t, 200, evil, releasesEvilBody, "Publish release")
		s.Visit(t, "bob", "POST "+edit, "action", "publish", "tag", "v1", "name", evil, "body",
			releasesEvilBody,
			"latest", "true").Leads(t, releasesAt+"/tag/v1")
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, evil, "Latest", "Source code (zip)",
			`href="/alice/plot/archive/refs/tags/v1.zip"`, "!Edit</a>")
		s.Visit(t, "", "GET "+releasesAt+"/tag/v1").Shows(t, 200, evil, "!Add files")
		if a := s.Visit(t, "", "GET "+releasesAt+"/latest"); a.Status != 302 ||
			a.Header.Get("Location") != s.URL+releasesAt+"/tag/v1" {
			t.Errorf("latest: %d %v", a.Status, a.Header)
		}
		s.Visit(t, "bob", "POST "+releasesAt+"/edit/v1", "action", "save", "tag", "v1", "name", "Renamed", "body",
			"x", "prerelease", "1").Leads(t, releasesAt+"/tag/v1")
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "Renamed", "Pre-release", "!Latest")
		id, _ := idOf(t, s, "v1")
		s.Visit(t, "sam", "POST "+releasesAt+"/"+id+"/delete").Shows(t, 403)
		s.Visit(t, "bob", "POST "+releasesAt+"/"+id+"/delete").Leads(t, releasesAt)
		s.Visit(t, "", "GET "+releasesAt+"/tag/v1").Shows(t, 404)
		s.Visit(t, "bob", "POST "+releasesAt+"/"+id+"/delete").Shows(t, 404)
		s.Visit(t, "bob", "POST "+releasesAt+"/x/delete").Shows(t, 404)
	})
}

// Errors of a form are shown on it with the typed values. Without push access there is no form.
func TestFormsOfReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		s.Visit(t, "", "GET "+releasesAt+"/new").Leads(t, "/login?return_to=%2Falice%2Fplot%2Freleases%2Fnew")
		s.Visit(t, "sam", "GET "+releasesAt+"/new").Shows(t, 403)
		s.Visit(t, "sam", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1").Shows(t, 403)
		s.Visit(t, "", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1").Leads(t, "/login")
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "publish", "tag", "not a tag~", "name", evil,
			"body",
			"kept text").
			Shows(t, 422, "not a tag~", evil, "kept text")
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "publish", "tag", "", "name",
			"kept").Shows(t, 422, "kept")
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1", "target", "no-branch", "name",
			"kept").Shows(t, 422, "kept", "no-branch")
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "dance", "tag", "v1", "name",
			"kept").Shows(t, 422, "kept")
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "generate", "tag", "v1", "target", "main", "body",
			"Mine first").
			Shows(t, 200, "Mine first", "Full Changelog", `value="v1"`)
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "generate", "tag", "", "body", "kept text").Shows(t,
			422, "kept text")
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, "No releases yet")
		for _, path := range []string{"/tag/none", "/edit/none", "/tag/a/b/c", "/tag/%3Cscript%3E"} {
			s.Visit(t, "bob", "GET "+releasesAt+path).Shows(t, 404)
		}
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "publish", "tag", "beds/east/1", "name",
			"Slashes").Leads(t, releasesAt+"/tag/beds/east/1")
		s.Visit(t, "bob", "GET "+releasesAt+"/edit/beds/east/1").Shows(t, 200,
			`action="/alice/plot/releases/edit/beds/east/1"`)
		s.Visit(t, "", "GET "+releasesAt+"/tag/beds/east/1").Shows(t, 200,
			`href="/alice/plot/archive/refs/tags/beds/east/1.zip"`)
	})
}

// Files come to a release as they are sent, several at once; one that is refused is said, and nothing else is
// lost.
func TestFiles(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		s.Visit(t, "bob", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1").Leads(t, releasesAt+"/tag/v1")
		id, _ := idOf(t, s, "v1")
		to := releasesAt + "/" + id + "/assets"
		large := strings.Repeat("0123456789", 300_000)
		upload(t, s, "bob", to, "seeds.csv", "pea,bean\n", `<b>".html`, "<script>alert(1)</script>",
			"large.bin", large).Leads(t, releasesAt+"/tag/v1")
		page := s.Visit(t, "bob", "GET "+releasesAt+"/tag/v1").Shows(t, 200, "seeds.csv", "b.html",
			"2.9 MiB", "sha256:")
		s.Check(t, apitest.Case{Do: "GET " + releasesAt + "/download/v1/large.bin", Status: 200, Body: large})
		upload(t, s, "bob", to, "more.csv", "x", "seeds.csv", "again").Shows(t, 422,
			"Name is taken", "more.csv")
		upload(t, s, "bob", to).Shows(t, 422, "Choose a file first")
		upload(t, s, "bob", to, "empty", "").Shows(t, 422)
		upload(t, s, "sam", to, "mine.csv", "x").Shows(t, 403)
		upload(t, s, "", to, "mine.csv", "x").Leads(t, "/login")
		upload(t, s, "bob", releasesAt+"/999999/assets", "mine.csv", "x").Shows(t, 404)
		upload(t, s, "bob", releasesAt+"/x/assets", "mine.csv", "x").Shows(t, 404)
		s.Visit(t, "bob", "POST "+to, "file", "x").Shows(t, 415)
		cut := s.Do(t, apitest.Case{Do: "POST " + to, As: "bob",
			Send: "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"cut\"\r\n\r\nhalf",
			Headers: map[string]string{"Accept": apitest.Browser,
				"Content-Type": "multipart/form-data; boundary=b"}})
		if cut.Status != 400 {
			t.Errorf("a form that breaks off: %d %.300s", cut.Status, cut.Body)
		}
		s.Visit(t, "bob", "GET "+releasesAt+"/tag/v1").Shows(t, 200, "!cut</bdi>", "!mine.csv")
		_, rest, _ := strings.Cut(string(page.Body), "/releases/assets/")
		asset, _, _ := strings.Cut(rest, "/")
		s.Visit(t, "sam", "POST "+releasesAt+"/assets/"+asset+"/delete").Shows(t, 403)
		s.Visit(t, "bob", "POST "+releasesAt+"/assets/"+asset+"/delete", "return_to", releasesAt+"/tag/v1").Leads(t,
			releasesAt+"/tag/v1")
		s.Visit(t, "bob", "POST "+releasesAt+"/assets/"+asset+"/delete").Shows(t, 404)
	})
}

// Releases of a private repository are for those who see it.
func TestPrivateReleases(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releasesPlant(t, s)
		s.Visit(t, "alice", "POST "+releasesAt+"/new", "action", "publish", "tag", "v1").Leads(t, releasesAt+"/tag/v1")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`,
			Status: 200})
		s.Visit(t, "alice", "GET "+releasesAt).Shows(t, 200, "v1")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"name": "meadow"}`,
			Status: 200})
		a := s.Visit(t, "alice", "GET "+releasesAt+"/tag/v1")
		if a.Status != 301 || a.Header.Get("Location") != s.URL+"/alice/meadow/releases/tag/v1" {
			t.Errorf("the old name: %d %v", a.Status, a.Header)
		}
	})
}

// A page costs the same few statements for one release and for many.
func TestReleasesStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		releasesPlant(t, s)
		publish := func(n int) {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/releases", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"tag_name": "v%d"}`, n)})
		}
		publish(0)
		s.Settle(t)
		costsAsMuch(t, s, statements, "alice", []string{releasesAt, releasesAt + "/new"}, func() {
			for n := range 12 {
				publish(n + 1)
			}
		})
		if n := s.Cost(t, statements, "alice", releasesAt+"/tag/v1"); n > 20 {
			t.Errorf("a release: %d statements", n)
		}
		s.Visit(t, "", "GET "+releasesAt).Shows(t, 200, `rel="next"`)
	})
}
