package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/status"
)

// required resolves isRequired of checks and statuses: whether rules of the base of a pull request in the same
// repository require one of this name.
func required(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	p, err := q.requiringPull(ctx, f, o)
	if err != nil || p == nil {
		return false, err
	}
	rules, err := rulesIn(q).get(ctx, q, &object{repo: o.repo})
	if err != nil {
		return nil, err
	}
	name, app := "", account.AppID(0)
	switch v := o.value.(type) {
	case status.Payload:
		name = v.Context
	case *checkrun.Payload:
		name = v.Name
		if v.App != nil {
			app = v.App.ID
		}
	}
	return rules.Requires(p.BaseRef, name, app), nil
}

// requiringPull returns the pull request that the arguments of isRequired name, or nil if they name none. One of
// another repository requires nothing of the check.
func (q *query) requiringPull(ctx context.Context, f *exec.Field, o *object) (*pull.View, error) {
	if id, given := f.Args["pullRequestId"].(string); given {
		found, err := q.find(ctx, id, "PullRequest")
		if err != nil {
			return nil, err
		}
		p := found.(*object)
		if err := q.identify(ctx, o.repo); err != nil || p.repo.id != o.repo.id {
			return nil, err
		}
		return p.value.(*pull.View), nil
	}
	number, given := f.Args["pullRequestNumber"].(int)
	if !given {
		return nil, nil
	}
	return numberedPulls(q, "raw").get(ctx, q, pullAt(o.repo, int64(number), "raw"))
}
