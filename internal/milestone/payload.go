package milestone

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issuekit"
)

// Payload is GitHub's milestone.
type Payload struct {
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
	DueOn        db.Time         `json:"due_on"`    // null: none
	ClosedAt     db.Time         `json:"closed_at"` // null: open
}

// NewPayload renders a milestone of the repository at a place. creator may be nil.
func NewPayload(m *Milestone, creator *account.Account, at *issuekit.Addresses) *Payload {
	number := strconv.FormatInt(m.Number, 10)
	url := at.API + "/milestones/" + number
	return &Payload{
		URL: url, HTMLURL: at.Page + "/milestone/" + number, LabelsURL: url + "/labels",
		ID: m.ID, NodeID: account.NodeID(resource, m.ID), Number: m.Number, Title: m.Title,
		Description: m.Description,
		Creator:     account.NewSimple(creator, at.Info), OpenIssues: m.OpenIssues, ClosedIssues: m.ClosedIssues,
		State: m.State.String(), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, DueOn: m.DueOn,
		ClosedAt: m.ClosedAt,
	}
}

// payloads renders milestones with their creators, read in one query.
func payloads(tx *db.Tx, list []*Milestone, at *issuekit.Addresses) ([]*Payload, error) {
	found, err := views(tx, list)
	return renderViews(found, at), err
}

func renderViews(list []*View, at *issuekit.Addresses) []*Payload {
	out := make([]*Payload, len(list))
	for n, v := range list {
		out[n] = NewPayload(v.Milestone, v.Creator, at)
	}
	return out
}
