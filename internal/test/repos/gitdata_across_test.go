// Tests of repositories' contents against a whole server.
package repos_test

import (
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// What a fork has that its parent lacks is compared where both are seen, and shown where it is: nothing is
// copied.
func TestCompareAcrossForks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dan")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "dan/garden", false)
		put := func(as, at, file, branch string) string {
			var made struct{ Commit struct{ SHA string } }
			s.Check(t, apitest.Case{Do: "PUT /repos/" + at + "/contents/" + file, As: as, Status: 201,
				Send: `{"message":"` + file + `","content":"eAo=","branch":"` + branch + `"}`}).JSON(t, &made)
			return made.Commit.SHA
		}
		first := put("alice", "alice/garden", "a", "main")
		put("dan", "dan/garden", "d", "main")
		s.Ask(t, "bob", "POST /repos/alice/garden/forks", `{"name":"plot"}`, 202)
		ours, theirs := put("alice", "alice/garden", "b", "main"), put("bob", "bob/plot", "c", "main")

		const at = "/repos/alice/garden/compare/"
		want := `{"status": "diverged", "ahead_by": 1, "behind_by": 1, "total_commits": 1,
			"url": "{base}` + at + `main...bob:main", "permalink_url": "{base}/alice/garden/compare/alice:` + ours[:7] + `...bob:plot:` + theirs[:7] + `",
			"base_commit": {"sha": "` + ours + `", "url": "{base}/repos/alice/garden/commits/` + ours + `"},
			"merge_base_commit": {"sha": "` + first + `"},
			"commits": [{"sha": "` + theirs + `", "url": "{base}/repos/bob/plot/commits/` + theirs + `"}],
			"files": [{"filename": "c", "status": "added", "contents_url": "{base}/repos/bob/plot/contents/c?ref=` + theirs + `"}]}`
		patch := map[string]string{"Accept": "application/vnd.github.patch"}
		s.Run(t, []apitest.Case{
			{Name: "a fork", Do: "GET " + at + "main...bob:main", Status: 200, Want: want},
			{Name: "by its name", Do: "GET " + at + "main...bob:plot:main", Status: 200,
				Want: strings.Replace(want, "...bob:main", "...bob:plot:main", 1)},
			{Name: "by a SHA of it", Do: "GET " + at + "main...bob:" + theirs, Status: 200,
				Want: `{"ahead_by": 1}`},
			{Name: "not by a SHA that it lacks", Do: "GET " + at + "main...bob:" + ours, Status: 404},
			{Name: "nor by one of the fork here", Do: "GET " + at + "main..." + theirs, Status: 404},
			{Name: "the other way", Do: "GET " + at + "bob:main...main", Status: 200,
				Want: `{"base_commit": {"sha": "` + theirs + `"},
				"commits": [{"sha": "` + ours + `", "url": "{base}/repos/alice/garden/commits/` + ours + `"}], "files": [{"filename": "b"}]}`},
			{Name: "from the fork", Do: "GET /repos/bob/plot/compare/alice:main...main", Status: 200,
				Want: `{"ahead_by": 1, "behind_by": 1}`},
			{Name: "twice the fork", Do: "GET " + at + "bob:main...bob:main", Status: 200,
				Want: `{"status": "identical"}`},
			{Name: "the trees", Do: "GET " + at + "main..bob:main", Status: 200,
				Want: `{"files": [{"filename": "c", "status": "renamed", "previous_filename": "b"}]}`},
			{Name: "as text", Do: "GET " + at + "main...bob:main", Headers: patch, Status: 200},
			{Name: "the page", Do: "GET /alice/garden/compare/main...bob:main", Status: 200},
			{Name: "the page of the text", Do: "GET /alice/garden/compare/main...bob:main.diff", Status: 200},
			{Name: "no fork", Do: "GET " + at + "main...carol:main", Status: 404},
			{Name: "nobody", Do: "GET " + at + "main...eve:main", Status: 404},
			{Name: "another repository", Do: "GET " + at + "main...dan:garden:main", Status: 404},
			{Name: "no branch", Do: "GET " + at + "main...bob:moss", Status: 404},
			{Name: "too much", Do: "GET " + at + "main...bob:plot:main:x", Status: 404},
		})
		if left, err := filepath.Glob(filepath.Join(s.ObjectsDir(t, s.Access(t, "bob", "bob/plot").Repo),
			"incoming-*")); err != nil || len(left) > 0 {
			t.Errorf("folders are left: %v %v", left, err)
		}

		// A private network: who does not see the fork does not compare with it.
		hidden := s.Repo(t, "alice/shed", true)
		put("alice", "alice/shed", "a", "main")
		s.Grant(t, hidden, "bob", account.Pull)
		s.Grant(t, hidden, "carol", account.Pull)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/shed/forks", As: "bob", Status: 202})
		put("bob", "bob/shed", "c", "main")
		for who, status := range map[string]int{"": 404, "bob": 200, "carol": 404, "dan": 404} {
			s.Check(t, apitest.Case{Name: who, Do: "GET /repos/alice/shed/compare/main...bob:main", As: who,
				Status: status})
		}
		s.Grant(t, s.Access(t, "bob", "bob/shed").Repo, "carol", account.Pull)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/shed/compare/main...bob:main", As: "carol", Status: 200,
			Want: `{"ahead_by": 1}`})
	})
}
