package payloads

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/errs"
	"arbor/internal/issue/comment"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/team"
	"arbor/internal/web"
)

// putIssue puts the issue, or the pull request as an issue.
func (t *teller) putIssue() error {
	return t.putOnce("issue", "issue "+strconv.FormatInt(t.About.Number, 10), func() (any, error) {
		return t.from.Issues.ForHook(t.ctx, t.tx, t.repo, t.About.Number)
	})
}

// putPull puts the pull request.
func (t *teller) putPull() error {
	return t.putOnce("pull_request", "pull "+strconv.FormatInt(t.About.Number, 10), func() (any, error) {
		return t.from.Pulls.ForHook(t.ctx, t.tx, t.repo, t.About.Number)
	})
}

func (t *teller) issue() error {
	if err := t.putIssue(); err != nil {
		return err
	}
	return t.detail()
}

func (t *teller) pull() error {
	t.out["number"] = t.About.Number
	if t.Action == "synchronize" {
		t.out["before"], t.out["after"] = t.About.Before, t.About.After
	}
	if err := t.putPull(); err != nil {
		return err
	}
	return t.detail()
}

// detail puts what an issue or a pull request got or lost.
func (t *teller) detail() error {
	switch t.Action {
	case "assigned", "unassigned":
		t.out["assignee"] = account.NewSimple(t.user, t.info)
	case "review_requested", "review_request_removed":
		if t.About.Team != 0 {
			return t.requestedTeam()
		}
		t.out["requested_reviewer"] = account.NewSimple(t.user, t.info)
	case "auto_merge_disabled", "dequeued":
		t.out["reason"] = t.About.Reason
	case "labeled", "unlabeled":
		return t.putIf("label", t.labelNamed)
	case "milestoned", "demilestoned":
		if t.About.ID != 0 {
			return t.putIf("milestone", func() (any, error) { return t.milestoneNumbered(t.About.ID) })
		}
	}
	return nil
}

// requestedTeam puts the team whose review is requested, unless it is secret now.
func (t *teller) requestedTeam() error {
	id := team.ID(t.About.Team)
	found, err := team.Closed(t.tx, []team.ID{id})
	if err == nil && found[id] == nil {
		err = errs.Absent()
	}
	if err == nil {
		t.out["requested_team"] = team.NewSimple(found[id], t.info)
	}
	return err
}

func (t *teller) comment() error {
	if err := t.putIssue(); err != nil {
		return err
	}
	return t.put("comment", func() (any, error) {
		return comment.ForHook(t.ctx, t.tx, t.repo, t.from.Issues, t.About.ID)
	})
}

func (t *teller) commitComment() error {
	return t.put("comment", func() (any, error) {
		p, err := commitcomment.Load(t.ctx, t.tx, []*repo.Access{t.repo}, []int64{t.About.ID})
		if err == nil {
			err = p.Bodies(web.Unsent(t.ctx), t.from.Issues)
		}
		if err != nil {
			return nil, err
		}
		v, err := p.Comment(t.About.ID)
		if err == nil && v == nil {
			err = errs.Absent()
		}
		return v, err
	})
}

func (t *teller) label() error { return t.put("label", t.labelNamed) }

func (t *teller) labelNamed() (any, error) {
	l, err := label.ByName(t.tx, t.repo.ID, t.About.Label)
	if err != nil {
		return nil, err
	}
	return label.NewPayload(l, issuekit.NewAddresses(t.info, t.repo.Repo)), nil
}

func (t *teller) milestone() error {
	return t.put("milestone", func() (any, error) { return t.milestoneNumbered(t.About.Number) })
}

func (t *teller) milestoneNumbered(number int64) (any, error) {
	m, err := milestone.ByNumber(t.tx, t.repo.ID, number)
	if err != nil {
		return nil, err
	}
	people, err := account.ByIDs(t.tx, []account.ID{m.CreatorID})
	if err != nil {
		return nil, err
	}
	return milestone.NewPayload(m, people[m.CreatorID], issuekit.NewAddresses(t.info, t.repo.Repo)), nil
}

func (t *teller) review() error {
	if err := t.putPull(); err != nil {
		return err
	}
	return t.put("review", func() (any, error) {
		return review.ForHook(t.ctx, t.tx, t.repo, t.from.Issues, t.About.Number, t.About.ID)
	})
}

func (t *teller) reviewComment() error {
	if err := t.putPull(); err != nil {
		return err
	}
	return t.put("comment", func() (any, error) {
		return review.CommentForHook(t.ctx, t.tx, t.repo, t.from.Issues, t.About.ID)
	})
}

func (t *teller) reviewThread() error {
	if err := t.putPull(); err != nil {
		return err
	}
	return t.put("thread", func() (any, error) {
		return review.ThreadForHook(t.ctx, t.tx, t.repo, t.from.Issues, t.About.ID)
	})
}
