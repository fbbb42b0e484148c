package posting

import (
	"strings"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/issuekit"
)

// looked is a condition that is looked up for each issue, by its id, in other tables.
type looked interface {
	Expr
	sql(b *builder) string
}

// HeadBegins matches pull requests whose head branch starts with one of these.
type HeadBegins []string

// BaseIs matches pull requests into one of these branches.
type BaseIs []string

// AskedToReview matches pull requests with a review request for the account.
type AskedToReview account.ID

// AskedInTeam matches pull requests with a review request for a visible team that the account is in, as far as the
// caller sees the teams of that organization.
type AskedInTeam struct {
	User   account.ID
	Caller *account.Caller
}

// TeamAsked matches pull requests with a review request for the visible team with an id.
type TeamAsked int64

// ReviewedBy matches pull requests with a submitted review by the account.
type ReviewedBy account.ID

// ReviewIs matches pull requests by their reviews: of each reviewer the latest that is more than a comment.
type ReviewIs uint8

// What reviews say.
const (
	Reviewed         ReviewIs = iota // anything, also as a comment
	Approved                         // approved, without requested changes
	ChangesRequested                 // changes are requested
)

// StatusIs matches pull requests by the combined statuses and checks of their head.
type StatusIs uint8

// Combined statuses and checks. A head without any has none of these.
const (
	StatusPending StatusIs = iota
	StatusSuccess
	StatusFailure
)

// LinkedTo matches issues and pull requests linked by a closing keyword in the text of a pull request in
// the same repository.
type LinkedTo uint8

// Kinds of links.
const (
	LinkedPull  LinkedTo = iota // issues, to a pull request that is open or was merged
	LinkedIssue                 // pull requests, to an issue
)

// InReason matches issues that are closed or reopened with a reason as stored.
type InReason uint8

func (HeadBegins) condition()    {}
func (BaseIs) condition()        {}
func (AskedToReview) condition() {}
func (AskedInTeam) condition()   {}
func (TeamAsked) condition()     {}
func (ReviewedBy) condition()    {}
func (ReviewIs) condition()      {}
func (StatusIs) condition()      {}
func (InReason) condition()      {}
func (LinkedTo) condition()      {}

const ofPull = "EXISTS (SELECT 1 FROM pulls h WHERE h.issue_id = p.issue_id AND "

func (e HeadBegins) sql(b *builder) string {
	begins := make([]string, len(e)) // looked up once for all
	for n, start := range e {
		length := "CAST(" + b.arg(utf8.RuneCountInString(start)) + " AS INTEGER)"
		begins[n] = "substr(h.head_ref, 1, " + length + ") = " + b.arg(start)
	}
	return ofPull + "(" + strings.Join(begins, " OR ") + "))"
}

func (e BaseIs) sql(b *builder) string { return ofPull + "h.base_ref IN " + values(b, e) + ")" }

func (e AskedToReview) sql(b *builder) string {
	return "EXISTS (SELECT 1 FROM requested_reviewers h WHERE h.issue_id = p.issue_id AND h.user_id = " +
		b.arg(account.ID(e)) + ")"
}

// ofTeam is about a request for a team that is not secret: others are shown to nobody.
const ofTeam = "EXISTS (SELECT 1 FROM requested_teams h JOIN teams t ON t.id = h.team_id" +
	" WHERE h.issue_id = p.issue_id AND t.secret = FALSE AND "

func (e AskedInTeam) sql(b *builder) string {
	return ofTeam + "EXISTS (SELECT 1 FROM team_members m WHERE m.team_id = t.id AND m.user_id = " + b.arg(e.User) +
		") AND " + account.InsideOrg(e.Caller, "t.org_id", b.arg) + ")"
}

func (e TeamAsked) sql(b *builder) string { return ofTeam + "t.id = " + b.arg(int64(e)) + ")" }

const ofReview = "EXISTS (SELECT 1 FROM reviews h WHERE h.issue_id = p.issue_id AND "

func (e ReviewedBy) sql(b *builder) string {
	return ofReview + "h.state <> 1 AND h.author_id = " + b.arg(account.ID(e)) + ")"
}

// latest is that no later review of the author says more than a comment.
const latest = " AND NOT EXISTS (SELECT 1 FROM reviews l WHERE l.issue_id = h.issue_id" +
	" AND l.author_id = h.author_id AND l.state IN (3, 4, 5)" +
	" AND (l.submitted_at > h.submitted_at OR l.submitted_at = h.submitted_at AND l.id > h.id)))"

func (e ReviewIs) sql(*builder) string {
	switch asksForChanges := ofReview + "h.state = 4" + latest; e {
	case Approved:
		return "(" + ofReview + "h.state = 3" + latest + " AND NOT " + asksForChanges + ")"
	case ChangesRequested:
		return asksForChanges
	}
	return ofReview + "h.state <> 1)"
}

func (e StatusIs) sql(*builder) string {
	ofHead := func(counts, checks string) string {
		return "(EXISTS (SELECT 1 FROM pulls h JOIN status_commits s ON s.repo_id = h.repo_id AND s.sha = h.head_sha" +
			" WHERE h.issue_id = p.issue_id AND " + counts +
			") OR EXISTS (SELECT 1 FROM pulls h JOIN check_suites s" +
			" ON s.repo_id = h.repo_id AND s.head_sha = h.head_sha WHERE h.issue_id = p.issue_id AND " +
			checks + "))"
	}
	failed := ofHead("s.failed > 0", "s.failing > 0")
	waits := ofHead("s.pending > 0", "s.waiting > 0")
	switch e {
	case StatusFailure:
		return failed
	case StatusPending:
		return "(" + waits + " AND NOT " + failed + ")"
	}
	return "(" + ofHead("s.contexts > 0", "s.runs > 0") + " AND NOT " + waits + " AND NOT " + failed + ")"
}

func (e LinkedTo) sql(b *builder) string {
	if e == LinkedIssue {
		return "EXISTS (SELECT 1 FROM pull_fixes h JOIN issues l ON l.repo_id = h.repo_id AND l.number = h.number" +
			" AND l.pull = FALSE WHERE h.pull_id = p.issue_id)"
	}
	b.issues = true
	return "(i.pull = FALSE AND EXISTS (SELECT 1 FROM pull_fixes h JOIN issues l ON l.id = h.pull_id" +
		" AND (l.state <> " + b.value(int64(issuekit.Closed)) + " OR l.merged_at IS NOT NULL)" +
		" WHERE h.repo_id = p.repo_id AND h.number = i.number))"
}

func (e InReason) sql(b *builder) string {
	b.issues = true
	return "i.state_reason = " + b.value(int64(e))
}
