package payloads

import (
	"encoding/json"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/web"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// putIssue puts the issue, or the pull request as an issue.
func (t *told) putIssue() error {
	n := itoa(t.about.Number)
	return t.put("issue", t.from.Issues.Get, "/issues/"+n, "number", n)
}

// putPull puts the pull request.
func (t *told) putPull() error {
	n := itoa(t.about.Number)
	return t.put("pull_request", t.from.Pulls.Get, "/pulls/"+n, "number", n)
}

func (t *told) issue() error {
	if err := t.putIssue(); err != nil {
		return err
	}
	return t.detail()
}

func (t *told) pull() error {
	t.out["number"] = t.about.Number
	if t.d.Action == "synchronize" {
		t.out["before"], t.out["after"] = t.about.Before, t.about.After
	}
	if err := t.putPull(); err != nil {
		return err
	}
	return t.detail()
}

// detail puts what an issue or a pull request got or lost.
func (t *told) detail() error {
	switch t.d.Action {
	case "assigned", "unassigned":
		t.out["assignee"] = account.NewSimple(t.user, t.info)
	case "review_requested", "review_request_removed":
		t.out["requested_reviewer"] = account.NewSimple(t.user, t.info)
	case "labeled", "unlabeled":
		return t.putIf("label", t.from.Labels.Get, "/labels"+web.Path(t.about.Label), "name", t.about.Label)
	case "milestoned", "demilestoned":
		if t.about.ID != 0 {
			n := itoa(t.about.ID)
			return t.putIf("milestone", t.from.Milestones.Get, "/milestones/"+n, "number", n)
		}
	}
	return nil
}

func (t *told) comment() error {
	if err := t.putIssue(); err != nil {
		return err
	}
	id := itoa(t.about.ID)
	return t.put("comment", t.from.Comments.Get, "/issues/comments/"+id, "id", id)
}

func (t *told) commitComment() error {
	id := itoa(t.about.ID)
	return t.put("comment", t.from.OnCommits.Get, "/comments/"+id, "id", id)
}

func (t *told) label() error {
	return t.put("label", t.from.Labels.Get, "/labels"+web.Path(t.about.Label), "name", t.about.Label)
}

func (t *told) milestone() error {
	n := itoa(t.about.Number)
	return t.put("milestone", t.from.Milestones.Get, "/milestones/"+n, "number", n)
}

func (t *told) review() error {
	if err := t.putPull(); err != nil {
		return err
	}
	n, id := itoa(t.about.Number), itoa(t.about.ID)
	answer, err := t.ask(t.from.Reviews.Get, "/pulls/"+n+"/reviews/"+id, "number", n, "id", id)
	if err != nil {
		return err
	}
	var review map[string]any
	if err := json.Unmarshal(answer, &review); err != nil {
		return err
	}
	if state, ok := review["state"].(string); ok {
		review["state"] = strings.ToLower(state) // as GitHub's hooks have it, other than its API
	}
	t.out["review"] = review
	return nil
}

func (t *told) reviewComment() error {
	if err := t.putPull(); err != nil {
		return err
	}
	id := itoa(t.about.ID)
	return t.put("comment", t.from.Reviews.GetComment, "/pulls/comments/"+id, "id", id)
}

// reviewThread tells of the thread of a comment as it is now.
func (t *told) reviewThread() error {
	if err := t.putPull(); err != nil {
		return err
	}
	id := itoa(t.about.ID)
	answer, err := t.ask(t.from.Reviews.GetThread, "/pulls/comments/"+id, "id", id)
	if err != nil {
		return err
	}
	var thread struct {
		NodeID   string                       `json:"node_id"`
		Comments []map[string]json.RawMessage `json:"comments"`
	}
	if err := json.Unmarshal(answer, &thread); err != nil {
		return err
	}
	for _, c := range thread.Comments { // what GraphQL alone tells of them
		delete(c, "pending")
		delete(c, "outdated")
	}
	t.out["thread"] = thread
	return nil
}
