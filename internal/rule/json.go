package rule

import (
	"encoding/json"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// rulesetJSON is GitHub's repository-ruleset in lists.
type rulesetJSON struct {
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	Name        string    `json:"name"`
	Target      string    `json:"target"`
	SourceType  string    `json:"source_type"`
	Source      string    `json:"source"`
	Enforcement string    `json:"enforcement"`
	CreatedAt   db.Time   `json:"created_at"`
	UpdatedAt   db.Time   `json:"updated_at"`
	Links       linksJSON `json:"_links"`
}

type linksJSON struct {
	Self linkJSON `json:"self"`
	HTML linkJSON `json:"html"`
}

type linkJSON struct {
	Href string `json:"href"`
}

// fullRulesetJSON is GitHub's repository-ruleset.
type fullRulesetJSON struct {
	rulesetJSON
	Conditions conditionsJSON `json:"conditions"`
	Rules      []Rule         `json:"rules"`
	Bypass     *[]actorJSON   `json:"bypass_actors,omitempty"`           // for those who may change the ruleset
	CanBypass  *string        `json:"current_user_can_bypass,omitempty"` // of what applies to a repository
}

type conditionsJSON struct {
	Refs  *Names `json:"ref_name,omitempty"`
	Repos *Names `json:"repository_name,omitempty"`
}

type actorJSON struct {
	ID   *int64    `json:"actor_id"`
	Type ActorType `json:"actor_type"`
	Mode string    `json:"bypass_mode"`
}

// appliedJSON is a rule that applies to a branch.
type appliedJSON struct {
	Type       Kind            `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	SourceType string          `json:"ruleset_source_type"`
	Source     string          `json:"ruleset_source"`
	ID         int64           `json:"ruleset_id"`
}

// sourceType is GitHub's word for the owner of a ruleset.
func (r *Ruleset) sourceType() string {
	if r.OrgID != 0 {
		return "Organization"
	}
	return "Repository"
}

// sourceOf returns the name of the owner of a ruleset that applies to a repository.
func sourceOf(a *repo.Access, r *Ruleset) string {
	if r.OrgID != 0 {
		return a.Owner.Login
	}
	return a.FullName()
}

func newRulesetJSON(r *Ruleset, source string, info *web.Info) *rulesetJSON {
	id := strconv.FormatInt(r.ID, 10)
	api, page := "/repos/"+source+"/rulesets/"+id, "/"+source+"/settings/rules"
	if r.OrgID != 0 {
		api, page = "/orgs/"+source+"/rulesets/"+id, "/"+source
	}
	return &rulesetJSON{ID: r.ID, NodeID: account.NodeID("RepositoryRuleset", r.ID), Name: r.Name,
		Target: r.Target.String(), SourceType: r.sourceType(), Source: source,
		Enforcement: r.Enforcement.String(), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Links: linksJSON{linkJSON{info.API(api)}, linkJSON{info.Page(page)}}}
}

func newFullRulesetJSON(r *Ruleset, source string, admin bool, info *web.Info) *fullRulesetJSON {
	out := &fullRulesetJSON{rulesetJSON: *newRulesetJSON(r, source, info), Rules: r.Rules,
		Conditions: conditionsJSON{Repos: r.Repos}}
	if r.Target != AllRefs {
		out.Conditions.Refs = &r.Refs
	}
	if admin {
		list := []actorJSON{}
		for _, a := range r.Bypass {
			list = append(list, actorJSON{web.OrNil(a.ID), a.Type, a.Mode})
		}
		out.Bypass = &list
	}
	return out
}
