package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/tracker"
)

// milestoneJSON is GitHub's milestone.
type milestoneJSON struct {
	URL          string          `json:"url"`
	HTMLURL      string          `json:"html_url"`
	LabelsURL    string          `json:"labels_url"`
	ID           int64           `json:"id"`
	NodeID       string          `json:"node_id"`
	Number       int64           `json:"number"`
	Title        string          `json:"title"`
	Description  *string         `json:"description"`
	Creator      *account.Simple `json:"creator"`
	OpenIssues   int64           `json:"open_issues"`
	ClosedIssues int64           `json:"closed_issues"`
	State        string          `json:"state"`
	CreatedAt    db.Time         `json:"created_at"`
	UpdatedAt    db.Time         `json:"updated_at"`
	DueOn        *db.Time        `json:"due_on"`
	ClosedAt     *db.Time        `json:"closed_at"`
}

// milestone renders a milestone; creator may be nil.
func renderMilestone(p *tracker.Place, m *Milestone, creator *account.Account) *milestoneJSON {
	number := "/milestones/" + itoa(m.Number)
	return &milestoneJSON{
		URL: p.API + number, HTMLURL: p.Page + "/milestone/" + itoa(m.Number), LabelsURL: p.API + number + "/labels",
		ID: m.ID, NodeID: account.NodeID("Milestone", m.ID), Number: m.Number, Title: m.Title, Description: m.Description,
		Creator: account.NewSimple(creator, p.Info), OpenIssues: m.OpenIssues, ClosedIssues: m.ClosedIssues,
		State: m.State.String(), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, DueOn: orNil(m.DueOn), ClosedAt: orNil(m.ClosedAt),
	}
}

// orNil makes a time that was not given null.
func orNil(t db.Time) *db.Time {
	if t == 0 {
		return nil
	}
	return &t
}
