package issue

import (
	"maps"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// loadReviewers reads how those who reviewed stand to their repositories.
func (p *eventPage) loadReviewers(tx *db.Tx) error {
	var ids []int64
	for _, e := range p.events {
		if e.Kind == EventReviewed {
			ids = append(ids, e.ActorID)
		}
	}
	return p.associate(tx, ids)
}

// associate reads how more people stand to the repositories of the page.
func (p *page) associate(tx *db.Tx, users []int64) error {
	if len(users) == 0 {
		return nil
	}
	more, err := associations(tx, p.repos, db.Unique(users))
	for k, s := range more {
		if p.roles == nil {
			p.roles = map[roleKey]string{}
		}
		p.roles[k] = s
	}
	return err
}

// loadReviews reads what the reviews among the events say, as it is now.
func (t *timeline) loadReviews(tx *db.Tx, forge Forge) (err error) {
	var ids []int64
	for _, e := range t.events.events {
		if e.Kind == EventReviewed && e.Detail.Review != nil {
			ids = append(ids, e.Detail.Review.ID)
		}
	}
	if len(ids) > 0 {
		t.said, err = forge.ReviewTexts(tx, ids)
	}
	return err
}

// prepareReviews prepares what the reviews say as the request asks for it.
func (t *timeline) prepareReviews(out *web.Output, s *Service, a *repo.Access) (err error) {
	ids := slices.Sorted(maps.Keys(t.said))
	list := make([]Source, len(ids))
	t.reviewAt = make(map[int64]int, len(ids))
	for n, id := range ids {
		text := t.said[id]
		list[n], t.reviewAt[id] = Source{Access: a, Body: &text}, n
	}
	t.reviews, err = s.Bodies(out, list)
	return err
}

// reviewOf is what the review of an event says: nothing, when it is gone.
func (t *timeline) reviewOf(e *Event) *Body {
	if n, ok := t.reviewAt[e.Detail.Review.ID]; ok {
		return t.reviews.At(n)
	}
	return &Body{raw: new(string), kind: t.events.info.Media.Kind}
}

// appendReviewed renders a review of a pull request as GitHub's timelines do
// (decision 28).
func (p *eventPage) appendReviewed(b []byte, e *Event, said *Body) []byte {
	d, at := e.Detail.Review, p.places[e.RepoID]
	pull := at.API + "/pulls/" + itoa(d.Number)
	html := at.Page + "/pull/" + itoa(d.Number) + "#pullrequestreview-" + itoa(d.ID)
	b = strconv.AppendInt(append(b, `{"id":`...), d.ID, 10)
	b = web.AppendString(append(b, `,"node_id":`...), account.NodeID("PullRequestReview", d.ID))
	b = append(append(b, `,"user":`...), p.user(e.ActorID)...)
	b = said.AppendJSON(b)
	b = web.AppendString(append(b, `,"state":`...), d.State)
	b = web.AppendString(append(b, `,"commit_id":`...), d.Commit)
	b = web.AppendString(append(b, `,"html_url":`...), html)
	b = web.AppendString(append(b, `,"pull_request_url":`...), pull)
	b = web.AppendString(append(b, `,"author_association":`...), p.associationOf(e.RepoID, e.ActorID))
	b = web.AppendString(append(b, `,"_links":{"html":{"href":`...), html)
	b = web.AppendString(append(b, `},"pull_request":{"href":`...), pull)
	b = e.CreatedAt.AppendJSON(append(b, `}},"submitted_at":`...))
	return append(b, `,"event":"reviewed"}`...)
}

func appendDismissed(b []byte, d *Review) []byte {
	if d == nil {
		return b
	}
	b = strconv.AppendInt(append(b, `,"dismissed_review":{"review_id":`...), d.ID, 10)
	b = web.AppendString(append(b, `,"state":`...), d.State)
	return append(appendText(append(b, `,"dismissal_message":`...), d.Message), '}')
}

// Associate reads how people stand to the repositories of the page, for
// Association: those who wrote something else than its issues.
func (g *Page) Associate(tx *db.Tx, users []int64) error { return g.p.associate(tx, users) }

// Read takes from new texts that are neither the issue's body nor comments of
// this package whom they mention and which issues they name.
func (c *Change) Read(list ...Text) error {
	var all Text
	logins, issues := map[string]bool{}, map[markdown.IssueRef]bool{}
	for _, t := range list {
		for _, l := range t.refs.Logins {
			if !logins[l] && len(logins) < maxTargets {
				logins[l] = true
				all.refs.Logins = append(all.refs.Logins, l)
			}
		}
		for _, i := range t.refs.Issues {
			if !issues[i] && len(issues) < maxTargets {
				issues[i] = true
				all.refs.Issues = append(all.refs.Issues, i)
			}
		}
	}
	return c.read(all, 0)
}
