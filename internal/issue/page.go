package issue

import (
	"context"
	"encoding/json"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/label"
	"arbor/internal/milestone"
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

// WithRepositories renders each issue with its repository, as lists across repositories
// show it.
func (g *Page) WithRepositories() { g.p.repository = map[repo.ID][]byte{} }

// Add puts issues on the page.
func (g *Page) Add(list ...*Issue) { g.p.issues = append(g.p.issues, list...) }

// Issues are those on the page.
func (g *Page) Issues() []*Issue { return g.p.issues }

// Enter reads the repositories of the issues, which the caller was found to see
// in the same transaction.
func (g *Page) Enter(tx *db.Tx, caller *account.Caller) error { return g.p.enter(tx, caller) }

// Load reads what the issues refer to, and other people whom the page shows.
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

// Bodies prepares the bodies of the page, after Load and outside a transaction.
// They are rendered while the page is.
func (g *Page) Bodies(out *web.Output, s *Service) error { return s.prepareBodies(out, g.p) }

// AppendIssue renders an issue of the page as the issues' routes do. Error: that of
// its body.
func (g *Page) AppendIssue(b []byte, i *Issue) ([]byte, error) { return g.p.appendIssue(b, i) }

// Issue is an issue of the page inside another payload.
func (g *Page) Issue(i *Issue) json.Marshaler { return nested{g.p, i} }

// User gives the simple form of an account that was loaded; nil of another one.
func (g *Page) User(id account.ID) *account.Simple { return g.p.simple(id) }

// Milestone gives the milestone of an issue; nil: it has none.
func (g *Page) Milestone(i *Issue) *milestone.Payload {
	return g.p.milestonePayload(g.p.places[i.RepoID], i.MilestoneID)
}

// Labels gives the labels of an issue.
func (g *Page) Labels(i *Issue) []*label.Payload {
	list := make([]*label.Payload, 0, len(i.Labels))
	for _, id := range i.Labels {
		if l := g.p.labels[id]; l != nil { // else it was deleted since
			list = append(list, label.NewPayload(l, g.p.places[i.RepoID]))
		}
	}
	return list
}

// Body gives the body of an issue, after Bodies.
func (g *Page) Body(i *Issue) (text.Payload, error) { return g.p.bodies.At(g.p.bodyAt[i.ID]) }

// Association tells how an author stands to a repository of the page.
func (g *Page) Association(repoID repo.ID, userID account.ID) string {
	return g.p.associationOf(repoID, userID)
}

// nested is an issue inside another payload.
type nested struct {
	page  *page
	issue *Issue
}

// MarshalJSON renders the issue as the issues' routes do.
func (n nested) MarshalJSON() ([]byte, error) {
	return n.page.appendIssue(make([]byte, 0, 6<<10), n.issue)
}

// simple gives the simple form of an account; nil of nobody.
func (p *page) simple(id account.ID) *account.Simple {
	if p.simples[id] == nil && p.people[id] != nil {
		p.simples[id] = account.NewSimple(p.people[id], p.info)
	}
	return p.simples[id]
}

// milestonePayload gives the milestone of an issue; nil: it has none.
func (p *page) milestonePayload(at *tracker.Place, id int64) *milestone.Payload {
	m := p.milestones[id]
	if m == nil {
		return nil
	}
	return milestone.NewPayload(m, p.people[m.CreatorID], at)
}
