package rule

import (
	"context"
	"encoding/json"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// readProtection decodes the body of PutProtection.
func (api *API) readProtection(ctx context.Context, a *repo.Access, body *web.Object) (*Protection, error) {
	p := &Protection{}
	for _, field := range [...]string{"required_status_checks", "enforce_admins", "required_pull_request_reviews",
		"restrictions"} {
		if !body.Has(field) {
			body.Wrong(field, errs.MissingField, "")
		}
	}
	flags := map[string]*bool{"enforce_admins": &p.Admins, "required_linear_history": &p.Linear,
		"allow_force_pushes": &p.ForcePushes, "allow_deletions": &p.Deletions, "block_creations": &p.NoCreations,
		"required_conversation_resolution": &p.Conversations, "lock_branch": &p.Locked,
		"allow_fork_syncing": &p.ForkSyncing, "required_signatures": &p.Signatures}
	for name, is := range flags {
		*is = body.Bool(name).Or(false)
	}
	p.KeepSignatures = !body.Has("required_signatures")
	if err := body.Err(); err != nil {
		return nil, err
	}
	return p, api.s.db.Read(ctx, func(tx *db.Tx) error {
		if o, err := part(body, "required_status_checks"); err != nil {
			return err
		} else if o != nil {
			p.Checks = &ChecksRule{}
			if err := readChecksRule(o, p.Checks); err != nil {
				return err
			}
		}
		if o, err := part(body, "required_pull_request_reviews"); err != nil {
			return err
		} else if o != nil {
			p.Reviews = &PullRequestRule{Approvals: 1}
			if err := readReviews(tx, a, o, p.Reviews); err != nil {
				return err
			}
		}
		o, err := part(body, "restrictions")
		if err != nil || o == nil {
			return err
		}
		p.Restricted = true
		pushers, err := readActors(tx, a, o, "restrictions")
		if err == nil {
			p.Pushers = *pushers
		}
		return err
	})
}

// part returns the object in a field, or nil if that is null or missing.
func part(body *web.Object, field string) (*web.Object, error) {
	raw := body.Raw(field)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	return web.ParseObject(raw, protectionResource)
}

// readChecksRule changes a rule by the values that are sent.
func readChecksRule(o *web.Object, rule *ChecksRule) error {
	if strict := o.Bool("strict"); strict.Given() {
		rule.Strict = strict.Value
	}
	if contexts := o.Strings("contexts", maxChecks, maxStatusName); contexts.Given() {
		rule.SetContexts(unique(contexts.Value))
	}
	if err := o.Err(); err != nil {
		return err
	}
	raw := o.Raw("checks")
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var list []struct {
		Context string `json:"context"`
		App     *int64 `json:"app_id"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		o.Wrong("checks", errs.InvalidField, "checks must be an array of objects with context and app_id")
		return o.Err()
	}
	rule.Checks = []Check{}
	for _, c := range list {
		check := Check{Context: c.Context}
		if c.App != nil && *c.App > 0 {
			check.App = account.AppID(*c.App)
		}
		rule.Checks = append(rule.Checks, check)
	}
	return nil
}

// Contexts returns the names of the required status checks.
func (p *ChecksRule) Contexts() []string {
	list := make([]string, len(p.Checks))
	for n, c := range p.Checks {
		list[n] = c.Context
	}
	return list
}

// SetContexts requires status checks of these names. Those that are required already keep their App.
func (p *ChecksRule) SetContexts(names []string) {
	before := p.Checks
	p.Checks = []Check{}
	for _, name := range names {
		check := Check{Context: name}
		if at := slices.IndexFunc(before, func(c Check) bool { return c.Context == name }); at >= 0 {
			check = before[at]
		}
		p.Checks = append(p.Checks, check)
	}
}

// readReviews changes a rule by the values that are sent.
func readReviews(tx *db.Tx, a *repo.Access, o *web.Object, rule *PullRequestRule) error {
	if v := o.Bool("dismiss_stale_reviews"); v.Given() {
		rule.DismissStale = v.Value
	}
	if v := o.Bool("require_code_owner_reviews"); v.Given() {
		rule.CodeOwners = v.Value
	}
	if v := o.Bool("require_last_push_approval"); v.Given() {
		rule.LastPush = v.Value
	}
	if v := o.Int("required_approving_review_count"); v.Given() {
		rule.Approvals = v.Value
	}
	if err := o.Err(); err != nil {
		return err
	}
	dismissers, err := part(o, "dismissal_restrictions")
	if err != nil {
		return err
	}
	if dismissers != nil {
		// An empty object ends the restriction, as at GitHub.
		restricted := dismissers.Has("users") || dismissers.Has("teams") || dismissers.Has("apps")
		if rule.Dismissers, err = readActors(tx, a, dismissers, "dismissal_restrictions"); err != nil {
			return err
		}
		if !restricted {
			rule.Dismissers = nil
		}
	}
	exempt, err := part(o, "bypass_pull_request_allowances")
	if err != nil || exempt == nil {
		return err
	}
	if rule.Exempt, err = readActors(tx, a, exempt, "bypass_pull_request_allowances"); rule.Exempt.Empty() {
		rule.Exempt = nil
	}
	return err
}

// readActors reads an object of users, teams and Apps. Error: 422 for unknown ones.
func readActors(tx *db.Tx, a *repo.Access, o *web.Object, field string) (*Actors, error) {
	n := ActorNames{o.Strings("users", maxListed, maxStatusName).Value,
		o.Strings("teams", maxListed, maxStatusName).Value,
		o.Strings("apps", maxListed, maxStatusName).Value}
	if err := o.Err(); err != nil {
		return nil, err
	}
	return n.resolve(tx, a, field)
}
