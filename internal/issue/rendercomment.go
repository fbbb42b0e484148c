package issue

import (
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// commentPage is a page of comments of one repository and all that their
// payloads show, read with a fixed number of queries.
type commentPage struct {
	*page
	comments []*Comment
	bodies   *Bodies // in the order of comments
}

// load reads what the comments refer to.
func (p *commentPage) load(tx *db.Tx) (err error) {
	var authors, reacted []int64
	for _, c := range p.comments {
		authors = append(authors, c.AuthorID)
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	authors = db.Unique(authors)
	if p.people, err = account.ByIDs(tx, authors); err != nil {
		return err
	}
	if p.roles, err = associations(tx, p.repos, authors); err != nil {
		return err
	}
	if p.info.Media.Preview(web.Reactions) && len(reacted) > 0 {
		p.rollups, err = reaction.Rollups(tx, reaction.IssueComment, reacted)
	}
	return err
}

// prepareComments prepares the bodies of a page of comments.
func (s *Service) prepareComments(out *web.Output, p *commentPage) (err error) {
	list := make([]Source, len(p.comments))
	for n, c := range p.comments {
		list[n] = Source{p.repos[c.RepoID], &c.Body}
	}
	p.bodies, err = s.Bodies(out, list)
	return err
}

// commentRendering is rendering for comments.
func (api *API) commentRendering(a *repo.Access, find func(*db.Tx) ([]*Comment, error), f form) web.Render {
	return func(out *web.Output) error {
		var p *commentPage
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			p = &commentPage{page: newPage(out.Context(), a)}
			if p.comments, err = find(tx); err != nil {
				return err
			}
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		if err := api.s.prepareComments(out, p); err != nil {
			return err
		}
		size := 2
		for _, c := range p.comments {
			size += 2<<10 + 3*len(c.Body)
		}
		out.Grow(min(size, web.MaxHeld))
		if f == single {
			out.Buf = p.appendComment(out.Buf, 0)
			return p.bodies.Err()
		}
		return p.write(out)
	}
}

// write renders the page as an array.
func (p *commentPage) write(out *web.Output) error {
	out.Buf = append(out.Buf, '[')
	for n := range p.comments {
		if n > 0 {
			out.Buf = append(out.Buf, ',')
		}
		out.Buf = p.appendComment(out.Buf, n)
		if err := errors.Join(p.bodies.Err(), out.Next()); err != nil {
			return err
		}
	}
	out.Buf = append(out.Buf, ']')
	return nil
}

// appendComment renders the n-th comment of the page as GitHub's v3 does
// (decision 28).
func (p *commentPage) appendComment(b []byte, n int) []byte {
	return append(p.appendMembers(append(b, '{'), n), '}')
}

// appendMembers appends what stands between the braces of a comment.
func (p *commentPage) appendMembers(b []byte, n int) []byte {
	c := p.comments[n]
	at := p.places[c.RepoID]
	var idBuf, numberBuf [20]byte
	id := strconv.AppendInt(idBuf[:0], c.ID, 10)
	number := strconv.AppendInt(numberBuf[:0], c.Number, 10)
	b = append(append(append(b, `"url":"`...), at.API...), `/issues/comments/`...)
	b = append(append(b, id...), `","html_url":"`...)
	b = append(append(b, at.Page...), pageSegment(&Issue{Pull: c.Pull})...)
	b = append(append(b, number...), `#issuecomment-`...)
	b = append(append(b, id...), `","issue_url":"`...)
	b = append(append(append(b, at.API...), `/issues/`...), number...)
	b = append(append(b, `","id":`...), id...)
	b = append(append(b, `,"node_id":"`...), account.NodeID("IssueComment", c.ID)...)
	b = append(append(b, `","user":`...), p.user(c.AuthorID)...)
	b = c.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = c.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	b = append(append(b, `,"author_association":"`...), p.associationOf(c.RepoID, c.AuthorID)...)
	b = p.bodies.At(n).AppendJSON(append(b, '"'))
	if p.info.Media.Preview(web.Reactions) {
		b = p.rollups[c.ID].AppendJSON(append(b, `,"reactions":`...), at.API+"/issues/comments/"+string(id)+"/reactions")
	}
	return append(b, `,"performed_via_github_app":null`...)
}
