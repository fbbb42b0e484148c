package pages_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// A person who chose a time zone sees the times of all pages in it, commits below the day of theirs; others, and
// nobody signed in, see what they saw before, also of the same page at the same time.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		const date = "2020-05-31T22:30:00Z"
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a.txt", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"message": "Sow", "content": %q, "author": {"name": "A", "email": "a@example.org",
				"date": %[2]q}, "committer": {"name": "A", "email": "a@example.org", "date": %[2]q}}`,
				base64.StdEncoding.EncodeToString([]byte("a\n")), date)})
		alice, bob := as(t, s, "alice"), as(t, s, "bob")
		const at = "/settings/account"
		seen := func(days ...string) {
			t.Helper()
			alice.show("/alice/garden/commits/main", days[0])
			alice.show("/alice/garden/blame/main/a.txt", days[1])
			alice.show("/alice/garden/commit/"+s.Tip(t, "alice", "alice/garden", "main"), days[1])
			bob.get("/alice/garden/commits/main").Shows(t, 200, "31 May 2020</time></h2>", "!data-zone")
			bob.show("/alice/garden/blame/main/a.txt", `title="31 May 2020, 22:30 UTC"`)
			s.Visit(t, "", "GET /alice/garden/blame/main/a.txt").Shows(t, 200, `title="31 May 2020, 22:30 UTC"`)
		}
		seen("31 May 2020</time></h2>", `title="31 May 2020, 22:30 UTC"`)
		alice.post(at, "time_zone", "Europe/Berlin").Leads(t, at)
		alice.show(at, `<option selected>Europe/Berlin`, `data-zone="Europe/Berlin"`)
		seen("1 Jun 2020</time></h2>", `title="1 June 2020, 00:30 CEST"`)
		alice.post(at, "time_zone", "Asia/Calcutta").Leads(t, at) // as browsers call Asia/Kolkata
		alice.show(at, `<option selected>Asia/Calcutta`)
		for _, bad := range []string{"Mars/Olympus", "Local", "../../etc/passwd", strings.Repeat("A/", 5000) + "A"} {
			alice.post(at, "time_zone", bad).Shows(t, 422, `id="wrong-time_zone">Choose`)
		}
		alice.show(at, `<option selected>Asia/Calcutta`)
		alice.post(at, "time_zone", "").Leads(t, at)
		seen("31 May 2020</time></h2>", `title="31 May 2020, 22:30 UTC"`)
	})
}
