package issue

import (
	"context"
	"encoding/json"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Page is a page of issues for packages whose payloads include issues or parts of them, such as pull
// requests and search results. It is loaded with a fixed number of queries and rendered without any.
type Page struct{ p *page }

// NewPage returns an empty page. All accesses must have the same caller.
func NewPage(ctx context.Context, accesses ...*repo.Access) *Page {
	return &Page{newPage(ctx, accesses...)}
}

// Full renders each issue in the form of GET /repos/{owner}/{repo}/issues/{number}.
func (g *Page) Full() { g.p.full = true }

// WithReactions loads the reactions to each issue, whatever the request accepts.
func (g *Page) WithReactions() { g.p.reactions = true }

// WithRepositories renders each issue with its repository, as lists of several repositories do.
func (g *Page) WithRepositories() { g.p.repository = map[repo.ID][]byte{} }

// Add adds issues to the page.
func (g *Page) Add(list ...*Issue) { g.p.issues = append(g.p.issues, list...) }

// Issues returns the issues of the page.
func (g *Page) Issues() []*Issue { return g.p.issues }

// Enter reads the repositories of the issues. The same transaction must have found them to be visible to
// the caller.
func (g *Page) Enter(tx *db.Tx, caller *account.Caller) error { return g.p.enter(tx, caller) }

// Load reads everything that the issues refer to, and other people that the page shows.
func (g *Page) Load(tx *db.Tx, people ...account.ID) error {
	if err := g.p.load(tx); err != nil {
		return err
	}
	people = slices.DeleteFunc(slices.Clone(people), func(id account.ID) bool {
		return g.p.people[id] != nil
	})
	more, err := account.ByIDs(tx, people)
	for id, a := range more {
		g.p.people[id] = a
	}
	return err
}

// Bodies renders the bodies of the issues. It must be called after Load, outside a transaction.
func (g *Page) Bodies(out *web.Output, s *Service) error { return s.prepareBodies(out, g.p) }

// AppendIssue appends the JSON of an issue, as the issue endpoints return it. It returns an error if the
// body cannot be rendered.
func (g *Page) AppendIssue(b []byte, i *Issue) ([]byte, error) { return g.p.appendIssue(b, i) }

// Issue returns an issue of the page as part of another payload.
func (g *Page) Issue(i *Issue) json.Marshaler { return nested{g.p, i} }

// User returns the simple form of a loaded account, or nil.
func (g *Page) User(id account.ID) *account.Simple { return g.p.simple(id) }

// Milestone returns the milestone of an issue, or nil.
func (g *Page) Milestone(i *Issue) *milestone.Payload {
	return g.p.milestonePayload(g.p.places[i.RepoID], i.MilestoneID)
}

// Labels returns the labels of an issue.
func (g *Page) Labels(i *Issue) []*label.Payload {
	list := make([]*label.Payload, 0, len(i.Labels))
	for _, id := range i.Labels {
		if l := g.p.labels[id]; l != nil { // else it was deleted
			list = append(list, label.NewPayload(l, g.p.places[i.RepoID]))
		}
	}
	return list
}

// Body returns the body of an issue. Bodies must be called before.
func (g *Page) Body(i *Issue) (text.Payload, error) { return g.p.bodies.At(g.p.bodyAt[i.ID]) }

// Association returns the association of an author with a repository of the page.
func (g *Page) Association(repoID repo.ID, userID account.ID) string {
	return g.p.associationOf(repoID, userID)
}

// nested is an issue in another payload.
type nested struct {
	page  *page
	issue *Issue
}

// MarshalJSON implements json.Marshaler.
func (n nested) MarshalJSON() ([]byte, error) {
	return n.page.appendIssue(make([]byte, 0, 6<<10), n.issue)
}

// simple returns the simple form of a loaded account, or nil.
func (p *page) simple(id account.ID) *account.Simple {
	if p.simples[id] == nil && p.people[id] != nil {
		p.simples[id] = account.NewSimple(p.people[id], p.info)
	}
	return p.simples[id]
}

// milestonePayload returns the milestone of an issue, or nil.
func (p *page) milestonePayload(at *issuekit.Addresses, id int64) *milestone.Payload {
	m := p.milestones[id]
	if m == nil {
		return nil
	}
	return milestone.NewPayload(m, p.people[m.CreatorID], at)
}
