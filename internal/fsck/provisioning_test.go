package fsck

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What a provider provisioned and cannot be right is found.
func TestBrokenProvisioningIsFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "chief")
		s.Check(t, apitest.Case{Do: "POST /scim/v2/Users", As: "chief", Send: `{"userName": "ann", "externalId": "1"}`, Status: 201})
		s.Check(t, apitest.Case{Do: "POST /scim/v2/Groups", As: "chief", Send: `{"displayName": "dev", "members": [{"value": "user-1"}]}`,
			Status: 201})
		if found := look(t, s, Options{}); !found.Sound() {
			t.Fatal(found.text())
		}
		write(t, s, `UPDATE scim_users SET attributes = '{', user_name = ''`)
		write(t, s, `UPDATE scim_groups SET issuer = 'elsewhere'`)
		found := look(t, s, Options{})
		for _, problem := range []string{"the attributes of user 1 cannot be read", "has a member of another provider",
			"has no userName"} {
			if !strings.Contains(found.text(), problem) {
				t.Errorf("%q is not in %s", problem, found.text())
			}
		}
	})
}
