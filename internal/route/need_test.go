package route_test

import (
	"strings"
	"testing"

	"arbor/internal/route"
	"arbor/internal/scope"
)

// A permission gets its level from the method, so nobody writes it on each line, and Apps need the same
// unless the line says otherwise.
func TestPermissionsHaveLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		need      route.Need
		address   string
		fine, app string
	}{
		{route.Needs(scope.PublicRepo, "issues"), "GET /a", "issues=read", "issues=read"},
		{route.Needs(scope.PublicRepo, "issues"), "PATCH /a", "issues=write", "issues=write"},
		{route.Needs(scope.PublicRepo, "contents=read"), "POST /a", "contents=read", "contents=read"},
		{route.Needs(scope.PublicRepo, "issues").ForApps("contents"), "PUT /a", "issues=write", "contents=write"},
		{route.Needs(scope.None, route.None), "POST /a", route.None, route.None},
		{route.Needs(scope.None, route.Never).ForApps("members"), "GET /a", route.Never, "members=read"},
	} {
		if r := c.need.Anyone(c.address, nil); r.Need.Fine != c.fine || r.Need.App != c.app {
			t.Errorf("%s with %+v needs %+v", c.address, c.need, r.Need)
		}
	}
}

// A need that somebody forgot must let no limited token through.
func TestNoNeedIsClosed(t *testing.T) {
	t.Parallel()
	var n route.Need
	all, err := scope.Parse(strings.Join(scope.Names(), ","))
	if err != nil || all.Any(n.Scopes) || n.Scopes == scope.None || n.Fine != route.Never {
		t.Errorf("a token with all scopes, or a fine-grained one, passes %+v: %v", n, err)
	}
	if _, _, cannot := n.ByApp(); !cannot {
		t.Errorf("an App passes %+v", n)
	}
	for _, closed := range []scope.Set{scope.None, scope.Whole} { // no token is given these as a scope
		if all.Any(closed) {
			t.Errorf("a scope has the bit of %b", closed)
		}
	}
}
