package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// place is where a repository's resources are for one request.
type place struct {
	info *web.Info
	api  string // the address of the repository in the API
	page string // and of its page
}

func newPlace(info *web.Info, r *repo.Repo) *place {
	return &place{info: info, api: info.API(web.Path("repos", r.Owner.Login, r.Name)), page: info.Page(web.Path(r.Owner.Login, r.Name))}
}

// labelJSON is GitHub's label.
type labelJSON struct {
	ID          int64   `json:"id"`
	NodeID      string  `json:"node_id"`
	URL         string  `json:"url"`
	Name        string  `json:"name"`
	Color       string  `json:"color"`
	Default     bool    `json:"default"`
	Description *string `json:"description"`
}

func (p *place) label(l *Label) *labelJSON {
	return &labelJSON{
		ID: l.ID, NodeID: account.NodeID("Label", l.ID), URL: p.api + "/labels" + web.Path(l.Name),
		Name: l.Name, Color: l.Color, Default: l.Default, Description: l.Description,
	}
}

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
func (p *place) milestone(m *Milestone, creator *account.Account) *milestoneJSON {
	number := "/milestones/" + itoa(m.Number)
	return &milestoneJSON{
		URL: p.api + number, HTMLURL: p.page + "/milestone/" + itoa(m.Number), LabelsURL: p.api + number + "/labels",
		ID: m.ID, NodeID: account.NodeID("Milestone", m.ID), Number: m.Number, Title: m.Title, Description: m.Description,
		Creator: account.NewSimple(creator, p.info), OpenIssues: m.OpenIssues, ClosedIssues: m.ClosedIssues,
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
