package issue

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// View is an issue and everything that it refers to, as visible to the caller of Access. Pages and GraphQL show it.
type View struct {
	*Issue
	Access      *repo.Access // of its repository
	Author      *account.Account
	Labels      []*label.Label
	Assignees   []*account.Account
	Milestone   *milestone.Milestone // nil: none
	MilestoneBy *account.Account     // who made the milestone; nil: unknown
	Association string               // of the author
	Reactions   reaction.Rollup
	HTML        string       // the sanitized body; empty in lists
	Texts       text.Payload // the body in the forms that GraphQL asked for
}

// Get reads an issue or a pull request's issue and everything that it refers to. Errors: those of
// EnabledByNumber.
func (s *Service) Get(ctx context.Context, a *repo.Access, number int64) (*View, error) {
	p, err := s.readViews(ctx, a, func(tx *db.Tx) ([]*Issue, error) {
		i, err := EnabledByNumber(tx, a, number)
		return []*Issue{i}, err
	})
	if err != nil {
		return nil, err
	}
	v := p.view(p.issues[0])
	return v, s.Render(ctx, v)
}

// Render renders the text of a view that was read without it.
func (s *Service) Render(ctx context.Context, v *View) error {
	texts, err := s.HTML(ctx, []text.Source{{Access: v.Access, Body: v.Body}})
	if err == nil {
		v.HTML, err = texts.HTML(0)
	}
	return err
}

// Pinned reads the open pinned issues, without their texts. Error: 410.
func (s *Service) Pinned(ctx context.Context, a *repo.Access) ([]*View, error) {
	if err := Enabled(a.Repo, nil); err != nil {
		return nil, err
	}
	p, err := s.readViews(ctx, a, func(tx *db.Tx) ([]*Issue, error) {
		list, err := PinnedIn(tx, a.ID)
		return slices.DeleteFunc(list, func(i *Issue) bool { return i.State == Closed }), err
	})
	if err != nil {
		return nil, err
	}
	list := make([]*View, len(p.issues))
	for n, i := range p.issues {
		list[n] = p.view(i)
	}
	return list, nil
}

// Pins returns the pinned issues of repositories, open and closed. Those with issues switched off have none.
func (s *Service) Pins(ctx context.Context, list []*repo.Access) (found map[repo.ID][]Pin, err error) {
	var ids []repo.ID
	for _, a := range list {
		if Enabled(a.Repo, nil) == nil {
			ids = append(ids, a.ID)
		}
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID][]Pin, error) { return pinsIn(tx, ids) })
}

// readViews reads the issues that find returns and everything that they refer to, from one snapshot.
func (s *Service) readViews(
	ctx context.Context, a *repo.Access, find func(*db.Tx) ([]*Issue, error),
) (p *page, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		p = newPage(ctx, a)
		p.reactions = true
		if p.issues, err = find(tx); err != nil {
			return err
		}
		return p.load(tx)
	})
	return p, err
}

// View returns an issue of the page and everything that it refers to, without its text. Load must be called
// before; after Enter alone the view has only the repository.
func (g *Page) View(i *Issue) *View { return g.p.view(i) }

// Shown is View with the texts. Bodies must be called before. It returns an error if the body cannot be rendered.
func (g *Page) Shown(i *Issue) (v *View, err error) {
	v = g.p.view(i)
	v.Texts, err = g.Body(i)
	return v, err
}

// Account returns a loaded account, or nil.
func (g *Page) Account(id account.ID) *account.Account { return g.p.people[id] }

func (p *page) view(i *Issue) *View {
	v := &View{Issue: i, Access: p.repos[i.RepoID], Author: p.people[i.AuthorID],
		Milestone: p.milestones[i.MilestoneID], Association: p.association(i), Reactions: p.rollups[i.ID]}
	if v.Milestone != nil {
		v.MilestoneBy = p.people[v.Milestone.CreatorID]
	}
	for _, id := range i.Labels {
		if l := p.labels[id]; l != nil { // else it was deleted
			v.Labels = append(v.Labels, l)
		}
	}
	for _, id := range i.Assignees {
		if u := p.people[id]; u != nil {
			v.Assignees = append(v.Assignees, u)
		}
	}
	return v
}

// HTML renders texts for a page. Errors: those of [text.Renderer.HTMLPage].
func (s *Service) HTML(ctx context.Context, list []text.Source) (*text.Page, error) {
	return s.texts.HTMLPage(ctx, list)
}
