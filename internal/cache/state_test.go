package cache

import "testing"

// What was kept before by generations is not found afterwards, also if it was on its way.
func TestRenew(t *testing.T) {
	before, named := Generations(1, 2), Named("x")
	if before != Generations(1, 2) {
		t.Error("equal generations differ")
	}
	Renew()
	if before == Generations(1, 2) || named != Named("x") {
		t.Error("other states are renewed, or these are not")
	}
}
