package repos_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// However many requests come at the same time, what an owner has stays within its quota. If this
// failed, a script with a few connections would have as much as it likes.
func TestQuotaUnderConcurrency(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const repos, kb, all = 4, 200, 12
		s.User(t, "alice")
		s.Admin(t, "chief")
		bound := func(q *account.Quota) {
			most, mostKB := int64(repos), int64(kb)
			q.Repos, q.KB = &most, &mostKB
		}
		if _, _, _, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "alice", bound); err != nil {
			t.Fatal(err)
		}
		var made, written, pushed atomic.Int64
		together := func(do func(i int)) {
			var wait sync.WaitGroup
			for i := range all {
				wait.Go(func() { do(i) })
			}
			wait.Wait()
		}
		count := func(n *atomic.Int64, c apitest.Case, ok int) {
			switch a := s.Do(t, c); a.Status {
			case ok:
				n.Add(1)
			case 403, 404, 409, 422: // 404: the first branch of an empty repository is somebody else's
			default:
				t.Errorf("%s: %d %s", c.Do, a.Status, a.Body)
			}
		}
		together(func(i int) {
			count(&made, apitest.Case{Do: "POST /user/repos", As: "alice",
				Send: fmt.Sprintf(`{"name": "r%d"}`, i)}, 201)
		})
		if made.Load() != repos {
			t.Fatalf("%d repositories were made, %d may be", made.Load(), repos)
		}
		var names []struct{ Name string }
		s.Check(t, apitest.Case{Do: "GET /users/alice/repos", Status: 200}).JSON(t, &names)
		text := strings.Repeat("abcd", 5000)
		together(func(i int) {
			path := "/repos/alice/" + names[i%repos].Name
			count(&written, apitest.Case{Do: "PUT " + path + "/contents/f", As: "alice", Send: fmt.Sprintf(
				`{"message": "m", "branch": "b%d", "content": "eA=="}`, i)}, 201)
			count(&written, apitest.Case{Do: "POST " + path + "/git/blobs", As: "alice",
				Send: `{"content": "` + text + fmt.Sprint(i) + `"}`}, 201)
		})
		dir := gittest.Repository(t, 2, 60)
		together(func(i int) {
			remote := s.Remote(t, "alice", "alice/"+names[i%repos].Name)
			if _, _, err := gittest.Try(t, dir, nil, "push", "-q", remote,
				fmt.Sprintf("main:refs/heads/p%d", i)); err == nil {
				pushed.Add(1)
			}
		})
		_, _, usage, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "alice", func(*account.Quota) {})
		testkit.NoError(t, err)
		if usage.Repos != repos || usage.KB > kb || usage.KB < kb/2 || written.Load() == 0 {
			t.Errorf("alice has %+v, %d writes and %d pushes went through", usage, written.Load(),
				pushed.Load())
		}
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/" + names[0].Name, As: "alice", Status: 204})
		s.Check(t, apitest.Case{Do: "POST /user/repos", As: "alice", Send: `{"name": "room"}`, Status: 201})
	})
}
