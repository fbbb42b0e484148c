package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Each form says in words, below the field, what is wrong with what was typed there, and neither the API's general
// message nor its names of fields.
func TestFormsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
			Send: `{"message": "x", "content": "eA=="}`})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/labels", As: "alice", Status: 201,
			Send: `{"name": "weeds"}`})
		alice, long := as(t, s, "alice"), strings.Repeat("x", 5000)
		for _, c := range []struct {
			at     string
			fields []string
			name   string // of the field
			says   string
		}{
			{"/alice/garden/settings/hooks/new", []string{"do", "save", "url", "", "content_type", "json", "which", "push"},
				"url", "Payload URL must be an address"},
			{"/alice/garden/settings/hooks/new", []string{"do", "save", "url", "gopher://x", "content_type", "json", "which",
				"push"}, "url", ""},
			{"/alice/garden/settings/hooks/new", []string{"do", "save", "url", "https://x.example/", "secret", long,
				"content_type", "json", "which", "push"}, "secret", "Secret is too long"},
			{"/new", []string{"owner", "alice", "name", ""}, "name", "Repository name is missing"},
			{"/new", []string{"owner", "alice", "name", "garden"}, "name", ""},
			{"/new", []string{"owner", "alice", "name", "a b/c"}, "name", ""},
			{"/settings/profile", []string{"name", long}, "name", "Name is too long"},
			{"/settings/profile", []string{"blog", long}, "blog", "Website is too long"},
			{"/settings/signing", []string{"do", "add-gpg", "key", "no key"}, "", ""},
			{"/alice/garden/issues", []string{"title", "", "body", "kept"}, "title", "Title is missing"},
			{"/alice/garden/issues", []string{"title", long, "body", "kept"}, "title", "Title is too long"},
			{"/alice/garden/milestones", []string{"do", "save", "title", ""}, "title", "Title is missing"},
			{"/alice/garden/releases/new", []string{"tag_name", "", "tag", ""}, "", ""},
			{"/alice/garden/settings", []string{"do", "details", "name", "", "default_branch", "main"}, "name", ""},
			{"/alice/garden/settings", []string{"do", "details", "name", "garden", "homepage", long, "default_branch",
				"main"}, "homepage", "is too long"},
			{"/alice/garden/milestones", []string{"do", "save", "title", long}, "title", "Title is too long"},
			{"/alice/garden/labels", []string{"do", "save", "name", "", "color", "ffffff"}, "name", "Name"},
			{"/alice/garden/labels", []string{"do", "save", "name", "weeds", "color", "ffffff"}, "name", "Name is taken"},
			{"/alice/garden/labels", []string{"do", "save", "name", "y", "color", "red"}, "color", ""},
			{"/settings/oauth-apps", []string{"name", "", "homepage", "x", "callbacks", "y"}, "", ""},
			{"/settings/keys", []string{"do", "add", "title", "t", "key", "no key"}, "key", ""},
			{"/settings/emails", []string{"do", "add", "email", "no address"}, "email", ""},
			{"/alice/garden/settings/keys", []string{"do", "add", "title", "t", "key", "no key"}, "key", ""},
			{"/orgs/guild/people/new-team", []string{"name", ""}, "name", "Name"},
		} {
			a := alice.post(c.at, c.fields...)
			body := string(a.Body)
			_, below, _ := strings.Cut(body, `id="wrong-`+c.name+`">`)
			below, _, _ = strings.Cut(below, "<")
			_, message, _ := strings.Cut(body, `role="alert"`)
			message, _, _ = strings.Cut(message, "</div>")
			if a.Status != 422 || strings.Contains(body, "Validation Failed") || c.name != "" && below == "" ||
				!strings.Contains(below, c.says) || strings.Contains(strings.ReplaceAll(message, "&#39;_&#39;", ""), "_") {
				t.Errorf("%s %.90q: %d, below %s: %q, message %s", c.at, c.fields, a.Status, c.name, below, message)
			}
		}
	})
}
