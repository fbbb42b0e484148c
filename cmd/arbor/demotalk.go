package main

import (
	"context"

	"arbor/internal/commitcomment"
	"arbor/internal/follow"
	"arbor/internal/forge"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// fillTalk adds followers, alice's review of the pull request from bob's fork,
// and bob's comment on alice's latest commit.
func (d *demo) fillTalk(ctx context.Context) error {
	follows := follow.New(d.store.db)
	for _, f := range [][2]string{{"alice", "bob"}, {"bob", "alice"}, {"root-gardener", "alice"},
		{"bob", demoOrg}} {
		if err := follows.Follow(ctx, d.callers[f[0]], f[1], true); err != nil {
			return err
		}
	}
	s := d.store.forge(d.log)
	found, err := s.Repos.Find(ctx, d.callers["alice"], "alice", "greenhouse")
	if err != nil {
		return err
	}
	if err := d.review(ctx, s, &found.Access); err != nil {
		return err
	}
	if found, err = s.Repos.Find(ctx, d.callers["bob"], "alice", "greenhouse"); err != nil {
		return err
	}
	tip, err := s.Repos.Ref(ctx, &found.Access, "refs/heads/"+found.DefaultBranch)
	if err != nil {
		return err
	}
	return commitcomment.New(d.store.db, s.Repos, s.Issues, s).Create(ctx, &found.Access,
		&commitcomment.Comment{SHA: tip,
			Body: "The vents open at last. Thank you!"})
}

// reviewed is the number of the pull request that alice reviews.
const reviewed = 12

func (d *demo) review(ctx context.Context, s *forge.Forge, a *repo.Access) error {
	p, i, err := s.Pulls.Find(ctx, a, reviewed)
	if err != nil {
		return err
	}
	reviews := review.New(d.store.db, s.Repos, s.Issues, s.Pulls)
	_, err = reviews.Create(ctx, a, p, i, review.NewReview{State: review.ChangesRequested,
		Text: issue.NewText("Almost: the README should lead here."),
		Comments: []review.NewComment{
			{Text: issue.NewText("Which way does *west* count, with or against the sun?"),
				Anchor: review.Anchor{Path: "docs/sensors.txt", Whole: true}}}})
	return err
}
