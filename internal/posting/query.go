package posting

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Query chooses issues and orders them.
type Query struct {
	Repos []Repo // where to look, each once
	Many  *Scope // instead of Repos, where they are too many to be named
	Where Expr
	Order Order
}

// Repo is a repository that a query looks in.
type Repo struct {
	ID        repo.ID
	IssuesOff bool // its issues are switched off: only pull requests are there (decision 16)

	// Fields for conditions on repositories; zero if a query has none.
	Owner             account.ID
	Private, Archived bool
}

// Scope is a SELECT of the ids of repositories. Its placeholders begin with $1.
type Scope struct {
	SQL  string
	Args []any
}

// Sort is the order of a list. Ties are broken by id (decision 24).
type Sort uint8

// The orders. Ids grow as issues are made, so the order of creation is theirs.
// Score orders by how well the words match.
const (
	Created Sort = iota
	Updated
	Comments
	Score
)

// Order is a sort and a direction.
type Order struct {
	Sort Sort
	Asc  bool
}

// Found is a page of what a query finds.
type Found struct {
	IDs    []int64
	Scores []int64 // of each id, where words were looked for
	Total  int64   // on all pages
}

// Expr is a condition on an issue: one of the types below.
type Expr interface{ condition() }

// And holds where each of its conditions does; an empty one always.
type And []Expr

// Or holds where one of its conditions does; an empty one never.
type Or []Expr

// Not holds where its condition does not.
type Not struct{ Expr Expr }

// Has matches issues with a property of the kind and one of the values.
type Has struct {
	Kind   Kind
	Values []int64
}

// Named matches issues with a label or milestone of one of the names: label.Fold of a label, account.Fold
// of a milestone's title.
type Named struct {
	Kind  Kind // ByLabel or ByMilestone
	Names []string
}

// InState matches issues in the state.
type InState issuekit.State

// In matches issues of the repositories.
type In []repo.ID

// IssuesOn matches issues of repositories with issues enabled.
type IssuesOn struct{}

// Between matches From <= field < To. It does not match a missing value. The limits of int64 mean
// unbounded.
type Between struct {
	Field    Field
	From, To int64
}

// Since matches issues updated at or after a time.
func Since(t db.Time) Between { return Between{UpdatedAt, int64(t), noBound} }

// Field is a number of an issue, or a time in microseconds.
type Field uint8

// The fields of Between.
const (
	UpdatedAt Field = iota
	CommentCount
	CreatedAt
	ClosedAt
	MergedAt
)

// Is matches issues with a flag.
type Is uint8

// The flags of Is.
const (
	Locked Is = iota
	Draft
)

// CommentedBy matches issues with a comment by the account.
type CommentedBy account.ID

// Text matches words. In the And at the top of a query it also gives each issue a score.
type Text struct {
	Terms []string // each is fulltext.Searchable; at least one
	Any   bool     // one of them is enough
	In    fulltext.Part
}

// OfRepo matches issues in the repositories, or in any repository of the owners.
type OfRepo struct {
	Repos  []repo.ID
	Owners []account.ID
}

// RepoIs matches issues of repositories of a kind.
type RepoIs uint8

// The kinds of repositories.
const (
	Private RepoIs = iota
	Archived
)

func (And) condition()         {}
func (Or) condition()          {}
func (Not) condition()         {}
func (Has) condition()         {}
func (Named) condition()       {}
func (InState) condition()     {}
func (In) condition()          {}
func (IssuesOn) condition()    {}
func (Between) condition()     {}
func (Is) condition()          {}
func (CommentedBy) condition() {}
func (Text) condition()        {}
func (OfRepo) condition()      {}
func (RepoIs) condition()      {}

// HasOne matches one property.
func HasOne(p Property) Has { return Has{p.Kind, []int64{p.Value}} }

// HasUser matches a property with one of the accounts.
func HasUser(k Kind, ids []account.ID) Has {
	has := Has{Kind: k}
	for _, id := range ids {
		has.Values = append(has.Values, int64(id))
	}
	return has
}
