package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// A first read starts at most one git process outside the pool, and a repeated one starts none: otherwise a
// busy server would spend its time on processes.
func TestReadsStartFewProcesses(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		dir := gittest.Repository(t, 40, 10)
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		head := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main"))
		s.Check(t, apitest.Case{Name: "warm the pool", Do: "GET /repos/alice/garden/git/trees/main",
			Status: 200})
		if err := s.Server.Settle(t.Context()); err != nil { // languages are counted with the same processes
			t.Fatal(err)
		}
		for path, most := range map[string]int64{
			"git/trees/" + head + "?recursive=1": 0, "git/commits/" + head: 0, "contents": 0,
			"readme?ref=none": 0,
			"commits":         1, "commits?path=file1.txt": 1, "commits/main": 1, "commits/" + head: 1,
			"branches": 0, "branches/main": 0, "tags": 0, "git/refs": 0, "git/ref/heads/main": 0,
			"compare/main...main": 2,
		} {
			for round := range 2 {
				before := s.Git.Started()
				a := s.Do(t, apitest.Case{Do: "GET /repos/alice/garden/" + path})
				if a.Status >= 500 {
					t.Fatalf("%s: status %d", path, a.Status)
				}
				started := s.Git.Started() - before
				if round == 1 && a.Status == 200 {
					most = 0
				}
				if started > most {
					t.Errorf("round %d of %s started %d processes of git, not at most %d", round+1, path,
						started, most)
				}
			}
		}
	})
}
