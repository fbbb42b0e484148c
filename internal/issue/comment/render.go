package comment

import (
	"context"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// Page is a page of comments and all that their payloads show, read with a fixed number
// of queries.
type Page struct {
	people   *issue.Page // their authors, and how those stand to the repositories
	places   map[repo.ID]*tracker.Place
	accesses map[repo.ID]*repo.Access
	info     *web.Info
	comments []*Comment
	at       map[int64]int             // places in comments, by id
	rollups  map[int64]reaction.Rollup // by id
	// whether reactions are shown
	reactions bool
	bodies    *text.Page // in the order of comments
}

// NewPage makes an empty page. The accesses are all of one caller.
func NewPage(ctx context.Context, accesses ...*repo.Access) *Page {
	info := web.From(ctx)
	p := &Page{people: issue.NewPage(ctx, accesses...), info: info,
		reactions: info.Media.Preview(web.Reactions),
		places:    map[repo.ID]*tracker.Place{}, accesses: map[repo.ID]*repo.Access{}, at: map[int64]int{}}
	for _, a := range accesses {
		p.accesses[a.ID], p.places[a.ID] = a, tracker.NewPlace(p.info, a.Repo)
	}
	return p
}

// Load reads the comments of the ids, whose repositories the page knows, and what they
// refer to. They are best rendered in the order of the ids: their texts are parsed in it.
func (p *Page) Load(tx *db.Tx, ids []int64) error {
	list, err := byIDs(tx, ids)
	if err != nil {
		return err
	}
	place := make(map[int64]int, len(ids))
	for n, id := range ids {
		place[id] = n
	}
	slices.SortFunc(list, func(a, b *Comment) int { return place[a.ID] - place[b.ID] })
	return p.load(tx, list)
}

// load reads what the comments refer to.
func (p *Page) load(tx *db.Tx, list []*Comment) (err error) {
	p.comments = list
	var authors, pinners []account.ID
	var reacted []int64
	for n, c := range list {
		p.at[c.ID] = n
		authors = append(authors, c.AuthorID)
		if c.PinnedBy != 0 {
			pinners = append(pinners, c.PinnedBy)
		}
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	authors = db.Unique(authors)
	if err := p.people.Load(tx, db.Unique(append(pinners, authors...))...); err != nil {
		return err
	}
	if err := p.people.Associate(tx, authors); err != nil {
		return err
	}
	if p.reactions && len(reacted) > 0 {
		p.rollups, err = reaction.Rollups(tx, reaction.IssueComment, reacted)
	}
	return err
}

// Bodies prepares the comments' bodies, after Load and outside a transaction. They are
// rendered while the page is.
func (p *Page) Bodies(out *web.Output, issues *issue.Service) (err error) {
	p.bodies, err = issues.Bodies(out, p.sources())
	return err
}

// HTML is Bodies for views.
func (p *Page) HTML(ctx context.Context, issues *issue.Service) (err error) {
	p.bodies, err = issues.HTML(ctx, p.sources())
	return err
}

// sources are the texts of the comments.
func (p *Page) sources() []text.Source {
	list := make([]text.Source, len(p.comments))
	for n, c := range p.comments {
		list[n] = text.Source{Access: p.accesses[c.RepoID], Body: &c.Body}
	}
	return list
}

// Comment gives the payload of a comment of the page; nil where it is not there. Error:
// that of its body.
func (p *Page) Comment(id int64) (*Payload, error) {
	n, there := p.at[id]
	if !there {
		return nil, nil
	}
	return p.payload(n)
}

// renderOne makes what renders one comment, which find finds.
func (api *API) renderOne(a *repo.Access, find func(*db.Tx) (*Comment, error)) web.Render {
	return api.render(a, true, func(tx *db.Tx) ([]*Comment, error) {
		c, err := find(tx)
		return []*Comment{c}, err
	})
}

// renderList makes what renders a page of comments, which find finds.
func (api *API) renderList(a *repo.Access, find func(*db.Tx) ([]*Comment, error)) web.Render {
	return api.render(a, false, find)
}

// render makes what renders comments, read in one snapshot: an array or, alone, the only one.
func (api *API) render(a *repo.Access, alone bool, find func(*db.Tx) ([]*Comment, error)) web.Render {
	return func(out *web.Output) error {
		var p *Page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			p = NewPage(out.Context(), a)
			list, err := find(tx)
			if err != nil {
				return err
			}
			return p.load(tx, list)
		})
		if err != nil {
			return err
		}
		if err := p.Bodies(out, api.s.issues); err != nil {
			return err
		}
		out.Grow(2 << 10 * (len(p.comments) + 1))
		return out.Items(len(p.comments), alone, func(n int) (any, error) { return p.payload(n) })
	}
}

// Payload is GitHub's issue-comment (decision 28).
type Payload struct {
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	IssueURL    string          `json:"issue_url"`
	ID          int64           `json:"id"`
	NodeID      string          `json:"node_id"`
	User        *account.Simple `json:"user"`
	CreatedAt   db.Time         `json:"created_at"`
	UpdatedAt   db.Time         `json:"updated_at"`
	Association string          `json:"author_association"`
	text.Payload
	Reactions *reaction.Object `json:"reactions,omitzero"`
	App       *struct{}        `json:"performed_via_github_app"`
	Pin       *pinPayload      `json:"pin"`
}

// pinPayload says since when a comment is pinned, and by whom.
type pinPayload struct {
	At db.Time         `json:"pinned_at"`
	By *account.Simple `json:"pinned_by"`
}

// payload makes the payload of the n-th comment of the page. Error: that of its body.
func (p *Page) payload(n int) (*Payload, error) {
	c := p.comments[n]
	at, id, number := p.places[c.RepoID], strconv.FormatInt(c.ID, 10), strconv.FormatInt(c.Number, 10)
	body, err := p.bodies.At(n)
	out := &Payload{
		URL:      at.API + "/issues/comments/" + id,
		HTMLURL:  at.Page + tracker.PageSegment(c.Pull) + number + "#issuecomment-" + id,
		IssueURL: at.API + "/issues/" + number,
		ID:       c.ID, NodeID: account.NodeID("IssueComment", c.ID), User: p.people.User(c.AuthorID),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Association: p.people.Association(c.RepoID, c.AuthorID), Payload: body,
	}
	if c.PinnedBy != 0 {
		out.Pin = &pinPayload{c.PinnedAt, p.people.User(c.PinnedBy)}
	}
	if p.reactions {
		out.Reactions = &reaction.Object{URL: out.URL + "/reactions", Rollup: p.rollups[c.ID]}
	}
	return out, err
}
