package pages_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// text is what the API says that is in a file of a branch; "404" where there is none.
func text(t *testing.T, s *apitest.Server, path, ref string) string {
	t.Helper()
	a := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/contents/" + path + "?ref=" + ref, As: "alice",
		Headers: map[string]string{"Accept": "application/vnd.github.raw+json"}})
	if a.Status != 200 {
		return fmt.Sprint(a.Status)
	}
	return string(a.Body)
}

// A file is made, changed, renamed and deleted, each time by one commit of who is signed in.
func TestEdit(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		v := as(t, s, "sam")
		to := v.led("/alice/garden/new/main/deep", "path", "deep/new dir/a&b.txt", "text",
			"\r\none <b>\r\ntwo\r\n", "message", "Add <i>", "description", "why")
		if to != "/alice/garden/blob/main/deep/new%20dir/a&b.txt" {
			t.Errorf("led to %s", to)
		}
		if got := text(t, s, "deep/new%20dir/a&b.txt", "main"); got != "\none <b>\ntwo\n" {
			t.Errorf("the file is %q", got)
		}
		form := v.want("/alice/garden/edit/main/deep/new%20dir/a&b.txt", 200, "one <b>",
			"Commit to the branch main")
		if !strings.Contains(string(form.Body), "wrap=\"off\">\n\none") {
			t.Error("a browser drops the first empty line of the text")
		}
		blob := field(t, form, "blob")
		v.led("/alice/garden/edit/main/deep/new%20dir/a&b.txt", "blob", blob, "path", "moved.txt",
			"text", "three\n")
		if a, b := text(t, s, "deep/new%20dir/a&b.txt", "main"), text(t, s, "moved.txt",
			"main"); a != "404" || b != "three\n" {
			t.Errorf("%q, %q", a, b)
		}
		v.want("/alice/garden/commits", 200, "Rename a&b.txt to moved.txt", "Add <i>", "why", "sam")
		blob = field(t, v.want("/alice/garden/delete/main/moved.txt", 200, "Delete moved.txt"), "blob")
		if to := v.led("/alice/garden/delete/main/moved.txt", "blob", blob); to != "/alice/garden/tree/main" {
			t.Errorf("led to %s", to)
		}
		if got := text(t, s, "moved.txt", "main"); got != "404" {
			t.Errorf("the file is %q", got)
		}
		// Line ends stay as they are.
		blob = field(t, v.want("/alice/garden/edit/main/dos.txt", 200), "blob")
		v.led("/alice/garden/edit/main/dos.txt", "blob", blob, "path", "dos.txt", "text",
			"one\r\nmore\r\ntwo\r\n")
		if got := text(t, s, "dos.txt", "main"); got != "one\r\nmore\r\ntwo\r\n" {
			t.Errorf("the file is %q", got)
		}
	})
}

// Of what two people do to a file at one time nothing is lost: the second sees the first's change, and has
// the text still.
func TestConflict(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		sam, alice := as(t, s, "sam"), as(t, s, "alice")
		const at = "/alice/garden/edit/main/song.txt"
		blob := field(t, sam.want(at, 200), "blob")
		alice.led(at, "blob", field(t, alice.want(at, 200), "blob"), "path", "song.txt", "text", "alice's\n")
		a := sam.post(at, "blob", blob, "path", "song.txt", "text", "one\nsam's <i>\n", "message", "Mine")
		_, shown := inspect(t, at, a)
		if a.Status != 409 || !strings.Contains(shown, "Someone changed this file while you were editing it.") ||
			!strings.Contains(shown, "one\nsam's <i>\n") ||
			!strings.Contains(shown, "alice's") || !strings.Contains(string(a.Body), `value="Mine"`) {
			t.Errorf("%d %s", a.Status, shown)
		}
		if got := text(t, s, "song.txt", "main"); got != "alice's\n" {
			t.Errorf("the file is %q", got)
		}
		// Knowing that, sam commits all the same.
		sam.led(at, "blob", field(t, a, "blob"), "path", "song.txt", "text", "both\n")
		if got := text(t, s, "song.txt", "main"); got != "both\n" {
			t.Errorf("the file is %q", got)
		}
		// Changes of others in other files do not conflict.
		blob = field(t, sam.want(at, 200), "blob")
		alice.led("/alice/garden/new/main", "path", "other.txt", "text", "x\n")
		sam.led(at, "blob", blob, "path", "song.txt", "text", "again\n")
		// A file that is gone can be made again.
		blob = field(t, sam.want(at, 200), "blob")
		alice.led("/alice/garden/delete/main/song.txt", "blob", blob)
		a = sam.post(at, "blob", blob, "ref", "main", "path", "song.txt", "text", "kept\n")
		if _, shown := inspect(t, at, a); a.Status != 409 || !strings.Contains(shown, "deleted or renamed") ||
			!strings.Contains(shown, "kept\n") {
			t.Errorf("%d %s", a.Status, shown)
		}
		sam.led("/alice/garden/new/main", "path", "song.txt", "text", "kept\n")
		if got := text(t, s, "song.txt", "main"); got != "kept\n" {
			t.Errorf("the file is %q", got)
		}
		// A form that was not taken keeps what was typed.
		for _, wrong := range []string{"", "../x", "a/.git/b", "deep", "README.md",
			strings.Repeat("x", 5000)} {
			a := sam.post("/alice/garden/new/main", "path", wrong, "text", "typed\n", "message", "My message")
			if _, shown := inspect(t, wrong, a); a.Status != 422 || !strings.Contains(shown, "typed") ||
				!strings.Contains(string(a.Body), "My message") {
				t.Errorf("%.20q: %d %s", wrong, a.Status, squeeze(shown))
			}
		}
	})
}

// A change goes to a new branch as well, from where a pull request begins; a preview shows it and changes
// nothing.
func TestNewBranchAndPreview(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		v := as(t, s, "sam")
		const at = "/alice/garden/edit/main/README.md"
		blob := field(t, v.want(at, 200), "blob")
		a := v.post(at, "blob", blob, "path", "README.md", "text", "# New <script>\n", "preview", "1")
		if _, shown := inspect(t, at, a); a.Status != 200 || !strings.Contains(shown, "Preview") ||
			!strings.Contains(shown, "the song") {
			t.Errorf("%d %s", a.Status, shown)
		}
		to := v.led(at, "blob", blob, "path", "README.md", "text", "# New\n", "target", "new", "branch",
			"sam-patch-1")
		if to != "/alice/garden/pulls/new?base=main&head=sam-patch-1" {
			t.Errorf("led to %s", to)
		}
		if a, b := text(t, s, "README.md", "main"), text(t, s, "README.md", "sam-patch-1"); b != "# New\n" ||
			a == b {
			t.Errorf("%q %q", a, b)
		}
		for _, branch := range []string{"", "side/<i>", "a..b", "sam-patch-1/x"} {
			if a := v.post(at, "blob", blob, "path", "README.md", "text", "kept", "target", "new", "branch",
				branch); a.Status != 422 && a.Status != 409 {
				t.Errorf("%q: %d", branch, a.Status)
			}
		}
		// A commit that fails leaves no branch behind.
		v.post("/alice/garden/new/main", "path", "a/.git/x", "text", "x", "target", "new", "branch", "left")
		s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/branches/left"}).Shows(t, 404)
		if to := v.led("/alice/garden/branches", "name", "made", "from",
			"v1"); to != "/alice/garden/tree/made" {
			t.Errorf("led to %s", to)
		}
		if a := v.post("/alice/garden/branches", "name", "made", "from", "main"); a.Status != 422 ||
			!strings.Contains(string(a.Body), `value="made"`) {
			t.Errorf("%d", a.Status)
		}
		v.led("/alice/garden/branches/delete", "name", "made")
		s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/branches/made"}).Shows(t, 404)
		v.led("/alice/garden/commit/main/comments", "body", "Nice **work** <script>")
		v.want("/alice/garden/commit/main", 200, "Nice work", "sam")
		s.Ask(t, "sam", "PATCH /repos/alice/garden/comments/1", `{"body": "Better"}`, 200)
		v.want("/alice/garden/commit/main", 200, "Better", "edited")
		edits := "/alice/garden/commit/" + string(s.Tip(t, "alice", "alice/garden", "main")) + "/comments/1/edits"
		v.want(edits, 200, "sam", "edited")
		v.want(edits+"?edit=1", 200, "Nice **work**", "Better", "Delete the text before this edit")
		s.Visit(t, "", "GET "+edits+"?edit=1").Shows(t, 200, "Better", "!Delete the text")
		s.Visit(t, "", "GET /alice/garden/commit/"+strings.Repeat("a", 40)+"/comments/1/edits").Shows(t, 404)
		s.Visit(t, "", "GET "+strings.Replace(edits, "/1/", "/9/", 1)).Shows(t, 404)
		s.Visit(t, "stranger", "POST "+edits, "edit", "1").Shows(t, 403)
		v.led(edits, "edit", "1")
		s.Visit(t, "sam", "GET "+edits+"?edit=1").Shows(t, 200, "was deleted", "!Nice **work**")
		v.post("/alice/garden/commit/main/comments", "body", "").Shows(t, 422)
	})
}

// Changing a file requires push access, and is not possible in an archived repository, at a tag, or without
// signing in.
func TestWhoEdits(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		blob := field(t, as(t, s, "sam").want("/alice/garden/edit/main/song.txt", 200), "blob")
		refused := func(login string, status int) {
			v := as(t, s, login)
			for _, path := range codeForms {
				v.get("/alice/garden"+path).Shows(t, status)
				if path == "/upload/main" {
					continue
				}
				v.post("/alice/garden"+path, "blob", blob, "path", "song.txt", "text", "x").Shows(t, status)
			}
			for path, fields := range map[string][]string{"/branches": {"name", "x", "from", "main"},
				"/branches/delete": {"name", "side/<i>"}} {
				v.post("/alice/garden"+path, fields...).Shows(t, status)
			}
			for _, path := range []string{"", "/blob/main/song.txt", "/branches"} {
				if body := string(v.get("/alice/garden" + path).Body); strings.Contains(body, "/edit/") ||
					strings.Contains(body, "Add file") || strings.Contains(body, "branches/delete") {
					t.Errorf("%s offers %q to change files", path, login)
				}
			}
		}
		refused("", 303) // led to sign in
		for path, fields := range map[string][]string{"/branches": {"name", "x", "from", "main"},
			"/branches/delete": {"name", "side/<i>"}} {
			as(t, s, "stranger").post("/alice/garden"+path, fields...).Shows(t, 403)
		}
		v := as(t, s, "sam")
		for _, path := range []string{"/edit/v1/song.txt", "/new/v1", "/delete/v1/song.txt", "/upload/v1",
			"/edit/main/bytes.bin", "/edit/main/deep"} {
			v.get("/alice/garden"+path).Shows(t, 403)
		}
		if body := string(v.get("/alice/garden").Body); !strings.Contains(body, "Add file") {
			t.Error("who may push is not offered to add a file")
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"archived": true}`,
			Status: 200})
		refused("sam", 403)
		refused("alice", 403)
		if got := text(t, s, "song.txt", "main"); got != "one\n" {
			t.Errorf("the file is %q", got)
		}
	})
}

// The first files of an empty repository make its branch.
func TestFirstFile(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		v := as(t, s, "alice")
		v.want("/alice/garden", 200, "Create a new file")
		v.want("/alice/garden/new/main", 200, "New file")
		v.led("/alice/garden/new/main", "path", "README.md", "text", "# Hello\n")
		v.want("/alice/garden", 200, "Hello")
		testkit.Eventually(t, func() bool { // the page waits only so long for what git says of each file
			return strings.Contains(string(v.get("/alice/garden").Body), "Create README.md")
		}, "the page shows the commit of the file")
		s.Repo(t, "alice/shed", false)
		v.want("/alice/shed/upload/main", 200, "Upload files")
		v.upload("/alice/shed/upload/main", "a.txt", "a", "b.txt", "b").Shows(t, 303)
		v.want("/alice/shed", 200, "a.txt", "b.txt")
		v.want("/alice/shed/commits", 200, "Upload <b>")
	})
}

// upload is a form with files, of names and contents in turn.
func (v *visitor) upload(path string, files ...string) *apitest.Answer {
	v.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for n := 0; n < len(files); n += 2 {
		part, err := w.CreateFormFile("files", files[n])
		testkit.NoError(v.t, err)
		part.Write([]byte(files[n+1]))
	}
	w.WriteField("message", "Upload <b>")
	w.Close()
	return v.s.Do(v.t, apitest.Case{Do: "POST " + path, Send: b.String(),
		Headers: v.headers("Content-Type", w.FormDataContentType())})
}

// Several files with any contents are uploaded in one commit. A form that is too large or malformed changes
// nothing.
func TestUpload(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		codePlant(t, s, "alice/garden", false)
		v := as(t, s, "sam")
		v.want("/alice/garden/upload/main/deep", 200, "Upload files")
		a := v.upload("/alice/garden/upload/main/deep", "a.bin", "\x00\xff\r\n", `..\b.txt`, "b\r\n",
			"new/"+evilFile, "evil")
		if a.Status != 303 || a.Header.Get("Location") != "/alice/garden/tree/main/deep" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		for path, want := range map[string]string{"deep/a.bin": "\x00\xff\r\n", "deep/b.txt": "b\r\n"} {
			if got := text(t, s, path, "main"); got != want {
				t.Errorf("%s is %q", path, got)
			}
		}
		v.want("/alice/garden/commits", 200, "Upload <b>")
		v.want("/alice/garden/tree/main/deep", 200, evilFile, "b.txt")
		v.upload("/alice/garden/upload/main").Shows(t, 422)
		v.upload("/alice/garden/upload/main", ".git", "x").Shows(t, 422)
		v.upload("/alice/garden/upload/main", "big", strings.Repeat("x", 31<<20)).Shows(t, 413)
		v.post("/alice/garden/upload/main", "files", "x").Shows(t, 415)
		for _, login := range []string{"stranger", ""} {
			if a := as(t, s, login).upload("/alice/garden/upload/main", "x", "x"); a.Status != 422 &&
				a.Status != 303 || a.Header.Get("Location") == "/alice/garden/tree/main" {
				t.Errorf("%q uploads: %d", login, a.Status)
			}
		}
		// A revoked right ends immediately.
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/collaborators/sam", As: "alice", Status: 204})
		// to a fork, whose branch has no name here
		v.upload("/alice/garden/upload/main", "x", "x").Shows(t, 422)
	})
}
