package code

import "testing"

// deep is a file in a folder, on a branch with a slash.
var deep = where{"/alice/garden/blob/a/b/deep/a.md", "/alice/garden/raw/a/b/deep/a.md", "/alice/garden/blob/a/b"}

// A link leads where it does at GitHub: relative to the file or to the root of its revision, and to a heading.
func TestLinksOfFiles(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"b.md":                            "/alice/garden/blob/a/b/deep/b.md",
		"../c%20d.go#L3":                  "/alice/garden/blob/a/b/c%20d.go#L3",
		"b.md#how-to":                     "/alice/garden/blob/a/b/deep/b.md#user-content-how-to",
		"b.md#user-content-x":             "/alice/garden/blob/a/b/deep/b.md#user-content-x",
		"/docs/x.md":                      "/alice/garden/blob/a/b/docs/x.md",
		"/docs%2Fx.go":                    "/alice/garden/blob/a/b/docs%2Fx.go",
		"/../../../../bob/beds":           "/alice/bob/beds",
		"/alice/garden/issues/1":          "/alice/garden/issues/1",
		"#user-content-x":                 "#user-content-x",
		"https://example.org/b.md#how-to": "https://example.org/b.md#how-to",
		"//example.org/b":                 "//example.org/b",
		"/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz": "/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz",
	} {
		if got := relink(`<a href="`+from+`">x</a>`, deep); got != `<a href="`+want+`">x</a>` {
			t.Errorf("%s becomes %s", from, got)
		}
	}
}

// Headings lead to themselves, but for those within a link.
func TestHeadingsLeadToThemselves(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		`<h2 id="user-content-a">A <a href="#x">b</a></h2><h3>c</h3>`: `<h2 id="user-content-a">A <a href="#x">b</a>` +
			`<a class="anchor" href="#user-content-a" aria-label="Link to this heading"></a></h2><h3>c</h3>`,
		`<a href="#x"><h1 id="y">z</h1></a>`: `<a href="#x"><h1 id="y">z</h1></a>`,
	} {
		if got := relink(from, deep); got != want {
			t.Errorf("%s becomes %s", from, got)
		}
	}
}

// A picture is a raw file of its repository or comes from elsewhere; it is no other address of the site,
// which a reader's browser would ask for in the reader's name.
func TestPicturesStayInTheRepository(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"pic.png":                                                      `<img src="/alice/garden/raw/a/b/deep/pic.png" alt="x">`,
		"../pic.png?v=1":                                               `<img src="/alice/garden/raw/a/b/pic.png?v=1" alt="x">`,
		"../../side/pic.png":                                           `<img src="/alice/garden/raw/a/side/pic.png" alt="x">`,
		"/alice/garden/raw/v1/p.png":                                   `<img src="/alice/garden/raw/v1/p.png" alt="x">`,
		"https://example.org/p.png":                                    `<img src="https://example.org/p.png" alt="x">`,
		"../../../../../dashboard/notifications/1":                     `<img alt="x">`,
		"/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz":             `<img src="/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz" alt="x">`,
		"/bob/beds/attachments/abcdefghijklmnopqrstuvwxyz/delete":      `<img alt="x">`,
		"../../../../settings":                                         `<img alt="x">`,
		"../../../../garden2/raw/main/p.png":                           `<img alt="x">`,
		"%2e%2e/%2E%2e/.%2e/../../dashboard/notifications/1":           `<img alt="x">`,
		"%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/dashboard/notifications/1": `<img alt="x">`,
		"/dashboard/notifications/1":                                   `<img alt="x">`,
		"/alice/garden/raw/../settings":                                `<img alt="x">`,
		"http:dashboard/notifications/1":                               `<img alt="x">`,
		"?x":                                                           `<img alt="x">`,
		".&#9;./.&#9;./../../dashboard/notifications/1":                `<img alt="x">`,
	} {
		got := relink(`<img src="`+from+`" alt="x">`, deep)
		if got != want {
			t.Errorf("%s becomes %s", from, got)
		}
	}
}
