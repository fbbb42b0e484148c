package posting_test

import (
	"reflect"
	"testing"

	"arbor/internal/posting"
)

// The tree of one repository asks for nothing that the repository decides: else
// SQL would ask it of every issue.
func TestTreeOfOneRepository(t *testing.T) {
	t.Parallel()
	label, pull := posting.HasOne(posting.ByLabel.Of(7)), posting.HasOne(posting.ByPull.Of(0))
	r := posting.Repo{ID: 3, IssuesOff: true}
	for _, c := range []struct{ tree, want posting.Expr }{
		{posting.And{}, posting.And(nil)},
		{posting.And{posting.In{3}, label}, label},
		{posting.And{posting.In{4}, label}, posting.Or{}},
		{posting.Or{posting.In{4}, label}, label},
		{posting.And{label, posting.Or{posting.IssuesOn{}, pull}}, posting.And{label, pull}},
		{posting.Not{Expr: posting.Not{Expr: label}}, label},
		{posting.Not{Expr: posting.In{3, 4}}, posting.Or{}},
		{
			posting.And{posting.And{label, pull}, posting.Or{posting.Or{label, pull}}},
			posting.And{label, pull, posting.Or{label, pull}},
		},
		{posting.Or{label, posting.Has{Kind: posting.ByLabel}}, label},
		{posting.And{label, posting.HasOne(posting.ByAll.Of(0))}, label},
	} {
		if got := posting.InRepo(c.tree, r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v becomes %#v, want %#v", c.tree, got, c.want)
		}
	}
}
