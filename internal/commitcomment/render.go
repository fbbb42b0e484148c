package commitcomment

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Payload is GitHub's commit-comment.
type Payload struct {
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	ID          int64           `json:"id"`
	NodeID      string          `json:"node_id"`
	User        *account.Simple `json:"user"`
	Path        *string         `json:"path"`
	Position    *int64          `json:"position"`
	Line        *int64          `json:"line"`
	CommitID    git.SHA         `json:"commit_id"`
	CreatedAt   db.Time         `json:"created_at"`
	UpdatedAt   db.Time         `json:"updated_at"`
	Association string          `json:"author_association"`
	Hidden      issuekit.Hidden `json:"-"`
	text.Payload
	Reactions *reaction.Object `json:"reactions,omitzero"`
}

// Page is some comments and all that their payloads show, read with a fixed number of queries.
type Page struct {
	info    *web.Info
	list    []*Comment
	repos   map[repo.ID]*repo.Access
	people  *issue.Page // their authors, and how those stand to the repositories
	rollups map[int64]reaction.Rollup
	counts  bool // the reactions are shown
	bodies  *text.Page
}

// Load reads the comments of the ids, as far as they are in the repositories given, which are
// all of one caller, for what tells of them.
func Load(ctx context.Context, tx *db.Tx, accesses []*repo.Access, ids []int64) (*Page, error) {
	list, err := byIDs(tx, db.Unique(ids))
	if err != nil {
		return nil, err
	}
	return load(ctx, tx, accesses, list)
}

// load reads what the payloads of comments show. Reactions are shown to those who ask for that preview.
func load(ctx context.Context, tx *db.Tx, accesses []*repo.Access, list []*Comment) (*Page, error) {
	return loadWith(ctx, tx, accesses, list, web.From(ctx).Media.Preview(web.Reactions))
}

func loadWith(
	ctx context.Context, tx *db.Tx, accesses []*repo.Access, list []*Comment, reactions bool,
) (*Page, error) {
	p := &Page{info: web.From(ctx), repos: map[repo.ID]*repo.Access{},
		people: issue.NewPage(ctx, accesses...), counts: reactions}
	for _, a := range accesses {
		p.repos[a.ID] = a
	}
	var authors []account.ID
	var ids []int64
	for _, c := range list {
		if p.repos[c.RepoID] != nil {
			p.list, authors, ids = append(p.list, c), append(authors, c.AuthorID), append(ids, c.ID)
		}
	}
	authors = db.Unique(authors)
	err := p.people.Load(tx, authors...)
	if err == nil {
		err = p.people.Associate(tx, authors)
	}
	if err == nil && reactions {
		p.rollups, err = reaction.Rollups(tx, reaction.CommitComment, ids)
	}
	return p, err
}

// Bodies prepares the texts, outside a transaction.
func (p *Page) Bodies(out *web.Output, issues *issue.Service) (err error) {
	texts := make([]text.Source, len(p.list))
	for n, c := range p.list {
		texts[n] = text.Source{Access: p.repos[c.RepoID], Body: &c.Body}
	}
	p.bodies, err = issues.Bodies(out, texts)
	return err
}

// Comment returns the payload of the comment with an id; nil for one that was not loaded. Error:
// that of its text.
func (p *Page) Comment(id int64) (any, error) {
	for n, c := range p.list {
		if c.ID == id {
			return p.payload(n)
		}
	}
	return nil, nil
}

func (p *Page) payload(n int) (*Payload, error) {
	c := p.list[n]
	at, id := issuekit.NewAddresses(p.info, p.repos[c.RepoID].Repo), strconv.FormatInt(c.ID, 10)
	out := &Payload{
		URL:     at.API + "/comments/" + id,
		HTMLURL: at.Page + "/commit/" + string(c.SHA) + "#commitcomment-" + id,
		ID:      c.ID, NodeID: account.NodeID(Resource, c.ID), User: p.people.User(c.AuthorID),
		Path: c.Path, Position: c.Position, Line: c.Line, CommitID: c.SHA,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Association: p.people.Association(c.RepoID, c.AuthorID), Hidden: c.Hidden,
	}
	if p.counts {
		out.Reactions = &reaction.Object{URL: out.URL + "/reactions", Rollup: p.rollups[c.ID]}
	}
	var err error
	out.Payload, err = p.bodies.At(n)
	return out, err
}

// render returns the renderer of comments, read in one snapshot: an array or, alone, the only one.
func (api *API) render(a *repo.Access, alone bool, find func(*db.Tx) ([]*Comment, error)) web.Render {
	return func(out *web.Output) error {
		var p *Page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			list, err := find(tx)
			if err != nil {
				return err
			}
			p, err = load(out.Context(), tx, []*repo.Access{a}, list)
			return err
		})
		if err == nil {
			err = p.Bodies(out, api.s.issues)
		}
		if err != nil {
			return err
		}
		return out.Items(len(p.list), alone, func(n int) (any, error) { return p.payload(n) })
	}
}
