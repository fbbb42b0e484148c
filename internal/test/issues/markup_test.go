package issues_test

import (
	"encoding/json"
	"strings"
	"testing"

	"arbor/internal/markdown"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Clients render what they are about to post as it will look, and people learn nothing by
// it of what they may not see.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/diary", true)
		s.Ask(t, "bob", "POST /repos/alice/garden/issues", `{"title": "Slugs"}`, 201)
		s.Ask(t, "alice", "POST /repos/alice/diary/issues", `{"title": "Secret"}`, 201)
		const secret = `<p><a class="issue-link" href="{base}/alice/diary/issues/1" title="Secret">#1</a></p>`
		const users = `<p><a class="user-mention" href="{base}/alice">@alice</a> #1</p>`
		s.Run(t, []apitest.Case{
			{Do: "POST /markdown", Send: `{"text": "x"}`, Status: 401},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "**Hi** @alice, see #1 <script>x</script>"}`,
				Status: 200,
				Body:   "<p><strong>Hi</strong> @alice, see #1 &lt;script&gt;x&lt;/script&gt;</p>",
				Has:    map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff"}},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "@alice #1", "mode": "gfm"}`, Status: 200,
				Body: users},
			{Do: "POST /markdown", As: "bob",
				Send: `{"text": "#1", "mode": "gfm", "context": "alice/garden"}`, Status: 200,
				Body: `<p><a class="issue-link" href="{base}/alice/garden/issues/1" title="Slugs">#1</a></p>`},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "alice/garden#1 and 0123abcd", "mode": "gfm"}`,
				Status: 200,
				Body:   `<p><a class="issue-link" href="{base}/alice/garden/issues/1" title="Slugs">alice/garden#1</a> and 0123abcd</p>`},
			{Do: "POST /markdown", As: "alice",
				Send: `{"text": "#1", "mode": "gfm", "context": "alice/diary"}`, Status: 200, Body: secret},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "#1", "mode": "gfm", "context": "alice/diary"}`,
				Status: 200, Body: "<p>#1</p>"},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "alice/diary#1", "mode": "gfm"}`, Status: 200,
				Body: "<p>alice/diary#1</p>"},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "#1", "mode": "gfm", "context": "nowhere"}`,
				Status: 200, Body: "<p>#1</p>"},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "", "mode": null}`, Status: 200, Body: "-"},
			{Do: "POST /markdown", As: "bob", Send: `{}`, Status: 422,
				Want: `{"errors": [{"field": "text", "code": "missing_field"}]}`},
			{Do: "POST /markdown", As: "bob", Send: `{"text": 5}`, Status: 422},
			{Do: "POST /markdown", As: "bob", Send: `{"text": null}`, Status: 422},
			{Do: "POST /markdown", As: "bob", Send: `{"text": "x", "mode": "html"}`, Status: 422,
				Want: `{"errors": [{"field": "mode", "code": "invalid"}]}`},
			{Do: "POST /markdown", As: "bob", Send: text(t, markdown.MaxSource+1), Status: 422},
			{Do: "POST /markdown", As: "bob", Send: text(t, markdown.MaxSource), Status: 200},
			{Do: "POST /markdown/raw", As: "bob", Send: "# Hi\n\n@alice <b>there",
				Headers: map[string]string{"Content-Type": "text/plain"},
				Status:  200, Body: `<h1 id="user-content-hi">Hi</h1>` + "\n<p>@alice <b>there</b></p>"},
			{Do: "POST /markdown/raw", As: "bob", Send: strings.Repeat("x", markdown.MaxSource+1),
				Headers: map[string]string{"Content-Type": "text/plain"}, Status: 413},
			{Do: "POST /markdown/raw", As: "bob", Send: "\xff\x00",
				Headers: map[string]string{"Content-Type": "text/x-markdown", "Accept": "text/html"},
				Status:  200, Body: "<p>\ufffd\ufffd</p>"},
		})
	})
}

func text(t *testing.T, length int) string {
	t.Helper()
	b, err := json.Marshal(map[string]string{"text": strings.Repeat("x", length)})
	testkit.NoError(t, err)
	return string(b)
}

// Each name of an emoji leads to a picture.
func TestEmojis(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		var list map[string]string
		s.Check(t, apitest.Case{Do: "GET /api/v3/emojis", Status: 200,
			Want: `{"+1": "{base}/emojis/1f44d.svg", "tada": "{base}/emojis/1f389.svg", "de": "{base}/emojis/1f1e9-1f1ea.svg"}`}).JSON(t, &list)
		pictures := map[string]bool{}
		for _, url := range list {
			pictures[strings.TrimPrefix(url, s.URL)] = true
		}
		for path := range pictures {
			s.Check(t, apitest.Case{Do: "GET " + path, Status: 200,
				Has: map[string]string{"Content-Type": "image/svg+xml"}})
			if s.Engine.String() != "sqlite" {
				break // the same code
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /emojis/1f44d.svg", Status: 200,
				Body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">` +
					`<text x="32" y="32" font-size="52" text-anchor="middle" dominant-baseline="central">👍</text></svg>`},
			{Do: "GET /emojis/41.svg", Status: 404},
			{Do: "GET /emojis/..%2f1f44d.svg", Status: 404},
		})
	})
}
