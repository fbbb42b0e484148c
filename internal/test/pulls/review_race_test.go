package pulls_test

import (
	"fmt"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
)

// atOnce sends the same request from several clients and counts the statuses.
func atOnce(t *testing.T, s *apitest.Server, n int, c apitest.Case) map[int]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[int]int{}
	for range n {
		wg.Go(func() {
			a := s.Do(t, c)
			mu.Lock()
			defer mu.Unlock()
			got[a.Status]++
		})
	}
	wg.Wait()
	return got
}

// Who clicks twice has one pending review, and each comment is counted once,
// while others read and the head moves.
func TestReviewsAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		comment := `{"path": "song.txt", "line": 5, "body": "x"}`
		got := atOnce(t, s, 8, apitest.Case{Do: "POST " + reviewPlot + "/pulls/1/reviews", As: "rita",
			Send: `{"comments": [` + comment + `]}`})
		if got[200] != 1 || got[422] != 7 {
			t.Errorf("pending reviews: %v", got)
		}
		send := `{"path": "song.txt", "line": 5, "body": "x", "commit_id": "` +
			s.Tip(t, "alice", "alice/plot", "verse") + `"}`
		if got = atOnce(t, s, 8, apitest.Case{Do: "POST " + reviewPlot + "/pulls/1/comments", As: "rita",
			Send: send}); got[201] != 8 {
			t.Errorf("comments: %v", got)
		}
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1"), Status: 200, Want: `{"review_comments": 8}`})
		write(t, s, "verse", "song.txt", song(map[int]string{1: "zero\nline 1", 5: "FIVE"}))
		if got = atOnce(t, s, 8, apitest.Case{Do: plotGet("/pulls/1/comments")}); got[200] != 8 {
			t.Errorf("readers: %v", got)
		}
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1/comments?per_page=1"), Status: 200,
			Want: `[{"line": 6, "position": "$any"}]`})
		id := s.Do(t, apitest.Case{Do: plotGet("/pulls/1/reviews"), As: "rita"})
		var list []struct {
			ID    int64
			State string
		}
		id.JSON(t, &list)
		for _, v := range list {
			if v.State == "PENDING" {
				do := fmt.Sprint("POST ", reviewPlot, "/pulls/1/reviews/", v.ID, "/events")
				if got = atOnce(t, s, 4, apitest.Case{Do: do, As: "rita",
					Send: `{"event": "COMMENT"}`}); got[200] != 1 {
					t.Errorf("submitted: %v", got)
				}
			}
		}
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1"), Status: 200, Want: `{"review_comments": 9}`})
	})
}

// However many heads nobody looked at, a request starts a bounded number of
// processes; what it does not reach has no position, and has one the next time.
func TestManyHeads(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		for n := range 22 {
			head := write(t, s, "verse", "other.txt", fmt.Sprintln("change", n))
			say(t, s, "rita", `{"body": "x", "commit_id": "`+head+`", "path": "song.txt", "line": 5}`)
		}
		write(t, s, "verse", "other.txt", "the last\n")
		missing := func() (n int) {
			var list []struct{ Position *int64 }
			s.Check(t, apitest.Case{Do: plotGet("/pulls/1/comments"), Status: 200}).JSON(t, &list)
			for _, c := range list {
				if c.Position == nil {
					n++
				}
			}
			return n
		}
		if n := missing(); n != 3 {
			t.Errorf("the first reader misses %d positions, want 3", n)
		}
		if n := missing(); n != 0 {
			t.Errorf("the second reader misses %d positions", n)
		}
	})
}
