package repos_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// On a server with more repositories than a statement names, the same is found
// and the same is hidden.
func TestSearchManyRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		s.ManyRepos(t, "carol", 501)
		s.Ask(t, "carol", "PATCH /repos/carol/r0", `{"private": true}`, 200)
		for _, repo := range []string{"carol/r0", "carol/r1"} {
			s.Check(t, apitest.Case{Do: "POST /repos/" + repo + "/issues", As: "carol",
				Send: `{"title": "Crash of many", "labels": ["bug"]}`, Status: 201})
		}
		for _, f := range []find{
			{q: "crash", want: "carol/r1#1 1 guild/hall#1 2 3"},
			{q: "crash", as: "carol", want: "carol/r1#1 carol/r0#1 1 guild/hall#1 2 3"},
			{q: "crash", as: "bob", want: "carol/r1#1 1 guild/hall#1 2 3"},
			{q: "crash -user:alice", want: "carol/r1#1 guild/hall#1"},
			{q: "crash user:carol user:guild", want: "carol/r1#1 guild/hall#1"},
			{q: "label:bug", want: "carol/r1#1 2 1"},
			{q: "label:bug is:private", as: "carol", want: "carol/r0#1"},
			{q: `milestone:"spring, early"`, want: "1"},
			{q: "author:carol author:alice label:bug", want: "carol/r1#1 1"},
			{q: "is:issue is:open commenter:alice", want: "3"},
			{q: "is:issue is:closed -crash", want: "5"},
		} {
			f.check(t, s)
		}
		s.Ask(t, "alice", "PATCH /repos/guild/hall", `{"has_issues": false}`, 200)
		find{q: "crash", want: "carol/r1#1 1 2 3"}.check(t, s)
		find{q: "crash is:issue", want: "carol/r1#1 1 2 3"}.check(t, s)
	})
}

// Searches run concurrently with writers: they find everything acknowledged before, and nothing by former
// words.
func TestSearchBesideWriters(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		plant(t, s)
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for n := range 12 {
					word := fmt.Sprintf("w%dn%d", worker, n)
					s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/garden/issues/%d", worker+1),
						As:   "alice",
						Send: fmt.Sprintf(`{"title": %q}`, word), Status: 200})
					find{q: word, want: fmt.Sprint(worker + 1)}.check(t, s)
					if n > 0 {
						find{q: fmt.Sprintf("w%dn%d", worker, n-1)}.check(t, s)
					}
				}
			})
		}
		group.Wait()
	})
}

// FuzzSearch checks that no query makes the server fail.
func FuzzSearch(f *testing.F) {
	for _, q := range []string{`crash "a b" -c`,
		`label:x,"y" milestone:* no:label comments:>1 created:<2020-01-01 sort:updated`,
		`東 -repo:a/b user:alice`, `involves:alice -involves:bob is:merged`} {
		f.Add(q)
	}
	s := apitest.Start(f, db.SQLite)
	s.User(f, "alice")
	s.Repo(f, "alice/garden", false)
	f.Fuzz(func(t *testing.T, q string) {
		for _, as := range []string{"", "alice"} {
			if a := s.Do(t, apitest.Case{Do: "GET /search/issues?q=" + url.QueryEscape(q),
				As: as}); a.Status != 200 && a.Status != 422 {
				t.Errorf("%q: %d %s", q, a.Status, a.Body)
			}
		}
	})
}
