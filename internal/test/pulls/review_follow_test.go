package pulls_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// A comment stands at its line while the branch grows, and is outdated when the
// line is gone; what it was about stays.
func TestCommentsFollowTheHead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		head := reviewTip(t, s, "verse")
		at := func(rest string) string {
			return `{"body": "x", "commit_id": "` + head + `", "path": "song.txt", ` + rest + `}`
		}
		say(t, s, "rita", at(`"line": 5`))                             // 1: changed later
		say(t, s, "rita", at(`"line": 15, "start_line": 13`))          // 2: moves down
		say(t, s, "rita", at(`"line": 15, "side": "LEFT"`))            // 3: what was there before
		say(t, s, "rita", at(`"subject_type": "file"`))                // 4
		say(t, s, "rita", `{"body": "reply to it", "in_reply_to": 2}`) // 5
		next := write(t, s, "verse", "song.txt",
			song(map[int]string{1: "zero\nline 1", 5: "Fünf", 15: "FIFTEEN"}))
		list := `[
			{"id": 1, "position": null, "line": null, "commit_id": "` + head + `", "original_line": 5, "original_position": 5},
			{"id": 2, "position": "$any", "line": 16, "start_line": 14, "original_line": 15, "original_start_line": 13, "commit_id": "` + next + `", "original_commit_id": "` + head + `"},
			{"id": 3, "line": 15, "side": "LEFT", "commit_id": "` + next + `"},
			{"id": 4, "position": 1, "line": null, "commit_id": "` + next + `"},
			{"id": 5, "line": 16, "in_reply_to_id": 2}]`
		s.Run(t, []apitest.Case{
			{Do: plotGet("/pulls/1/comments"), Status: 200, Want: list},
			{Name: "as it was stored", Do: plotGet("/pulls/comments"), Status: 200, Want: list},
		})
		write(t, s, "verse", "other.txt", "changed\n")
		s.Check(t, apitest.Case{Do: plotGet("/pulls/1/comments"), Status: 200,
			Want: `[{"position": null}, {"line": 16}, {"line": 15}, {"position": 1}, {"line": 16}]`})
		s.Check(t, apitest.Case{Name: "on an earlier commit", Do: "POST " + reviewPlot + "/pulls/1/comments",
			As: "rita", Send: at(`"line": 15`), Status: 201,
			Want: `{"original_commit_id": "` + head + `", "original_line": 15, "line": 16}`})
		write(t, s, "verse", "song.txt", song(nil))
		s.Check(t, apitest.Case{Name: "the file is as it was", Do: plotGet("/pulls/1/comments"), Status: 200,
			Want: `[{"position": null}, {"position": null, "start_line": null}, {"position": null}, {"position": null}, {"position": null}, {"position": null}]`})
	})
}

// A branch that is rewritten takes no comment away.
func TestCommentsOfRewrittenBranch(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		reviewWorld(t, s)
		say(t, s, "rita", `{"body": "x", "commit_id": "`+reviewTip(t, s,
			"verse")+`", "path": "song.txt", "line": 5}`)
		branch(t, s, "other", reviewTip(t, s, "main"))
		other := write(t, s, "other", "song.txt", song(map[int]string{2: "", 5: "FIVE"}))
		s.Run(t, []apitest.Case{
			{Do: "PATCH " + reviewPlot + "/git/refs/heads/verse", As: "alice",
				Send: `{"sha": "` + other + `", "force": true}`, Status: 200},
			{Do: plotGet("/pulls/1/comments"), Status: 200,
				Want: `[{"id": 1, "line": 4, "commit_id": "` + other + `", "original_line": 5}]`},
		})
	})
}
