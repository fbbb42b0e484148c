package issues_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// Hearts stand under what they were given to: an issue, a pull request, or a
// comment, each with its own count, until they or it go.
func TestReactions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on, pull := issuetest.File(t, s, "sam", "garden/plot"), issuetest.FilePull(t, s, "sam", "garden/plot")
		id := issuetest.Comment(t, s, "rae", on, "Salt.")
		at := fmt.Sprintf("/repos/garden/plot/issues/comments/%d", id)
		ids := map[string]int64{}
		for _, subject := range []string{on, pull, at} {
			var made struct{ ID int64 }
			s.Check(t, apitest.Case{Do: "POST " + subject + "/reactions", As: "sam",
				Headers: issuetest.Graduated, Send: `{"content": "heart"}`, Status: 201}).JSON(t, &made)
			ids[subject] = made.ID
			s.Run(t, []apitest.Case{
				{Name: "once", Do: "POST " + subject + "/reactions", As: "sam", Headers: issuetest.Graduated,
					Send: `{"content": "heart"}`, Status: 200},
				{Name: "another's", Do: "POST " + subject + "/reactions", As: "rae",
					Headers: issuetest.Graduated, Send: `{"content": "rocket"}`, Status: 201},
				{Name: "listed", Do: "GET " + subject + "/reactions", Headers: issuetest.Graduated,
					Status: 200, Want: `[{"content": "heart", "user": {"login": "sam"}}, {"content": "rocket"}]`},
				{Name: "counted", Do: "GET " + subject,
					Headers: issuetest.Media("squirrel-girl-preview"), Status: 200,
					Want: `{"reactions": {"url": "{base}` + subject +
						`/reactions", "total_count": 2, "heart": 1, "rocket": 1, "eyes": 0}}`},
				{Name: "a preview", Do: "GET " + subject, Status: 200, Want: `{"reactions": "$absent"}`},
				{Name: "a preview to list", Do: "GET " + subject + "/reactions", Status: 415},
				{Name: "anonymous", Do: "POST " + subject + "/reactions", Headers: issuetest.Graduated,
					Send: `{"content": "heart"}`, Status: 401},
				{Name: "nonsense", Do: "POST " + subject + "/reactions", As: "sam",
					Headers: issuetest.Graduated, Send: `{"content": "snail"}`, Status: 422},
			})
		}
		for subject := range ids { // one's own, under what it was given to
			for other, reaction := range ids {
				if other != subject {
					s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, reaction),
						As: "sam", Headers: issuetest.Graduated, Status: 404})
				}
			}
			s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, ids[subject]),
				As: "will", Headers: issuetest.Graduated, Status: 403})
		}
		for subject, reaction := range ids {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE %s/reactions/%d", subject, reaction), As: "sam",
				Headers: issuetest.Graduated, Status: 204})
			s.Check(t, apitest.Case{Do: "GET " + subject, Headers: issuetest.Graduated, Status: 200,
				Want: `{"reactions": {"total_count": 1, "heart": 0, "rocket": 1}}`})
		}
		s.Check(t, apitest.Case{Do: "DELETE " + at, As: "rae", Status: 204})
		s.Check(t, apitest.Case{Do: "GET " + at + "/reactions", Headers: issuetest.Graduated, Status: 404})
		var left int64
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM reactions`).Scan(&left)
		})
		if err != nil || left != 2 {
			t.Errorf("%d reactions are left, %v; want one to the issue and one to the pull request", left,
				err)
		}
	})
}
