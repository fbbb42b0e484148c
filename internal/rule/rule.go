// Package rule implements rules about refs: protections of branches, and rulesets of repositories and
// organizations. Both are rows of one table with one engine; a protection is a ruleset for the branches of one
// pattern that GitHub's older addresses show in another form.
//
//	rule.go           [Ruleset]: target, conditions, rules and who may bypass them
//	kind.go           the kinds of rules, with their parameters
//	pattern.go        patterns of refs, as fnmatch
//	match.go          which rulesets apply to a ref
//	judge.go          [Service.Judge]: every update of a ref is judged in its transaction
//	commits.go        [Service.Prepare]: what rules say about commits, found before the transaction
//	merge.go          what a pull request still needs: reviews, statuses, conversations
//	queue.go          [Queue]: what rules say about a branch's merge queue
//	owners.go         [AskOwners]: which code owners have not approved, for pages and payloads
//	signed.go         [AskSignatures]: which commits lack signatures, for these as well
//	bypass.go         who may bypass a ruleset
//	actors.go         users, teams and Apps that protections name, and what a caller sees of them
//	dismiss.go        who may dismiss reviews
//	suite.go          [Suite]: what rules said about updates, and who bypassed them
//	edit.go           creates, changes and deletes rulesets, with the audit log and webhooks
//	protection.go     the form of protections; apiprotection.go: their handlers
//	api.go            the handlers of rulesets
//	loadmany.go       the rules of many repositories at once, for GraphQL
//	store.go, storemerge.go, storesuite.go   the SQL
//
// Tables: rulesets, rule_suites; repos.ruled and accounts.ruled say whether a repository or its owner has any.
//
// All refs move by repo.Service.MoveRefs, and package forge calls Judge there, with the repository's row locked.
// A repository without rules costs nothing. With rules, one statement reads them, however many refs a push moves.
// Rules about commits need Git, and nothing waits for Git in a transaction: then the transaction ends with
// repo.ErrUnprepared, Prepare finds what the commits violate ([repo.RefUpdate].Findings), and the push is tried
// again. Findings name the versions of the rulesets that they were found for. If one of them has changed since,
// they are found again. So a rule that changes between a check and a merge counts. Signatures count with the keys
// that accounts had when Prepare looked at the commits; keys that go later change no ref.
//
// Teams count with the members that they and the teams below them have when an update is judged:
//
//	a member joins or leaves, a team below moves   counts from then on
//	a team is made secret                          it counts; only its members and owners see that it is named
//	a team is deleted, the repository transferred  it counts no more; the repository's administrators change the rule
//	an App is deleted or uninstalled               its bot cannot push; it is shown until it is deleted
//
// Those who may administer a repository can always change its rules, whatever the rules say.
package rule

import (
	"log/slog"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/signature"
)

// Resource is the name of rulesets in validation errors.
const Resource = "Ruleset"

// MaxRulesets is how many rulesets and protections a repository or an organization may have, as at GitHub.
const MaxRulesets = 75

// Target is the kind of refs to which a ruleset applies.
type Target uint8

// Targets as stored.
const (
	Branches Target = iota + 1
	Tags
	AllRefs // "push" in GitHub's API
)

var targets = [...]string{"", "branch", "tag", "push"}

// String returns the name in GitHub's API.
func (t Target) String() string { return targets[t] }

// ParseTarget parses the result of String.
func ParseTarget(name string) (t Target, ok bool) {
	n := slices.Index(targets[:], name)
	return Target(max(0, n)), n > 0
}

// Enforcement says what happens when a rule is violated.
type Enforcement uint8

// Enforcements as stored.
const (
	Disabled  Enforcement = iota
	Evaluated             // violations are recorded in suites
	Active
)

var enforcements = [...]string{"disabled", "evaluate", "active"}

// String returns the name in GitHub's API.
func (e Enforcement) String() string { return enforcements[e] }

// ParseEnforcement parses the result of String.
func ParseEnforcement(name string) (e Enforcement, ok bool) {
	n := slices.Index(enforcements[:], name)
	return Enforcement(max(0, n)), n >= 0
}

// Ruleset is a row of table rulesets.
type Ruleset struct {
	ID          int64
	RepoID      repo.ID    // 0: an organization's
	OrgID       account.ID // 0: a repository's
	Protection  bool
	Name        string // of a protection: the pattern of its branches
	Target      Target
	Enforcement Enforcement
	Body
	Version   int64
	CreatorID account.ID // 0: not known
	CreatedAt db.Time
	UpdatedAt db.Time
}

// Body is the part of a ruleset that is stored as JSON.
type Body struct {
	Refs   Names   `json:"refs"`
	Repos  *Names  `json:"repos,omitempty"` // of an organization's; nil: all
	Rules  []Rule  `json:"rules"`
	Bypass []Actor `json:"bypass"`
}

// Names are patterns that include and exclude names.
type Names struct {
	Include []string `json:"include"`
	Exclude []string `json:"exclude"`
}

// Special names of patterns.
const (
	allNames      = "~ALL"
	defaultBranch = "~DEFAULT_BRANCH"
)

// Actor is one of those who may bypass a ruleset.
type Actor struct {
	ID   int64     `json:"actor_id"`
	Type ActorType `json:"actor_type"`
	Mode string    `json:"bypass_mode"`
}

// ActorType says what the id of an Actor means.
type ActorType string

// Types of actors.
const (
	ByRole  ActorType = "RepositoryRole" // the id is one of GitHub's numbers of roles
	ByOwner ActorType = "OrganizationAdmin"
	ByApp   ActorType = "Integration"
	ByUser  ActorType = "User"
	ByTeam  ActorType = "Team" // of the organization, with the members of teams below
	ByKey   ActorType = "DeployKey"
)

// Modes in which actors bypass.
const (
	always        = "always"
	byPullRequest = "pull_request"
)

// Find returns the rule of a kind, or nil.
func (r *Ruleset) Find(k Kind) *Rule {
	for i := range r.Rules {
		if r.Rules[i].Kind == k {
			return &r.Rules[i]
		}
	}
	return nil
}

// Service implements the operations on rules.
type Service struct {
	db         *db.DB
	repos      *repo.Service
	signatures *signature.Service
	log        *slog.Logger
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, signatures *signature.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, signatures: signatures, log: log}
}
