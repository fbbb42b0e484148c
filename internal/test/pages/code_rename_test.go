package pages_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// The page of branches renames them, the default branch for administrators alone.
func TestRenameBranchOnPage(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		formsPlant(t, s, "one")
		const at = "/alice/plot/branches"
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "New name of spare-one")
		s.Visit(t, "bob", "POST "+at+"/rename", "name", "spare-one", "new_name", "side").Leads(t, at)
		s.Visit(t, "bob", "GET "+at).Shows(t, 200, "New name of side")
		s.Visit(t, "bob", "POST "+at+"/rename", "name", "side", "new_name", "main").
			Shows(t, 422, "A branch already exists with this name.")
		s.Visit(t, "bob", "POST "+at+"/rename", "name", "main", "new_name", "trunk").
			Shows(t, 403, "Must have admin rights to rename the default branch.")
		s.Visit(t, "alice", "POST "+at+"/rename", "name", "main", "new_name", "trunk").Leads(t, at)
		s.Check(t, apitest.Case{Do: "GET /alice/plot/tree/main", Status: 301,
			Has: map[string]string{"Location": "{base}/alice/plot/tree/trunk"}})
	})
}
