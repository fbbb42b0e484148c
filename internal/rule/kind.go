package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"arbor/internal/account"
)

// Kind is the type of a rule, as in GitHub's API.
type Kind string

// The kinds of rules.
const (
	Creation       Kind = "creation"
	Update         Kind = "update"
	Deletion       Kind = "deletion"
	NonFastForward Kind = "non_fast_forward"
	Linear         Kind = "required_linear_history"
	Signatures     Kind = "required_signatures"
	PullRequest    Kind = "pull_request"
	Checks         Kind = "required_status_checks"
	Message        Kind = "commit_message_pattern"
	AuthorEmail    Kind = "commit_author_email_pattern"
	CommitterEmail Kind = "committer_email_pattern"
	BranchName     Kind = "branch_name_pattern"
	TagName        Kind = "tag_name_pattern"
	Paths          Kind = "file_path_restriction"
	PathLength     Kind = "max_file_path_length"
	Extensions     Kind = "file_extension_restriction"
	FileSize       Kind = "max_file_size"
	MergeQueue     Kind = "merge_queue"
	Pushers        Kind = "push_restrictions"                // of protections only
	ForcePushers   Kind = "bypass_force_push_allowances"     // of protections only
	Conversations  Kind = "required_conversation_resolution" // of protections only
	maxRules            = 40                                 // of a ruleset
	maxChecks           = 50
	maxListed           = 100 // items of any other list
	maxRegexp           = 1000
	maxStatusName       = 1024
)

// Rule is one rule of a ruleset.
type Rule struct {
	Kind Kind
	// A pointer to the struct of the kind; nil if the kind has no parameters.
	Parameters parameters
}

// parameters are the parameters of a rule.
type parameters interface {
	// check returns what is wrong with the values, or "".
	check() string
}

// newParameters returns the parameters of each kind, to be decoded.
var newParameters = map[Kind]func() parameters{
	Creation: nil, Deletion: nil, NonFastForward: nil, Linear: nil, Signatures: nil, Conversations: nil,
	Update:         func() parameters { return &UpdateRule{} },
	PullRequest:    func() parameters { return &PullRequestRule{} },
	Checks:         func() parameters { return &ChecksRule{} },
	Message:        func() parameters { return &PatternRule{} },
	AuthorEmail:    func() parameters { return &PatternRule{} },
	CommitterEmail: func() parameters { return &PatternRule{} },
	BranchName:     func() parameters { return &PatternRule{} },
	TagName:        func() parameters { return &PatternRule{} },
	Paths:          func() parameters { return &PathsRule{} },
	PathLength:     func() parameters { return &PathLengthRule{} },
	Extensions:     func() parameters { return &ExtensionsRule{} },
	FileSize:       func() parameters { return &FileSizeRule{} },
	Pushers:        func() parameters { return &PushersRule{} },
	ForcePushers:   func() parameters { return &ForcePushersRule{} },
	MergeQueue:     func() parameters { return NewQueueRule() },
}

// UpdateRule allows nobody to update a ref.
type UpdateRule struct {
	// the branch of a fork may be updated from its upstream repository
	FetchAndMerge bool `json:"update_allows_fetch_and_merge"`
}

// PullRequestRule allows changes by pull requests only.
type PullRequestRule struct {
	Methods       []string `json:"allowed_merge_methods,omitempty"` // empty: all
	DismissStale  bool     `json:"dismiss_stale_reviews_on_push"`
	CodeOwners    bool     `json:"require_code_owner_review"`
	LastPush      bool     `json:"require_last_push_approval"`
	Approvals     int64    `json:"required_approving_review_count"`
	Conversations bool     `json:"required_review_thread_resolution"`

	// of protections only: those who may dismiss reviews (nil: all who may push) and push without a pull request
	Dismissers *Actors `json:"dismissal_restrictions,omitempty"`
	Exempt     *Actors `json:"bypass_pull_request_allowances,omitempty"`
}

// ChecksRule requires statuses and check runs of a commit.
type ChecksRule struct {
	Checks        []Check `json:"required_status_checks"`
	Strict        bool    `json:"strict_required_status_checks_policy"`
	NotOnCreation bool    `json:"do_not_enforce_on_create,omitempty"`
}

// Check is a status or check run that a commit needs.
type Check struct {
	Context string        `json:"context"`
	App     account.AppID `json:"integration_id,omitempty"` // 0: of anyone
}

// PatternRule compares names or texts of commits.
type PatternRule struct {
	Name     string `json:"name,omitempty"`
	Negate   bool   `json:"negate,omitempty"`
	Operator string `json:"operator"`
	Pattern  string `json:"pattern"`
}

// PathsRule forbids changes of paths.
type PathsRule struct {
	Paths []string `json:"restricted_file_paths"`
}

// PathLengthRule bounds the length of paths, in characters.
type PathLengthRule struct {
	Max int64 `json:"max_file_path_length"`
}

// ExtensionsRule forbids extensions of files.
type ExtensionsRule struct {
	Extensions []string `json:"restricted_file_extensions"`
}

// FileSizeRule bounds the size of files, in megabytes.
type FileSizeRule struct {
	Max int64 `json:"max_file_size"`
}

// PushersRule names those who may push to a protected branch.
type PushersRule struct {
	Actors
	BlocksCreation bool `json:"block_creations"`
}

// ForcePushersRule names those whom NonFastForward of the same protection does not refuse.
type ForcePushersRule struct{ Actors }

func (p *UpdateRule) check() string { return "" }

func (p *PullRequestRule) check() string {
	if p.Approvals < 0 || p.Approvals > 10 {
		return "required_approving_review_count must be between 0 and 10"
	}
	for _, m := range p.Methods {
		if m != "merge" && m != "squash" && m != "rebase" {
			return fmt.Sprintf("unknown merge method %q", m)
		}
	}
	if problem := p.Dismissers.problem("dismissal_restrictions"); problem != "" {
		return problem
	}
	return p.Exempt.problem("bypass_pull_request_allowances")
}

func (p *ChecksRule) check() string {
	if len(p.Checks) > maxChecks {
		return fmt.Sprintf("at most %d status checks can be required", maxChecks)
	}
	for _, c := range p.Checks {
		if problem := textProblem("context", c.Context, maxStatusName); problem != "" {
			return problem
		}
	}
	return ""
}

func (p *PatternRule) check() string {
	if problem := textProblem("pattern", p.Pattern, maxRegexp); problem != "" {
		return problem
	}
	switch p.Operator {
	case "starts_with", "ends_with", "contains":
	case "regex":
		if _, err := regexp.Compile(p.Pattern); err != nil {
			return "pattern is not a regular expression in RE2's syntax"
		}
	default:
		return "operator must be one of starts_with, ends_with, contains, regex"
	}
	return ""
}

// matcher returns a function that reports whether a text satisfies the rule.
func (p *PatternRule) matcher() func(text string) bool {
	match := func(text string) bool { return strings.Contains(text, p.Pattern) }
	switch p.Operator {
	case "starts_with":
		match = func(text string) bool { return strings.HasPrefix(text, p.Pattern) }
	case "ends_with":
		match = func(text string) bool { return strings.HasSuffix(text, p.Pattern) }
	case "regex":
		re, err := regexp.Compile(p.Pattern)
		match = func(text string) bool { return err == nil && re.MatchString(text) }
		if err != nil { // cannot be: it was checked. Nothing satisfies it.
			return func(string) bool { return false }
		}
	}
	return func(text string) bool { return match(text) != p.Negate }
}

// wants says in words what a text must be like.
func (p *PatternRule) wants() string {
	words := map[string][2]string{"starts_with": {"start with", "not start with"},
		"ends_with": {"end with", "not end with"}, "contains": {"contain", "not contain"},
		"regex": {"match", "not match"}}[p.Operator]
	word := words[0]
	if p.Negate {
		word = words[1]
	}
	return fmt.Sprintf("must %s %q", word, p.Pattern)
}

func (p *PathsRule) check() string {
	return listProblem("restricted_file_paths", p.Paths)
}

func (p *ExtensionsRule) check() string {
	return listProblem("restricted_file_extensions", p.Extensions)
}

func (p *PathLengthRule) check() string {
	if p.Max < 1 || p.Max > 32767 {
		return "max_file_path_length must be between 1 and 32767"
	}
	return ""
}

func (p *FileSizeRule) check() string {
	if p.Max < 1 || p.Max > 100 {
		return "max_file_size must be between 1 and 100"
	}
	return ""
}

func (p *PushersRule) check() string { return p.problem("restrictions") }

func (p *ForcePushersRule) check() string { return p.problem("bypass_force_push_allowances") }

func listProblem(field string, list []string) string {
	if len(list) == 0 || len(list) > maxListed {
		return fmt.Sprintf("%s must have between 1 and %d items", field, maxListed)
	}
	for _, one := range list {
		if problem := textProblem(field, one, maxPattern); problem != "" {
			return problem
		}
	}
	return ""
}

func textProblem(field, text string, most int) string {
	switch {
	case text == "":
		return field + " cannot be empty"
	case len(text) > most:
		return fmt.Sprintf("%s is longer than %d bytes", field, most)
	case strings.ContainsRune(text, 0):
		return field + " contains NUL"
	}
	return ""
}

// ruleJSON is a rule in requests, answers and the database.
type ruleJSON struct {
	Type       Kind            `json:"type"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// MarshalJSON renders a rule as in GitHub's API.
func (r Rule) MarshalJSON() ([]byte, error) {
	out := ruleJSON{Type: r.Kind}
	if r.Parameters != nil {
		var err error
		if out.Parameters, err = json.Marshal(r.Parameters); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a rule. A parameter that is not enforced is an error: nothing is ignored in silence.
func (r *Rule) UnmarshalJSON(data []byte) error {
	var in ruleJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return errors.New("a rule must be an object of type and parameters")
	}
	make, known := newParameters[in.Type]
	if !known {
		return fmt.Errorf("rules of type %q are not supported", clip(string(in.Type)))
	}
	r.Kind, r.Parameters = in.Type, nil
	if make == nil {
		return nil
	}
	r.Parameters = make()
	if len(in.Parameters) == 0 || string(in.Parameters) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(in.Parameters))
	d.DisallowUnknownFields()
	if err := d.Decode(r.Parameters); err != nil {
		var unknown string
		if _, rest, ok := strings.Cut(err.Error(), "unknown field "); ok {
			unknown = ": parameter " + clip(rest) + " is not supported"
		}
		return fmt.Errorf("wrong parameters of %s%s", in.Type, unknown)
	}
	return nil
}

// Check returns what is wrong with the rule, or "".
func (r *Rule) Check() string {
	if r.Parameters == nil {
		return ""
	}
	return r.Parameters.check()
}

func clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
