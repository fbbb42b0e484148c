package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// Page is a page of issues for packages whose payloads hold issues or parts of
// them: pull requests, search results. Read with a fixed number of queries,
// rendered without any.
type Page struct{ p *page }

// NewPage makes an empty page. The accesses are all of one caller.
func NewPage(ctx context.Context, accesses ...*repo.Access) *Page {
	return &Page{newPage(ctx, accesses...)}
}

// Full renders each issue in the form of one that is read on its own.
func (g *Page) Full() { g.p.full = true }

// Add puts issues on the page.
func (g *Page) Add(list ...*Issue) { g.p.issues = append(g.p.issues, list...) }

// Issues are those on the page.
func (g *Page) Issues() []*Issue { return g.p.issues }

// Enter reads the repositories of the issues, which the caller was found to see
// in the same transaction.
func (g *Page) Enter(tx *db.Tx, caller *account.Caller) error { return g.p.enter(tx, caller) }

// Know adds repositories whose issues are on the page, or that stand in it
// otherwise.
func (g *Page) Know(list ...*repo.Access) {
	for _, a := range list {
		g.p.repos[a.ID], g.p.places[a.ID] = a, tracker.NewPlace(g.p.info, a.Repo)
	}
}

// Load reads what the issues refer to, and other people whom the page shows.
func (g *Page) Load(tx *db.Tx, people ...int64) error {
	if err := g.p.load(tx); err != nil {
		return err
	}
	more, err := account.ByIDs(tx, people)
	for id, a := range more {
		g.p.people[id] = a
	}
	return err
}

// Bodies prepares the bodies of the page, after Load and outside a transaction.
// They are rendered while the page is; Err tells whether they were.
func (g *Page) Bodies(out *web.Output, s *Service) error { return s.prepareBodies(out, g.p) }

// Err is the first error of the rendering of bodies.
func (g *Page) Err() error { return g.p.bodies.Err() }

// AppendIssue renders an issue of the page as the issues' routes do.
func (g *Page) AppendIssue(b []byte, i *Issue) []byte { return g.p.appendIssue(b, i) }

// User gives the simple form of an account that was loaded, or null.
func (g *Page) User(id int64) []byte { return g.p.user(id) }

// Repository gives the payload of a repository of the page, or null.
func (g *Page) Repository(id int64) []byte {
	if g.p.repos[id] == nil {
		return []byte("null")
	}
	if g.p.repository == nil {
		g.p.repository = map[int64][]byte{}
	}
	return g.p.repositoryOf(id)
}

// Milestone gives the milestone of an issue, or null.
func (g *Page) Milestone(i *Issue) []byte {
	return g.p.milestoneOf(g.p.places[i.RepoID], i.MilestoneID)
}

// AppendLabels and AppendAssignees append members, each after a comma: labels;
// assignee, and with its preview assignees.
func (g *Page) AppendLabels(b []byte, i *Issue) []byte {
	return g.p.appendLabels(b, g.p.places[i.RepoID], i)
}

// AppendAssignees is described at AppendLabels.
func (g *Page) AppendAssignees(b []byte, i *Issue) []byte { return g.p.appendAssignees(b, i) }

// AppendBody appends the members of the representation, each after a comma.
func (g *Page) AppendBody(b []byte, i *Issue) []byte { return g.p.appendBody(b, i) }

// Association tells how an author stands to a repository of the page.
func (g *Page) Association(repoID, userID int64) string { return g.p.associationOf(repoID, userID) }

// CommentPage is a page of comments of several repositories, for packages whose
// payloads hold comments. Read with a fixed number of queries.
type CommentPage struct{ p *commentPage }

// NewCommentPage makes an empty page. The accesses are all of one caller.
func NewCommentPage(ctx context.Context, accesses ...*repo.Access) *CommentPage {
	return &CommentPage{&commentPage{page: newPage(ctx, accesses...)}}
}

// Load reads the comments of the ids, whose repositories the page knows, and
// what they refer to.
func (g *CommentPage) Load(tx *db.Tx, ids []int64) (err error) {
	if g.p.comments, err = commentsAcross(tx, ids); err != nil {
		return err
	}
	return g.p.load(tx)
}

// Bodies prepares the comments' bodies, as Page.Bodies does.
func (g *CommentPage) Bodies(out *web.Output, s *Service) error { return s.prepareComments(out, g.p) }

// Comment renders a comment of the page as the comments' routes do; nil where it
// is not there.
func (g *CommentPage) Comment(id int64) ([]byte, error) {
	for n, c := range g.p.comments {
		if c.ID == id {
			return g.p.appendComment(nil, n), g.p.bodies.Err()
		}
	}
	return nil, nil
}
