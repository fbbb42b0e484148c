package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Reviews and comments on lines are hidden and shown again from the conversation, by those who sort it and by their
// authors. The page of changes folds them, and offers nothing.
func TestHiddenReviews(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		s.User(t, "carol")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/collaborators/carol", As: "alice", Send: `{"permission": "triage"}`, Status: 204})
		number := propose(t, s, "tune")
		at := fmt.Sprintf("/alice/plot/pull/%d", number)
		led(t, s, "sam", at+"/comments", "commit", head(t, s, number), "path", "song.txt", "side", "RIGHT", "line", "3",
			"body", "Buy seeds", "review", "1")
		hidden := at + "/comments/" + first(t, get(t, s, "sam", at, 200, "Buy seeds"), `id="discussion_r(\d+)"`) + "/hide"
		without(t, get(t, s, "sam", at, 200), hidden) // nobody else sees it yet
		post(t, s, "sam", hidden, 422, "reason", "spam")
		to := led(t, s, "sam", at+"/reviews", "event", "COMMENT", "body", "Cheap seeds here.")
		review := at + "/reviews/" + strings.TrimPrefix(to, at+"#pullrequestreview-") + "/hide"
		for _, form := range []string{hidden, review} {
			what := map[string]string{hidden: "This comment", review: "This review"}[form]
			for _, who := range []string{"", "stranger", "will"} {
				if offered := strings.Contains(get(t, s, who, at, 200), form+"?"); offered != (who == "will") {
					t.Errorf("%s is offered %s: %v", who, form, offered)
				}
			}
			get(t, s, "sam", at, 200, form+"?", ">Hide</a>")
			get(t, s, "carol", form, 200, "off-topic", "Hide comment")
			post(t, s, "stranger", form, 403, "reason", "spam")
			post(t, s, "carol", form, 422, "reason", "dull")
			if to := led(t, s, "carol", form, "reason", "spam"); !strings.HasPrefix(to, at+"#") {
				t.Errorf("led to %s", to)
			}
			get(t, s, "", at, 200, what+" was marked as spam.")
			without(t, get(t, s, "sam", at, 200), form+"?") // what others hid
			post(t, s, "sam", form, 403)
			get(t, s, "alice", form, 200, "hidden as spam", "Show comment")
			if form == hidden {
				without(t, get(t, s, "alice", at+"/files", 200, what+" was marked as spam."), "/hide")
			}
			get(t, s, "alice", at, 200, ">Show</a>")
			led(t, s, "alice", form)
			without(t, get(t, s, "", at, 200), "was marked as")
			led(t, s, "sam", form, "reason", "outdated") // their own
			get(t, s, "", at, 200, what+" was marked as outdated.")
			led(t, s, "carol", form)
			get(t, s, "carol", strings.Replace(form, "/hide", "0/hide", 1), 404)
			post(t, s, "carol", strings.Replace(form, "/hide", "0/hide", 1), 404, "reason", "spam")
		}
		led(t, s, "alice", fmt.Sprintf("/alice/plot/issues/%d/lock", number))
		post(t, s, "sam", hidden, 403, "reason", "spam")
		led(t, s, "carol", hidden, "reason", "abuse")
	})
}
