package activity_test

import (
	"fmt"
	"slices"
	"testing"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// turn shows a repository to everybody, or hides it.
func turn(t *testing.T, s *apitest.Server, repository string, private bool) {
	t.Helper()
	s.Check(t, apitest.Case{Do: "PATCH /repos/" + repository, As: "alice",
		Send: fmt.Sprintf(`{"private": %t}`, private), Status: 200})
}

// Events of a repository's private time are visible only to users with a role in it (decision 63):
// strangers learn nothing of that time from feeds after it became public.
func TestEventsKeepTheirVisibility(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		users(t, s, "alice", "bob", "eve", "rae")
		s.Admin(t, "chief")
		r := s.Repo(t, "alice/garden", true)
		s.Grant(t, r, "rae", account.Pull)
		s.Grant(t, r, "bob", account.Push)
		s.Run(t, []apitest.Case{
			{Do: "PUT /user/following/bob", As: "eve", Status: 204},
			{Do: "PUT /repos/alice/garden/subscription", As: "rae", Status: 200},
		})
		put(t, s, "bob", "alice/garden", "secret.txt", "main")
		turn(t, s, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/subscription", As: "eve", Status: 200})
		put(t, s, "bob", "alice/garden", "open.txt", "main")
		before := []string{
			"Create branch bob alice/garden", "Member added alice alice/garden",
			"Member added alice alice/garden", "Create repository alice alice/garden",
		}
		open := []string{"Push bob alice/garden", "Public alice alice/garden"}
		whole := slices.Concat(open, before)
		check := func(public, all []string) {
			t.Helper()
			pushes := func(lines []string) []string { return only(lines, " bob ") }
			for _, as := range []string{"", "eve"} {
				for _, path := range []string{"/repos/alice/garden/events", "/networks/alice/garden/events"} {
					if len(public) > 0 {
						holds(t, s, as, path, public...)
					} else {
						s.Check(t, apitest.Case{Do: "GET " + path, As: as, Status: 404})
					}
				}
				holds(t, s, as, "/events", public...)
				holds(t, s, as, "/users/bob/events", pushes(public)...)
				holds(t, s, as, "/users/bob/received_events")
			}
			holds(t, s, "eve", "/users/eve/received_events", public...)
			for _, as := range []string{"rae", "bob", "alice", "chief"} {
				holds(t, s, as, "/repos/alice/garden/events", all...)
				holds(t, s, as, "/networks/alice/garden/events", all...)
				holds(t, s, as, "/events", public...)
				holds(t, s, as, "/users/bob/events/public", pushes(public)...)
			}
			holds(t, s, "bob", "/users/bob/events", pushes(all)...)
			holds(t, s, "rae", "/users/rae/received_events", all...)
			holds(t, s, "rae", "/users/rae/received_events/public", public...)
		}
		check(open, whole)
		turn(t, s, "alice/garden", true)
		put(t, s, "bob", "alice/garden", "hidden.txt", "main")
		check(nil, slices.Concat([]string{"Push bob alice/garden"}, whole))
		turn(t, s, "alice/garden", false)
		public := slices.Concat([]string{"Public alice alice/garden"}, open)
		check(public, slices.Concat([]string{"Public alice alice/garden", "Push bob alice/garden"}, whole))
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/collaborators/rae", As: "alice", Status: 204})
		holds(t, s, "rae", "/users/rae/received_events", public...)
		holds(t, s, "rae", "/repos/alice/garden/events", public...)
	})
}

// A stranger's page is filled with public events, and the number of pages tells nothing
// of private ones.
func TestPrivateEventsTakeNoPlace(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		users(t, s, "alice", "bob")
		alice := idOf(t, s, "alice")
		r := s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "bob",
			Send: `{"title": "Open"}`, Status: 201})
		turn(t, s, "alice/garden", true)
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			list := make([]activity.Activity, 400)
			for n := range list {
				ref := fmt.Sprint("refs/heads/", n)
				list[n] = activity.Activity{ActorID: alice, Kind: activity.Created, Ref: ref}
			}
			return activity.Insert(tx, r.ID, list...)
		})
		testkit.NoError(t, err)
		turn(t, s, "alice/garden", false)
		for _, path := range []string{"/repos/alice/garden/events", "/networks/alice/garden/events"} {
			holds(t, s, "bob", path, "Public alice alice/garden", "Issues opened bob alice/garden",
				"Create repository alice alice/garden")
			page := `<{base}` + path + `?per_page=1&page=`
			s.Check(t, apitest.Case{Do: "GET " + path + "?per_page=1", Status: 200, Has: map[string]string{
				"Link": page + `2>; rel="next", ` + page + `3>; rel="last"`}})
		}
		if n := len(told(t, s, "alice", "/repos/alice/garden/events?per_page=100&page=3")); n != 100 {
			t.Errorf("the third page of the owner has %d events", n)
		}
	})
}

func idOf(t *testing.T, s *apitest.Server, login string) (id account.ID) {
	t.Helper()
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		a, err := account.ByLogin(tx, login)
		if err == nil {
			id = a.ID
		}
		return err
	})
	testkit.NoError(t, err)
	return id
}
