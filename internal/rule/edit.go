package rule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// Owner is the repository or organization that has rulesets. The caller was found to have the right to see
// them; each change asks for the right to change them again.
type Owner struct {
	owner
	account account.ID // the organization, or the owner of the repository
	// teams returns those of the teams that the caller sees.
	teams  func(tx *db.Tx, ids []team.ID) (map[team.ID]*team.Team, error)
	by     account.ID
	right  db.Right                             // checked again by each change
	source string                               // OWNER/NAME, or the login of the organization
	hold   func(tx *db.Tx) (audit.Entry, error) // locks it
}

// OfRepository returns a repository as an owner. Changes check the right of a again.
func OfRepository(a *repo.Access) Owner {
	o := Owner{owner: owner{repo: a.ID}, source: a.FullName(), right: a, hold: func(tx *db.Tx) (audit.Entry, error) {
		return a.Audited("", nil), repo.Lock(tx, a.ID)
	}}
	if a.Caller != nil {
		o.by = a.Caller.ID
	}
	o.account = a.OwnerID
	o.teams = func(tx *db.Tx, ids []team.ID) (map[team.ID]*team.Team, error) {
		if !seesTeams(a) {
			return nil, nil
		}
		return team.SeenBy(tx, a.Caller, ids)
	}
	return o
}

// OfOrg returns an organization that the caller owns. Errors: 403, 404.
func (s *Service) OfOrg(ctx context.Context, by *account.Caller, login string) (o Owner, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.OwnedOrg(tx, by, login)
		if err == nil {
			o.org, o.account, o.source = org.ID, org.ID, org.Login
		}
		return err
	})
	if by != nil {
		o.by, o.right = by.ID, by
	}
	o.teams = func(tx *db.Tx, ids []team.ID) (map[team.ID]*team.Team, error) { return team.SeenBy(tx, by, ids) }
	o.hold = func(tx *db.Tx) (audit.Entry, error) {
		org, err := account.HoldOwnedOrg(tx, by, login)
		if err == nil && org.ID != o.org {
			err = errs.Absent()
		}
		if err != nil {
			return audit.Entry{}, err
		}
		return audit.Entry{Org: org.Audited(), Right: audit.OrgOwner}, nil
	}
	return o, err
}

// List returns the rulesets of an owner without protections, the oldest first.
func (s *Service) List(ctx context.Context, o Owner) (found []*Ruleset, err error) {
	found, err = db.Get(ctx, s.db, func(tx *db.Tx) ([]*Ruleset, error) { return list(tx, o.owner) })
	return slices.DeleteFunc(found, func(r *Ruleset) bool { return r.Protection }), err
}

// Get returns a ruleset of an owner. Error: 404.
func (s *Service) Get(ctx context.Context, o Owner, id int64) (r *Ruleset, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Ruleset, error) { return byID(tx, o.owner, id, false) })
}

// Create adds a ruleset. Error: 422.
func (s *Service) Create(ctx context.Context, o Owner, r *Ruleset) error {
	r.RepoID, r.OrgID = o.repo, o.org
	return s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		return s.add(tx, o, entry, r)
	})
}

func (s *Service) add(tx *db.Tx, o Owner, entry audit.Entry, r *Ruleset) error {
	all, err := list(tx, o.owner)
	if err != nil {
		return err
	}
	if len(all) >= MaxRulesets {
		return invalid("name", fmt.Sprintf("There are %d rulesets and protections already, which is the maximum.",
			MaxRulesets))
	}
	if err := s.check(tx, o, r, nil); err != nil {
		return err
	}
	r.CreatorID = o.by
	if err := insert(tx, r); err != nil {
		return taken(err)
	}
	return record(tx, o, entry, nil, r)
}

// Edit changes a ruleset by a function. Errors: 404, 422.
func (s *Service) Edit(
	ctx context.Context, o Owner, id int64, change func(*Ruleset) error,
) (r *Ruleset, err error) {
	err = s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		if r, err = byID(tx, o.owner, id, false); err != nil {
			return err
		}
		return s.change(tx, o, entry, r, change)
	})
	return r, err
}

func (s *Service) change(
	tx *db.Tx, o Owner, entry audit.Entry, r *Ruleset, change func(*Ruleset) error,
) error {
	before := *r
	if err := change(r); err != nil {
		return err
	}
	if err := s.check(tx, o, r, before.Bypass); err != nil {
		return err
	}
	if err := update(tx, r); err != nil {
		return taken(err)
	}
	return record(tx, o, entry, &before, r)
}

// Delete removes a ruleset. Error: 404.
func (s *Service) Delete(ctx context.Context, o Owner, id int64) error {
	return s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		r, err := byID(tx, o.owner, id, false)
		if err != nil {
			return err
		}
		if err := remove(tx, r); err != nil {
			return err
		}
		return record(tx, o, entry, r, nil)
	})
}

// record writes a change to the audit log, and wakes auto-merge of pull requests that may lack nothing from then on.
// before is nil for a new ruleset, after for a deleted one.
func record(tx *db.Tx, o Owner, entry audit.Entry, before, after *Ruleset) error {
	some, verb := after, "update"
	switch {
	case before == nil:
		verb = "create"
	case after == nil:
		some, verb = before, "destroy"
	}
	actions := map[string]audit.Action{"create": audit.RulesetCreate, "update": audit.RulesetUpdate,
		"destroy": audit.RulesetDestroy}
	changes := map[string]any{"ruleset_id": some.ID, "ruleset_name": some.Name,
		"ruleset_enforcement": some.Enforcement.String()}
	if some.Protection {
		actions = map[string]audit.Action{"create": audit.ProtectionCreate, "update": audit.ProtectionUpdate,
			"destroy": audit.ProtectionDestroy}
		changes = map[string]any{"name": some.Name}
	}
	entry.Action, entry.Changes = actions[verb], changes
	if err := audit.Record(tx, entry); err != nil {
		return err
	}
	wake := automerge.WakeRepo(tx, o.repo)
	if o.org != 0 {
		wake = automerge.WakeOwner(tx, o.org)
	}
	if wake != nil {
		return wake
	}
	return tell(tx, o, before, after)
}

func invalid(field, message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: errs.Custom, Message: message})
}

func taken(err error) error {
	if errors.Is(err, db.ErrUnique) {
		return invalid("name", "Name must be unique")
	}
	return err
}

const (
	maxName     = 100 // characters of a ruleset's name
	maxPatterns = 30  // included, and excluded
	maxActors   = 100 // who may bypass
)

// check returns a 422 for what is wrong with a ruleset. Those who could bypass it before are not asked about.
func (s *Service) check(tx *db.Tx, o Owner, r *Ruleset, before []Actor) error {
	f := web.Faults{Resource: Resource}
	if r.Protection {
		f.Resource = "ProtectedBranch"
		if problem := textProblem("pattern", r.Name, maxPattern); problem != "" {
			f.Wrong("pattern", errs.Custom, problem)
		}
	} else {
		f.CheckFilled("name", r.Name)
		f.CheckText("name", r.Name, maxName)
		r.checkNames(&f)
	}
	r.checkRules(&f)
	if err := r.checkActors(tx, o, before, &f); err != nil {
		return err
	}
	return f.Err()
}

// checkNames checks the conditions.
func (r *Ruleset) checkNames(f *web.Faults) {
	prefix := git.Heads
	if r.Target == Tags {
		prefix = git.Tags
	}
	for _, list := range [...][]string{r.Refs.Include, r.Refs.Exclude} {
		if len(list) > maxPatterns {
			f.Wrong("conditions", errs.Custom, fmt.Sprintf("at most %d names can be listed", maxPatterns))
		}
		for _, name := range list {
			special := name == allNames || name == defaultBranch && r.Target != Tags
			if problem := textProblem("ref_name", name, maxPattern); problem != "" {
				f.Wrong("conditions", errs.Custom, problem)
			} else if !special && !strings.HasPrefix(name, prefix) {
				f.Wrong("conditions", errs.Custom, fmt.Sprintf("ref_name must begin with %s", prefix))
			}
		}
	}
	if r.Repos == nil {
		return
	}
	for _, list := range [...][]string{r.Repos.Include, r.Repos.Exclude} {
		if len(list) > maxPatterns {
			f.Wrong("conditions", errs.Custom, fmt.Sprintf("at most %d names can be listed", maxPatterns))
		}
		for _, name := range list {
			if problem := textProblem("repository_name", name, maxPattern); problem != "" {
				f.Wrong("conditions", errs.Custom, problem)
			}
		}
	}
}

// onlyFor are kinds of rules that exist for one target. Those of files exist for all.
var onlyFor = map[Kind]Target{PullRequest: Branches, BranchName: Branches, TagName: Tags, Conversations: Branches,
	Pushers: Branches, ForcePushers: Branches, MergeQueue: Branches}

func (r *Ruleset) checkRules(f *web.Faults) {
	wrong := func(k Kind, problem string) { f.Wrong("rules", errs.Custom, string(k)+": "+problem) }
	if len(r.Rules) > maxRules {
		f.Wrong("rules", errs.Custom, fmt.Sprintf("at most %d rules are allowed", maxRules))
	}
	seen := map[Kind]bool{}
	for n := range r.Rules {
		rule := &r.Rules[n]
		if problem := rule.Check(); problem != "" {
			wrong(rule.Kind, problem)
		}
		if seen[rule.Kind] {
			wrong(rule.Kind, "the ruleset has this rule twice")
		}
		seen[rule.Kind] = true
		only, limited := onlyFor[rule.Kind]
		if limited && only != r.Target || r.Target == AllRefs && !filesKinds[rule.Kind] {
			wrong(rule.Kind, "the rule does not exist for this target")
		}
		p, _ := rule.Parameters.(*PullRequestRule)
		if !r.Protection && (rule.Kind == Pushers || rule.Kind == ForcePushers || rule.Kind == Conversations ||
			p != nil && (p.Dismissers != nil || p.Exempt != nil)) {
			wrong(rule.Kind, "the rule exists for protections of branches only")
		}
		if rule.Kind == MergeQueue && (r.Protection || r.OrgID != 0) {
			wrong(rule.Kind, "the rule exists for rulesets of repositories only")
		}
	}
}

// filesKinds are the kinds of rules about files.
var filesKinds = map[Kind]bool{Paths: true, PathLength: true, Extensions: true, FileSize: true}

// checkActors checks who may bypass.
func (r *Ruleset) checkActors(tx *db.Tx, o Owner, before []Actor, f *web.Faults) error {
	if len(r.Bypass) > maxActors {
		f.Wrong("bypass_actors", errs.Custom, fmt.Sprintf("at most %d actors can be listed", maxActors))
	}
	var users []account.ID
	var teams []team.ID
	for n := range r.Bypass {
		a := &r.Bypass[n]
		problem := ""
		switch a.Type {
		case ByRole:
			if bypassing[a.ID] == account.None {
				problem = "unknown role"
			}
		case ByOwner, ByKey:
			a.ID = 0
		case ByUser:
			users = append(users, account.ID(a.ID))
		case ByTeam:
			if !slices.ContainsFunc(before, func(b Actor) bool { return b.Type == ByTeam && b.ID == a.ID }) {
				teams = append(teams, team.ID(a.ID))
			}
		case ByApp:
			known, err := appExists(tx, account.AppID(a.ID))
			if err != nil {
				return err
			}
			if !known {
				problem = "unknown App"
			}
		default:
			problem = fmt.Sprintf("actors of type %q are not supported", clip(string(a.Type)))
		}
		if a.Mode != always && a.Mode != byPullRequest {
			problem = "bypass_mode must be always or pull_request"
		}
		if problem != "" {
			f.Wrong("bypass_actors", errs.Custom, problem)
		}
	}
	found, err := account.ByIDs(tx, db.Unique(users))
	if err == nil && len(found) < len(db.Unique(users)) {
		f.Wrong("bypass_actors", errs.Custom, "unknown user")
	}
	if err != nil || len(teams) == 0 {
		return err
	}
	seen, err := o.teams(tx, teams)
	for _, id := range teams {
		if t := seen[id]; t == nil || t.Org.ID != o.account {
			f.Wrong("bypass_actors", errs.Custom, "unknown team")
			break
		}
	}
	return err
}
