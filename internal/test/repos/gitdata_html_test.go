package repos_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A readme that somebody wrote is shown to others: rendered, and harmless.
func TestReadmeAsHTML(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		var b bytes.Buffer
		b.WriteString("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 3\nmd\n")
		for name, content := range map[string]string{
			"README.md": "# Garden\n\n| a | b |\n|---|---|\n| 1 | *2* |\n\n<script>alert(1)</script><img src=x onerror=alert(2)>\n\n[x](javascript:alert(3))\n",
			"plain.txt": "<b>not bold</b>\n", "blob.bin": "a\x00b",
		} {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
		}
		dir := gittest.Bare(t)
		gittest.Import(t, dir, &b)
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		html := map[string]string{"Accept": "application/vnd.github.html+json"}
		for _, path := range []string{"/readme", "/contents/README.md"} {
			a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, Headers: html, Status: 200,
				Has: map[string]string{
					"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff"}})
			body := string(a.Body)
			if !strings.Contains(body, "<h1") || !strings.Contains(body, "<td><em>2</em></td>") {
				t.Errorf("%s is not rendered: %s", path, body)
			}
			for _, bad := range []string{"<script", "onerror=", `"javascript:`} {
				if strings.Contains(body, bad) {
					t.Errorf("%s holds %s: %s", path, bad, body)
				}
			}
			if !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s is not sandboxed", path)
			}
			s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, Status: 304, Body: "-",
				Headers: map[string]string{"Accept": html["Accept"], "If-None-Match": a.Header.Get("Etag")}})
		}
		s.Run(t, []apitest.Case{
			{Name: "other text stands as it is", Do: "GET /repos/alice/garden/contents/plain.txt",
				Headers: html, Status: 200, Body: "<pre>&lt;b&gt;not bold&lt;/b&gt;\n</pre>"},
			{Name: "what is no text has no HTML", Do: "GET /repos/alice/garden/contents/blob.bin",
				Headers: html, Status: 422},
			{Name: "a directory is JSON", Do: "GET /repos/alice/garden/contents", Headers: html, Status: 200,
				Want: `[{"name": "README.md"}, {"name": "blob.bin"}, {"name": "plain.txt"}]`},
		})
	})
}
