package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/markdown"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// loadReviewers reads how those who reviewed stand to their repositories.
func (p *eventPage) loadReviewers(tx *db.Tx) error {
	var ids []account.ID
	for _, e := range p.events {
		if e.Kind == EventReviewed {
			ids = append(ids, e.ActorID)
		}
	}
	return p.associate(tx, ids)
}

// associate reads how more people stand to the repositories of the page.
func (p *page) associate(tx *db.Tx, users []account.ID) error {
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

// prepareReviews prepares what the reviews say as the request asks for it: nothing,
// where one is gone.
func (t *timeline) prepareReviews(out *web.Output, s *Service, a *repo.Access) (err error) {
	var texts []text.Source
	t.reviewAt = map[int64]int{}
	for _, e := range t.events.events {
		if e.Kind == EventReviewed && e.Detail.Review != nil {
			said := t.said[e.Detail.Review.ID]
			t.reviewAt[e.Detail.Review.ID] = len(texts)
			texts = append(texts, text.Source{Access: a, Body: &said})
		}
	}
	t.reviews, err = s.Bodies(out, texts)
	return err
}

// reviewedPayload is GitHub's timeline-reviewed-event (decision 28).
type reviewedPayload struct {
	ID     int64           `json:"id"`
	NodeID string          `json:"node_id"`
	User   *account.Simple `json:"user"`
	text.Payload
	State       string      `json:"state"`
	Commit      string      `json:"commit_id"`
	HTMLURL     string      `json:"html_url"`
	PullURL     string      `json:"pull_request_url"`
	Association string      `json:"author_association"`
	Links       ReviewLinks `json:"_links"`
	SubmittedAt db.Time     `json:"submitted_at"`
	Event       string      `json:"event"`
}

// ReviewLinks are the links of a review.
type ReviewLinks struct {
	HTML tracker.Link `json:"html"`
	Pull tracker.Link `json:"pull_request"`
}

// reviewed makes the payload of a review of a pull request. Error: that of its body.
func (t *timeline) reviewed(e *Event) (*reviewedPayload, error) {
	p, d := t.events, e.Detail.Review
	at := p.places[e.RepoID]
	pull := at.API + "/pulls/" + itoa(d.Number)
	html := at.Page + "/pull/" + itoa(d.Number) + "#pullrequestreview-" + itoa(d.ID)
	body, err := t.reviews.At(t.reviewAt[d.ID])
	return &reviewedPayload{
		ID: d.ID, NodeID: account.NodeID("PullRequestReview", d.ID), User: p.simple(e.ActorID), Payload: body,
		State: d.State, Commit: d.Commit, HTMLURL: html, PullURL: pull,
		Association: p.associationOf(e.RepoID, e.ActorID),
		Links:       ReviewLinks{HTML: tracker.Link{Href: html}, Pull: tracker.Link{Href: pull}},
		SubmittedAt: e.CreatedAt, Event: e.Kind.String(),
	}, err
}

// Associate reads how people stand to the repositories of the page, for
// Association: those who wrote something else than its issues.
func (g *Page) Associate(tx *db.Tx, users []account.ID) error { return g.p.associate(tx, users) }

// Read takes from new texts that are neither the issue's body nor comments of
// this package whom they mention and which issues they name.
func (c *Change) Read(list ...Text) error {
	var all Text
	logins, issues := map[string]bool{}, map[markdown.IssueRef]bool{}
	for _, t := range list {
		for _, l := range t.refs.Logins {
			if !logins[l] && len(logins) < text.MaxTargets {
				logins[l] = true
				all.refs.Logins = append(all.refs.Logins, l)
			}
		}
		for _, i := range t.refs.Issues {
			if !issues[i] && len(issues) < text.MaxTargets {
				issues[i] = true
				all.refs.Issues = append(all.refs.Issues, i)
			}
		}
	}
	return c.read(all, 0)
}
