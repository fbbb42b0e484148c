package finder_test

import (
	"reflect"
	"testing"

	"arbor/internal/finder"
	"arbor/internal/posting"
)

// The tree of one repository asks for nothing that the repository decides: else
// the index in memory could not answer it, and SQL would ask it of every issue.
func TestTreeOfOneRepository(t *testing.T) {
	t.Parallel()
	label, pull := finder.HasOne(posting.ByLabel.Of(7)), finder.HasOne(posting.ByPull.Of(0))
	r := finder.Repo{ID: 3, IssuesOff: true}
	for _, c := range []struct{ tree, want finder.Expr }{
		{finder.And{}, finder.And(nil)},
		{finder.And{finder.In{3}, label}, label},
		{finder.And{finder.In{4}, label}, finder.Or{}},
		{finder.Or{finder.In{4}, label}, label},
		{finder.And{label, finder.Or{finder.IssuesOn{}, pull}}, finder.And{label, pull}},
		{finder.Not{Expr: finder.Not{Expr: label}}, label},
		{finder.Not{Expr: finder.In{3, 4}}, finder.Or{}},
		{
			finder.And{finder.And{label, pull}, finder.Or{finder.Or{label, pull}}},
			finder.And{label, pull, finder.Or{label, pull}},
		},
		{finder.Or{label, finder.Has{Kind: posting.ByLabel}}, label},
		{finder.And{label, finder.HasOne(posting.ByAll.Of(0))}, label},
	} {
		if got := finder.InRepo(c.tree, r); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v becomes %#v, want %#v", c.tree, got, c.want)
		}
	}
}
