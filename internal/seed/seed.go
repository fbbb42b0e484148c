// Package seed fills an empty store with what a YAML file says: people, tokens
// with given values, repositories with histories, issues, pull requests, plants.
// It is for those who test against Arbor and need the same world each time.
//
//	seed.go       the format: what a file may say
//	yaml.go       YAML to values; problem.go errors with line and key
//	union.go      what can be said in two ways: briefly, or as a mapping
//	check.go      what the file says must fit together: checkrepo.go, checkissue.go
//	fill.go       Fill, what may be filled, and rehearsals; lock_*.go: by whom
//	apply.go      what is done, and accounts; repo.go repositories, history.go their
//	              commits, issue.go and pull.go trackers in the order of time
//	client.go     requests to the server's own handler, as anybody
//	store.go      which seed a store holds
//
// A seed is applied by the interface itself: each thing that it declares is the
// request that a client would send as its author, so a seed can say nothing that
// a client could not, and follows every rule there is. Only accounts, tokens,
// commits and imports, which take more than a single request, go through the services.
//
// The database's clock shows what the seed says while it is applied. So one seed
// gives the same times, ids and SHAs always and everywhere, but where it imports. Invitations alone have the time
// at which the store is filled, since they last for seven days.
// docs/seed.md is the reference; a test holds it against the types here.
//
// A file is checked whole before anything is made, so that all errors come at once with line and
// key. What workers would do later (server.Settle) is done at the seed's time. A real store is
// filled after a rehearsal on a throwaway one, and marked first: one whose filling was killed opens
// only for the next try, which empties it; a lock on a file shows whether a process is at work.
package seed

import (
	"crypto/sha256"
	"time"
)

// MaxSize is the size of the largest seed in bytes.
const MaxSize = 32 << 20

// Start is the time at which a seed begins that does not say any.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Seed is a seed that was read and checked.
type Seed struct {
	position
	File   string            // what errors call it
	Dir    string            // what paths in it are relative to
	Digest [sha256.Size]byte // of its text

	Start  time.Time `seed:"start"`
	Users  []User    `seed:"users"`
	Orgs   []Org     `seed:"orgs"`
	Repos  []Repo    `seed:"repos"`
	Plants []Plant   `seed:"plants"`

	OAuthApps []OAuthApp `seed:"oauth_apps"`

	RequireFactors bool   `seed:"require_two_factor"` // of everybody, from when all else has happened
	SignUp         SignUp `seed:"sign_up"`
}

// OAuthApp is a program that signs people in, with a client id and a client secret that it knows.
type OAuthApp struct {
	position
	Owner       string   `seed:"owner,required"` // login of a user or an organization
	Name        string   `seed:"name,required"`
	Homepage    string   `seed:"homepage,required"`
	Callbacks   []string `seed:"callbacks,required"`
	ClientID    string   `seed:"client_id,required"`
	Secret      string   `seed:"client_secret,required"`
	Description string   `seed:"description"`
	DeviceFlow  bool     `seed:"device_flow"`
}

// SignUp is how accounts begin; the zero value: closed.
type SignUp struct {
	position
	Mode    string   `seed:"mode,required"`
	Domains []string `seed:"domains"`
}

// Profile is what users and organizations say of themselves.
type Profile struct {
	Name     string `seed:"name"`
	Email    string `seed:"email"`
	Company  string `seed:"company"`
	Blog     string `seed:"blog"`
	Location string `seed:"location"`
}

// User is a person.
type User struct {
	position
	Profile
	Login     string    `seed:"login,required"`
	Bio       string    `seed:"bio"`
	Admin     bool      `seed:"admin"`
	CreatedAt time.Time `seed:"created_at"`
	Tokens    []Token   `seed:"tokens"`
	Keys      []Key     `seed:"keys"`
	Signing   []Key     `seed:"signing_keys"`
	TOTP      string    `seed:"totp"` // the secret of an authenticator app; empty: there is none
}

// Key is a public SSH key, as a file that ends in .pub holds it, or among Signing a GPG key in ASCII armor. It is
// text, or a mapping.
type Key struct {
	position
	Text  string `seed:"key,required"`
	Title string `seed:"title"` // empty: the key's comment
}

// Token is a token with a value that tests know. It is text, or a mapping.
type Token struct {
	position
	Value     string    `seed:"value,required"`
	Note      string    `seed:"note"`
	ExpiresAt time.Time `seed:"expires_at"`
	Scopes    *string   `seed:"scopes"` // as GitHub names them; nil: the token may do everything
}

// Org is an organization.
type Org struct {
	position
	Profile
	Login       string    `seed:"login,required"`
	Description string    `seed:"description"`
	Permission  string    `seed:"default_permission" enum:"none,read,write,admin"`
	Owners      []string  `seed:"owners,required"`
	Members     []Member  `seed:"members"`
	Teams       []Team    `seed:"teams"`
	Invitations []string  `seed:"invitations"`
	CreatedAt   time.Time `seed:"created_at"`

	RequireFactors bool `seed:"require_two_factor"` // of its people, from when all else has happened
}

// Member belongs to an organization. It is a login, or a mapping.
type Member struct {
	position
	Login  string `seed:"login,required"`
	Public bool   `seed:"public"`
}

// Team is a team of an organization.
type Team struct {
	position
	Name        string      `seed:"name,required"`
	Description string      `seed:"description"`
	Secret      bool        `seed:"secret"`
	Parent      string      `seed:"parent"` // the name of a team above in the list
	Maintainers []string    `seed:"maintainers"`
	Members     []string    `seed:"members"`
	Repos       Permissions `seed:"repos"` // by the name of a repository of the organization
}

// Repo is a repository.
type Repo struct {
	position
	Name          string      `seed:"name,required"` // OWNER/NAME
	Description   string      `seed:"description"`
	Homepage      string      `seed:"homepage"`
	Private       bool        `seed:"private"`
	DefaultBranch string      `seed:"default_branch"`
	HasIssues     *bool       `seed:"has_issues"`
	CreatedAt     time.Time   `seed:"created_at"`
	Fork          string      `seed:"fork"` // OWNER/NAME
	Import        string      `seed:"import"`
	Collaborators Permissions `seed:"collaborators"`
	Invitations   Permissions `seed:"invitations"`
	Stars         []string    `seed:"stars"`
	Watchers      []string    `seed:"watchers"`

	Files    Files    `seed:"files"`
	Commits  []Commit `seed:"commits"`
	Branches []Branch `seed:"branches"`
	Tags     []Tag    `seed:"tags"`

	Protections []Protection `seed:"protections"`
	Rulesets    []Ruleset    `seed:"rulesets"`

	DefaultLabels *bool       `seed:"default_labels"`
	Labels        []Label     `seed:"labels"`
	Milestones    []Milestone `seed:"milestones"`
	Statuses      []Status    `seed:"statuses"`
	Issues        []Issue     `seed:"issues"`
	Pulls         []Pull      `seed:"pulls"`

	// What check found out and Apply needs.
	owner, short string // the two parts of its name
	admin        string // who does what the seed gives to nobody: its owner, or the organization's first
	parent       *Repo  // of a fork
	steps        []step
	names        *names
}

// Permission is a user's granted role.
type Permission struct {
	position
	Login string
	Role  string // pull, push or admin
}

// Permissions is a mapping of logins, or of a team's repositories, to roles.
type Permissions []Permission

// File is a file that a commit writes, or removes.
type File struct {
	position
	Path    string
	Removed bool
	Content string `seed:"content"`
	Base64  string `seed:"base64"`
	Mode    string `seed:"mode" enum:"100644,100755,120000"`
}

// Files is a mapping of paths to contents: text, a mapping, or null, which
// removes the file.
type Files []File

// Person is an author of a commit: the login of a user, or a name and an address
// of somebody without an account.
type Person struct {
	position
	Login string
	Name  string `seed:"name,required"`
	Email string `seed:"email,required"`
}

// Commit is a commit of a history.
type Commit struct {
	position
	Branch    string    `seed:"branch"` // empty: the default branch, or the Branch that it stands in
	From      string    `seed:"from"`   // of the first on a branch: where that begins
	Message   string    `seed:"message,required"`
	Author    Person    `seed:"author"`
	Committer Person    `seed:"committer"`
	Date      time.Time `seed:"date"`
	Merge     []string  `seed:"merge"` // more parents: branches, tags
	Files     Files     `seed:"files"`
	Tag       string    `seed:"tag"` // a lightweight tag that names it
}

// Branch is a branch with its own commits and files.
type Branch struct {
	position
	Name    string   `seed:"name,required"`
	From    string   `seed:"from"` // a branch or tag; empty: the default branch
	Files   Files    `seed:"files"`
	Commits []Commit `seed:"commits"`
}

// Tag is a tag; an annotated one with a message. It is made after all commits.
type Tag struct {
	position
	Name    string    `seed:"name,required"`
	Target  string    `seed:"target"` // a branch or an earlier tag; empty: the default branch
	Message string    `seed:"message"`
	Tagger  Person    `seed:"tagger"`
	Date    time.Time `seed:"date"`
}

// Label is a label; a default one may get another description.
type Label struct {
	position
	Name        string  `seed:"name,required"`
	Color       string  `seed:"color"`
	Description *string `seed:"description"`
}

// Milestone is a milestone. Their numbers are their places, from 1.
type Milestone struct {
	position
	Title       string    `seed:"title,required"`
	Description string    `seed:"description"`
	State       string    `seed:"state" enum:"open,closed"`
	DueOn       time.Time `seed:"due_on"`
	Creator     string    `seed:"creator"`
}

// Thread is what issues and pull requests have in common.
type Thread struct {
	Title     string    `seed:"title,required"`
	Body      *string   `seed:"body"`
	Author    string    `seed:"author"` // empty: the repository's owner
	Labels    []string  `seed:"labels"`
	Assignees []string  `seed:"assignees"`
	Milestone string    `seed:"milestone"` // its title
	Locked    Lock      `seed:"locked"`
	CreatedAt time.Time `seed:"created_at"`
	ClosedAt  time.Time `seed:"closed_at"`
	ClosedBy  string    `seed:"closed_by"`
	Comments  []Comment `seed:"comments"`
	Reactions Reactions `seed:"reactions"`
}

// Lock is true, false, or the reason for which a conversation is locked.
type Lock struct {
	Locked bool
	Reason string
}

// Issue is an issue. Their numbers are their places, from 1.
type Issue struct {
	position
	Thread
	State       string `seed:"state" enum:"open,closed"`
	StateReason string `seed:"state_reason" enum:"completed,not_planned"`
}

// Comment is a comment on an issue or a pull request.
type Comment struct {
	position
	Body      string    `seed:"body,required"`
	Author    string    `seed:"author"`
	CreatedAt time.Time `seed:"created_at"`
	Reactions Reactions `seed:"reactions"`
}

// Reaction is who reacts with a content, such as heart.
type Reaction struct {
	position
	Content string
	Logins  []string
}

// Reactions is a mapping of contents to lists of logins.
type Reactions []Reaction

// Pull is a pull request. Their numbers follow those of the issues.
type Pull struct {
	position
	Thread
	Head        string    `seed:"head,required"` // BRANCH, or OWNER:BRANCH
	Base        string    `seed:"base"`          // empty: the default branch
	State       string    `seed:"state" enum:"open,closed,merged"`
	Draft       bool      `seed:"draft"`
	MergeMethod string    `seed:"merge_method" enum:"merge,squash,rebase"`
	MergedAt    time.Time `seed:"merged_at"`
	MergedBy    string    `seed:"merged_by"`
	Reviewers   []string  `seed:"reviewers"` // who are asked for a review
	Reviews     []Review  `seed:"reviews"`
	Statuses    []Status  `seed:"statuses"` // of the head
}

// Review is a review of a pull request.
type Review struct {
	position
	Author    string          `seed:"author,required"`
	State     string          `seed:"state,required" enum:"approve,request_changes,comment"`
	Body      string          `seed:"body"`
	CreatedAt time.Time       `seed:"created_at"`
	Comments  []ReviewComment `seed:"comments"`
}

// ReviewComment is a comment on a line of what a pull request changes.
type ReviewComment struct {
	position
	Path      string `seed:"path,required"`
	Line      int64  `seed:"line,required"`
	StartLine int64  `seed:"start_line"`
	Side      string `seed:"side" enum:"left,right"`
	Body      string `seed:"body,required"`
}

// Status is what a build says of a commit.
type Status struct {
	position
	Ref         string    `seed:"ref"` // of a repository's list: a branch or tag; empty: the default branch
	State       string    `seed:"state,required" enum:"error,failure,pending,success"`
	Context     string    `seed:"context"`
	Description string    `seed:"description"`
	TargetURL   string    `seed:"target_url"`
	Creator     string    `seed:"creator"`
	CreatedAt   time.Time `seed:"created_at"`
}

// Plant is a plant of the plant store.
type Plant struct {
	position
	Owner string  `seed:"owner,required"`
	ID    *int64  `seed:"id,required"`
	Name  string  `seed:"name,required"`
	Tag   *string `seed:"tag"`
}
