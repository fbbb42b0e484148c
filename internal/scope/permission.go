package scope

import (
	"maps"
	"slices"
	"strings"

	"arbor/internal/errs"
)

// Permissions are what a GitHub App may do, by category: {"contents": "write", "metadata": "read"}.
// A category that is not in it is closed. They are never changed once made.
type Permissions map[string]string

// Levels of access in their order. A higher one includes those before it.
var levels = []string{"", "read", "write", "admin"}

// categories are the names that GitHub gives to permissions of Apps. Those that no route asks for yet are
// accepted, so that manifests for GitHub work as they are.
var categories = strings.Fields(`actions actions_variables administration artifact_metadata attestations checks code_quality
	codespaces contents custom_properties_for_organizations dependabot_secrets deployments discussions
	email_addresses emails environments followers git_ssh_keys gpg_keys interaction_limits issues keys members
	merge_queues metadata organization_actions_variables organization_administration
	organization_announcement_banners
	organization_copilot_agent_settings organization_copilot_seat_management organization_custom_org_roles
	organization_custom_properties organization_custom_roles organization_dependabot_secrets organization_events organization_hooks
	organization_packages organization_personal_access_token_requests organization_personal_access_tokens
	organization_plan organization_projects organization_secrets organization_self_hosted_runners
	organization_user_blocking packages pages plan profile pull_requests repository_custom_properties
	repository_hooks repository_projects secret_scanning_alerts secrets security_events single_file starring
	statuses team_discussions vulnerability_alerts workflows`)

// NewPermissions checks the names and levels of what somebody asks for. "none" closes a category. Error: 422.
func NewPermissions(asked map[string]string) (Permissions, error) {
	p := Permissions{}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		level := asked[name]
		switch {
		case !slices.Contains(categories, name):
			return nil, errs.Newf(errs.Invalid, "there is no permission %q", errs.Clip(name))
		case level == "none":
			continue
		case level == "" || !slices.Contains(levels, level):
			return nil, errs.Newf(errs.Invalid, "the permission %s is %q: use read, write or none",
				name, errs.Clip(level))
		}
		p[name] = level
	}
	return p, nil
}

// ParsePermissions reads what String writes.
func ParsePermissions(text string) Permissions {
	p := Permissions{}
	for word := range strings.SplitSeq(text, ",") {
		if name, level, ok := strings.Cut(word, "="); ok {
			p[name] = level
		}
	}
	return p
}

// String returns the permissions sorted by name: "contents=write,metadata=read".
func (p Permissions) String() string {
	words := make([]string, 0, len(p))
	for _, name := range slices.Sorted(maps.Keys(p)) {
		words = append(words, name+"="+p[name])
	}
	return strings.Join(words, ",")
}

// ofAccounts are the categories that are about a user's own account. An App has them where it acts for the user.
var ofAccounts = []string{"email_addresses", "emails", "followers", "git_ssh_keys", "gpg_keys", "interaction_limits",
	"keys", "plan", "profile", "starring"}

// OfAccount reports whether a category is about a user's own account.
func OfAccount(category string) bool { return slices.Contains(ofAccounts, category) }

// OnAccount returns those that are about a user's own account.
func (p Permissions) OnAccount() Permissions {
	own := Permissions{}
	for name, level := range p {
		if OfAccount(name) {
			own[name] = level
		}
	}
	return own
}

// AtLeast lists a level and those that include it.
func AtLeast(level string) []string { return levels[rank(level):] }

// Has reports whether a category is open at a level.
func (p Permissions) Has(name, level string) bool { return rank(p[name]) >= rank(level) }

// Covers reports whether all of other is in p.
func (p Permissions) Covers(other Permissions) bool {
	for name, level := range other {
		if !p.Has(name, level) {
			return false
		}
	}
	return true
}

// Within returns what is both in p and in bound.
func (p Permissions) Within(bound Permissions) Permissions {
	both := Permissions{}
	for name, level := range p {
		if level = levels[min(rank(level), rank(bound[name]))]; level != "" {
			both[name] = level
		}
	}
	return both
}

func rank(level string) int { return max(slices.Index(levels, level), 0) }
