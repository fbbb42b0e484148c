package timeline

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// Entry is a comment or event of a timeline and everything that it refers to, as visible to the caller.
// Pages show it.
type Entry struct {
	Comment *comment.View // nil for an event
	Event   *issue.Event  // nil for a comment
	Actor   *account.Account
	User    *account.Account // the other user of the event, or nil
	Source  *issue.View      // of EventCrossReferenced: the referring issue
	Review  *ReviewText      // of EventReviewed
	Team    *team.Team       // whose review is requested; nil: none, or the caller does not see it
}

// ReviewText is the current text of a submitted review.
type ReviewText struct {
	Text        string
	HTML        string // sanitized
	Association string // of the review's author
}

// Part reads a page of a timeline, oldest first. more reports whether later entries exist. Errors: 404,
// 410, 422 for a page beyond the first 5,000 entries.
func (s *Service) Part(
	ctx context.Context, a *repo.Access, number int64, at web.Page,
) (list []*Entry, more bool, err error) {
	var total int64
	list, err = s.entries(ctx, a, number, func(tx *db.Tx, i *issue.Issue) (found []entry, err error) {
		if err := checkDeep(at); err != nil {
			return nil, err
		}
		found, total, err = timelineOf(tx, a, i, at)
		return found, err
	})
	return list, at.Offset()+int64(len(list)) < total, err
}

// entries reads everything that the entries returned by find refer to, with a fixed number of queries.
func (s *Service) entries(
	ctx context.Context, a *repo.Access, number int64,
	find func(tx *db.Tx, i *issue.Issue) ([]entry, error),
) ([]*Entry, error) {
	var t *timeline
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		i, err := issue.EnabledByNumber(tx, a, number)
		if err != nil {
			return err
		}
		found, err := find(tx, i)
		if err != nil {
			return err
		}
		t = &timeline{entries: found, comments: comment.NewViewPage(ctx, a)}
		return t.read(ctx, tx, map[repo.ID]*repo.Access{a.ID: a}, s.reviews)
	})
	if err == nil {
		err = t.comments.HTML(ctx, s.issues)
	}
	if err == nil {
		t.reviews, err = s.issues.HTML(ctx, t.reviewSources())
	}
	if err != nil {
		return nil, err
	}
	list := make([]*Entry, len(t.entries))
	for n, e := range t.entries {
		if list[n], err = t.view(e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// view returns the view of an entry. It returns an error if its text cannot be rendered.
func (t *timeline) view(e entry) (out *Entry, err error) {
	out = &Entry{}
	if e.comment {
		out.Comment, err = t.comments.View(e.id)
		return out, err
	}
	event, p := t.eventAt[e.id], t.events
	out.Event, out.Actor, out.User = event, p.Account(event.ActorID), p.Account(event.UserID)
	if p.in[event.RepoID].Insider() {
		out.Team = p.teams[event.Detail.Team]
	}
	if i := p.byID[event.SourceID]; event.Kind == issue.EventCrossReferenced && i != nil {
		out.Source = p.View(i)
	}
	if d := event.Detail.Review; event.Kind == issue.EventReviewed && d != nil {
		out.Review = &ReviewText{Text: t.said[d.ID], Association: p.Association(event.RepoID, event.ActorID)}
		out.Review.HTML, err = t.reviews.HTML(t.reviewAt[d.ID])
	}
	return out, err
}
