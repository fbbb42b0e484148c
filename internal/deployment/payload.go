package deployment

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Payload is GitHub's deployment.
type Payload struct {
	URL           string          `json:"url"`
	ID            int64           `json:"id"`
	NodeID        string          `json:"node_id"`
	SHA           git.SHA         `json:"sha"`
	Ref           string          `json:"ref"`
	Task          string          `json:"task"`
	Payload       json.RawMessage `json:"payload"`
	Original      string          `json:"original_environment"`
	Environment   string          `json:"environment"`
	Description   *string         `json:"description"`
	Creator       *account.Simple `json:"creator"`
	CreatedAt     db.Time         `json:"created_at"`
	UpdatedAt     db.Time         `json:"updated_at"`
	StatusesURL   string          `json:"statuses_url"`
	RepositoryURL string          `json:"repository_url"`
	Transient     bool            `json:"transient_environment"`
	Production    bool            `json:"production_environment"`
	App           *struct{}       `json:"performed_via_github_app"` // the bot itself is shown
}

// place returns the API address of a repository.
func place(i *web.Info, a *repo.Access) string {
	return i.API(web.Path("repos", a.Owner.Login, a.Name))
}

func newPayload(d *Deployment, by *account.Account, at string, i *web.Info) *Payload {
	p := &Payload{URL: at + "/deployments/" + strconv.FormatInt(d.ID, 10), ID: d.ID,
		NodeID: account.NodeID("Deployment", d.ID), SHA: d.SHA, Ref: d.Ref, Task: d.Task,
		Payload: json.RawMessage(d.Payload), Original: d.Original, Environment: d.Environment,
		Description: d.Description, Creator: account.NewSimple(by, i), CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		RepositoryURL: at, Transient: d.Transient, Production: d.Production}
	p.StatusesURL = p.URL + "/statuses"
	return p
}

// StatusPayload is GitHub's deployment-status.
type StatusPayload struct {
	URL            string          `json:"url"`
	ID             int64           `json:"id"`
	NodeID         string          `json:"node_id"`
	State          string          `json:"state"`
	Creator        *account.Simple `json:"creator"`
	Description    string          `json:"description"`
	Environment    string          `json:"environment"`
	TargetURL      string          `json:"target_url"`
	CreatedAt      db.Time         `json:"created_at"`
	UpdatedAt      db.Time         `json:"updated_at"`
	DeploymentURL  string          `json:"deployment_url"`
	RepositoryURL  string          `json:"repository_url"`
	EnvironmentURL string          `json:"environment_url"`
	LogURL         string          `json:"log_url"`
	App            *struct{}       `json:"performed_via_github_app"`
	DeploymentID   int64           `json:"-"`
}

func newStatusPayload(s *Status, by *account.Account, at string, i *web.Info) *StatusPayload {
	deployment := at + "/deployments/" + strconv.FormatInt(s.DeploymentID, 10)
	return &StatusPayload{URL: deployment + "/statuses/" + strconv.FormatInt(s.ID, 10), ID: s.ID, DeploymentID: s.DeploymentID,
		NodeID: account.NodeID("DeploymentStatus", s.ID), State: s.State.String(), Creator: account.NewSimple(by, i),
		Description: s.Description, Environment: s.Environment, TargetURL: s.LogURL, CreatedAt: s.CreatedAt,
		UpdatedAt: s.CreatedAt, DeploymentURL: deployment, RepositoryURL: at, EnvironmentURL: s.URL, LogURL: s.LogURL}
}

// ForHook renders a deployment for a webhook payload. Error: 404.
func ForHook(ctx context.Context, tx *db.Tx, a *repo.Access, id int64) (*Payload, error) {
	d, err := byID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	by, err := account.ByID(tx, d.CreatorID)
	if err != nil {
		return nil, err
	}
	info := web.From(ctx)
	return newPayload(d, by, place(info, a), info), nil
}

// StatusForHook renders a status and its deployment for a webhook payload. Error: 404.
func StatusForHook(ctx context.Context, tx *db.Tx, a *repo.Access, id int64) (*StatusPayload, *Payload, error) {
	s, err := statusByID(tx, a.ID, id)
	if err != nil {
		return nil, nil, err
	}
	of, err := ForHook(ctx, tx, a, s.DeploymentID)
	if err != nil {
		return nil, nil, err
	}
	by, err := account.ByID(tx, s.CreatorID)
	if err != nil {
		return nil, nil, err
	}
	info := web.From(ctx)
	return newStatusPayload(s, by, place(info, a), info), of, nil
}

// environmentPayload is GitHub's environment.
type environmentPayload struct {
	ID        int64           `json:"id"`
	NodeID    string          `json:"node_id"`
	Name      string          `json:"name"`
	URL       string          `json:"url"`
	HTMLURL   string          `json:"html_url"`
	CreatedAt db.Time         `json:"created_at"`
	UpdatedAt db.Time         `json:"updated_at"`
	Rules     []rulePayload   `json:"protection_rules"`
	Branches  *branchesPolicy `json:"deployment_branch_policy"`
}

// branchesPolicy is GitHub's deployment-branch-policy-settings.
type branchesPolicy struct {
	Protected bool `json:"protected_branches"`
	Custom    bool `json:"custom_branch_policies"`
}

// rulePayload is a rule of an environment.
type rulePayload struct {
	ID                int64             `json:"id"`
	NodeID            string            `json:"node_id"`
	Type              string            `json:"type"`
	WaitTimer         *int64            `json:"wait_timer,omitempty"`
	PreventSelfReview *bool             `json:"prevent_self_review,omitempty"`
	Reviewers         []reviewerPayload `json:"reviewers,omitempty"`
}

type reviewerPayload struct {
	Type     string          `json:"type"`
	Reviewer *account.Simple `json:"reviewer"`
}

// Ids of rules are made of the environment's.
const (
	waitRule = iota
	reviewRule
	branchRule
	ruleKinds
)

func newRule(e *Environment, kind int64, name string) rulePayload {
	id := e.ID*ruleKinds + kind
	return rulePayload{ID: id, NodeID: account.NodeID("GateType", id), Type: name}
}

func newEnvironmentPayload(
	e *Environment, people map[account.ID]*account.Account, a *repo.Access, i *web.Info,
) environmentPayload {
	p := environmentPayload{ID: e.ID, NodeID: account.NodeID(EnvironmentResource, e.ID), Name: e.Name,
		URL: place(i, a) + "/environments/" + url.PathEscape(e.Name), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		HTMLURL: i.Site + web.Path(a.Owner.Login, a.Name, "deployments") + "?environment=" + url.QueryEscape(e.Name),
		Rules:   []rulePayload{}}
	if e.WaitTimer > 0 {
		r := newRule(e, waitRule, "wait_timer")
		r.WaitTimer = &e.WaitTimer
		p.Rules = append(p.Rules, r)
	}
	r := newRule(e, reviewRule, "required_reviewers")
	for _, id := range e.Reviewers {
		if of := people[id]; of != nil { // else the account was deleted
			r.Reviewers = append(r.Reviewers, reviewerPayload{"User", account.NewSimple(of, i)})
		}
	}
	if len(r.Reviewers) > 0 {
		r.PreventSelfReview = &e.PreventSelfReview
		p.Rules = append(p.Rules, r)
	}
	if e.Branches != AllBranches {
		p.Rules = append(p.Rules, newRule(e, branchRule, "branch_policy"))
		p.Branches = &branchesPolicy{e.Branches == ProtectedBranches, e.Branches == CustomBranches}
	}
	return p
}
