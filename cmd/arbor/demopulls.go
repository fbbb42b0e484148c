package main

import (
	"context"

	"arbor/internal/forge"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/status"
)

// demoPull is a pull request of the demo with what became of it.
type demoPull struct {
	title, body, head string
	commit            demoCommit // of its head, who makes it proposes it; without a path the branch is there
	statuses          []status.Status
	merged            bool
	method            pull.Method
}

// demoPulls are what people propose for alice's greenhouse: what merges, what
// does not since another was merged, what was merged, and what a fork offers.
func demoPulls() []demoPull {
	said := func(context string, state status.State, what string) status.Status {
		return status.Status{Context: context, State: state, Description: &what}
	}
	return []demoPull{
		{title: "Water the beds from the rain barrel",
			body: "A first draft for #2. The pump is *not* bought yet.", head: "irrigation",
			commit: demoCommit{by: "bob"},
			statuses: []status.Status{said("ci/leaks", status.Success, "No drop lost"),
				said("ci/pressure", status.Success, "1.8 bar")}},
		{title: "Whitewash the roof in June", body: "Cheaper than mats.", head: "whitewash",
			commit: demoCommit{by: "alice", owner: "alice", branch: "whitewash", path: "docs/vents.txt",
				content: "April: open the vents\nJune: whitewash the roof\n", message: "Whitewash the roof"}},
		{title: "Hang mats under the roof in June",
			body: "Whitewash does not come off again. See #1 for the temperatures.", head: "mats",
			merged: true,
			commit: demoCommit{by: "bob", owner: "alice", branch: "mats", path: "docs/vents.txt",
				content: "April: open the vents\nJune: hang mats under the roof\n",
				message: "Hang mats under the roof"}},
		{title: "Draw the pipes", body: "Closes #7.", head: "pipes", merged: true, method: pull.Squash,
			commit: demoCommit{by: "bob", owner: "alice", branch: "pipes", path: "docs/pipes.txt",
				content: "barrel --> pump --+--> east bed\n                  +--> west bed\n",
				message: "Draw the pipes"}},
		{title: "Say where a second sensor goes", body: "Answers #3.", head: "bob:second-sensor",
			commit: demoCommit{by: "bob", owner: "bob", branch: "second-sensor", path: "docs/sensors.txt",
				content: "Each sensor has a line of its own:\ntemperature east\nhumidity west\n",
				message: "Say where a second sensor goes"},
			statuses: []status.Status{said("ci/spelling", status.Success, "All words are known"),
				said("ci/links", status.Failure, "sensors.txt is not linked from the README")}},
	}
}

// fillPulls creates the pull requests. The issues that they mention must exist.
func (d *demo) fillPulls(ctx context.Context) error {
	services := d.store.forge(d.log)
	for _, p := range demoPulls() {
		if err := d.fillPull(ctx, services, &p); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) fillPull(ctx context.Context, s *forge.Forge, p *demoPull) error {
	if p.commit.path != "" {
		if err := d.commit(ctx, s.Repos, p.commit); err != nil {
			return err
		}
	}
	access := map[string]*repo.Access{}
	for _, login := range []string{"alice", p.commit.by} {
		found, err := s.Repos.Find(ctx, d.callers[login], "alice", "greenhouse")
		if err != nil {
			return err
		}
		access[login] = &found.Access
	}
	made, err := s.Pulls.Create(ctx, access[p.commit.by], pull.NewPull{
		Title: p.title, Text: issue.NewText(p.body), Head: p.head, Base: "main", Modifiable: true,
	})
	if err != nil {
		return err
	}
	statuses := status.New(d.store.db, s.Repos)
	for _, told := range p.statuses {
		told.SHA = made.HeadSHA
		if _, err := statuses.Create(ctx, access["alice"], told); err != nil {
			return err
		}
	}
	if p.merged {
		_, err = s.Pulls.Merge(ctx, access["alice"], made.Number, pull.MergeOptions{Method: p.method})
	}
	return err
}
