package git_test

import (
	"context"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
)

// What a request does with a small repository asks for a small part of git's memory. A cage of half of it
// would have pushes wait for everybody's fetches.
func TestCagesFollowTheWork(t *testing.T) {
	t.Parallel()
	const memory = 1 << 30
	l := &ledger{}
	dir := gittest.Repository(t, 20, 20)
	g := gittest.New(t, git.Options{Memory: memory, Admit: l.admit})
	r := g.Repository(dir)
	tip := gittest.Resolve(t, dir, "main")
	first := gittest.Resolve(t, dir, "main~19")
	none := func(git.ID) error { return nil }
	for name, do := range map[string]func() error{
		"objects that tips lead to": func() error {
			return r.EachReached(t.Context(), []git.SHA{tip}, []git.SHA{first}, none)
		},
		"commits of tips": func() error {
			_, err := r.ReachedCommits(t.Context(), []git.SHA{tip}, []git.SHA{first})
			return err
		},
		"abbreviation of a commit": func() error {
			_, err := r.FindCommits(t.Context(), string(tip[:8]))
			return err
		},
		"abbreviation of an object": func() error {
			_, err := r.FindObject(t.Context(), string(tip[:8]))
			return err
		},
		"push while something is hidden": func() error {
			absent := func(context.Context, []git.SHA) (map[git.SHA]bool, error) { return nil, nil }
			q, err := r.Receive(t.Context(), git.ReceiveOptions{Tips: []git.SHA{first}, Absent: absent,
				Commands: []wire.Command{{Name: "refs/heads/b", Old: git.ZeroSHA, New: tip}}})
			if err != nil {
				return err
			}
			return q.Discard()
		},
		"history that is whole": func() error { return r.CheckConnected(t.Context(), first, nil) },
	} {
		l.most, l.calls = 0, 0
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if l.calls == 0 || l.most > memory/8 {
			t.Errorf("%s: %d processes, of which one may take %d MiB", name, l.calls, l.most>>20)
		}
	}
}
