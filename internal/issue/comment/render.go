package comment

import (
	"context"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Page is a page of comments and everything that their payloads show. It is loaded with a fixed number of
// queries.
type Page struct {
	people   *issue.Page // authors and their associations
	places   map[repo.ID]*issuekit.Addresses
	accesses map[repo.ID]*repo.Access
	info     *web.Info
	comments []*Comment
	at       map[int64]int             // indexes in comments, by id
	rollups  map[int64]reaction.Rollup // by id
	// include reactions
	reactions bool
	bodies    *text.Page // in the order of comments
}

// NewPage returns an empty page. All accesses must have the same caller.
func NewPage(ctx context.Context, accesses ...*repo.Access) *Page {
	info := web.From(ctx)
	p := &Page{people: issue.NewPage(ctx, accesses...), info: info,
		reactions: info.Media.Preview(web.Reactions),
		places:    map[repo.ID]*issuekit.Addresses{}, accesses: map[repo.ID]*repo.Access{}, at: map[int64]int{}}
	for _, a := range accesses {
		p.accesses[a.ID], p.places[a.ID] = a, issuekit.NewAddresses(p.info, a.Repo)
	}
	return p
}

// Load reads comments by id and everything that they refer to. The page must have their repositories.
// Rendering is fastest in the order of the ids, in which the texts are parsed.
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

// load reads everything that the comments refer to.
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

// Bodies renders the texts of the comments. It must be called after Load, outside a transaction.
func (p *Page) Bodies(out *web.Output, issues *issue.Service) (err error) {
	p.bodies, err = issues.Bodies(out, p.sources())
	return err
}

// HTML is like Bodies, for views.
func (p *Page) HTML(ctx context.Context, issues *issue.Service) (err error) {
	p.bodies, err = issues.HTML(ctx, p.sources())
	return err
}

// sources returns the texts of the comments.
func (p *Page) sources() []text.Source {
	list := make([]text.Source, len(p.comments))
	for n, c := range p.comments {
		list[n] = text.Source{Access: p.accesses[c.RepoID], Body: &c.Body}
	}
	return list
}

// Comment returns the payload of a comment of the page, or nil. It returns an error if the body cannot be
// rendered.
func (p *Page) Comment(id int64) (*Payload, error) {
	n, there := p.at[id]
	if !there {
		return nil, nil
	}
	return p.payload(n)
}

// renderOne renders the comment that find reads, from one snapshot.
func (api *API) renderOne(out *web.Output, a *repo.Access, find func(*db.Tx) (*Comment, error)) error {
	return api.render(out, a, true, func(tx *db.Tx) ([]*Comment, error) {
		c, err := find(tx)
		return []*Comment{c}, err
	})
}

// render renders the comments that find reads, from one snapshot: an array, or the only one if alone is true.
func (api *API) render(
	out *web.Output, a *repo.Access, alone bool, find func(*db.Tx) ([]*Comment, error),
) error {
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

// Payload is GitHub's issue-comment (decision 28).
type Payload struct {
	Number      int64           `json:"-"` // of the issue
	Hidden      issuekit.Hidden `json:"-"`
	ByMail      bool            `json:"-"`
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

// pinPayload is the member pin of a pinned comment.
type pinPayload struct {
	At db.Time         `json:"pinned_at"`
	By *account.Simple `json:"pinned_by"`
}

// payload returns the payload of the n-th comment of the page. It returns an error if the body cannot be
// rendered.
func (p *Page) payload(n int) (*Payload, error) {
	c := p.comments[n]
	at, id, number := p.places[c.RepoID], strconv.FormatInt(c.ID, 10), strconv.FormatInt(c.Number, 10)
	body, err := p.bodies.At(n)
	out := &Payload{
		Number:   c.Number,
		Hidden:   c.Hidden,
		ByMail:   c.ByMail,
		URL:      at.API + "/issues/comments/" + id,
		HTMLURL:  at.Page + issuekit.PageSegment(c.Pull) + number + "#issuecomment-" + id,
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
