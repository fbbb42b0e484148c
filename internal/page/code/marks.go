package code

import (
	"context"

	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mark is what builds and checks say of a commit.
type mark struct {
	State  string // success, failure or pending
	Total  int
	Passed int
	Checks []check
}

// check is one of them.
type check struct {
	Name, State, About string
	Href               string // empty: it leads nowhere
}

// Bounds of what is read of checks at one time.
const (
	maxMarked = 100 // commits
	perMark   = 100 // statuses, and as many runs, of a commit
)

// marks reads what is said of commits, by SHA.
func (p *Pages) marks(ctx context.Context, a *repo.Access, shas ...git.SHA) (map[git.SHA]*mark, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	shas = shas[:min(len(shas), maxMarked)]
	statuses, err := p.with.Statuses.LatestOfEach(ctx, a, shas, perMark)
	if err != nil {
		return nil, err
	}
	runs, err := p.with.Checks.LatestOfEach(ctx, a, shas, perMark)
	if err != nil {
		return nil, err
	}
	site, marks := web.From(ctx), map[git.SHA]*mark{}
	for _, s := range statuses {
		add(marks, s.SHA, check{s.Context, plain(s.State.String()), text(s.Description), page.WebAddress(text(s.TargetURL))})
	}
	for sha, of := range runs {
		for _, run := range of.Rows {
			state := "pending"
			if run.Status == checkrun.Completed {
				state = plain(run.Conclusion.String())
			}
			add(marks, sha, check{run.Name, state, text(run.Title), site.Page(page.RepoPath(a) + "/runs/" + decimal(run.ID))})
		}
	}
	return marks, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// plain reduces the states of statuses and checks to one of three.
func plain(state string) string {
	switch state {
	case "success", "neutral", "skipped":
		return "success"
	case "pending", "queued", "in_progress", "":
		return "pending"
	}
	return "failure"
}

func add(marks map[git.SHA]*mark, sha git.SHA, c check) {
	m := marks[sha]
	if m == nil {
		m = &mark{State: "success"}
		marks[sha] = m
	}
	m.Total++
	m.Checks = append(m.Checks, c)
	switch {
	case c.State == "success":
		m.Passed++
	case c.State == "failure" || m.State == "success":
		m.State = c.State
	}
}
