package timeline

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/web"
)

// loadReviews reads the current texts of the reviews among the events.
func (t *timeline) loadReviews(tx *db.Tx, from Reviews) (err error) {
	var ids []int64
	for _, e := range t.events.events {
		if e.Kind == issue.EventReviewed && e.Detail.Review != nil {
			ids = append(ids, e.Detail.Review.ID)
		}
	}
	if len(ids) > 0 {
		t.said, err = from.ReviewTexts(tx, ids)
	}
	return err
}

// prepareReviews renders the texts of the reviews in the requested media type. A deleted review has an
// empty text.
func (t *timeline) prepareReviews(out *web.Output, issues *issue.Service) (err error) {
	t.reviews, err = issues.Bodies(out, t.reviewSources())
	return err
}

// reviewSources returns the texts of the reviews.
func (t *timeline) reviewSources() (texts []text.Source) {
	t.reviewAt = map[int64]int{}
	for _, e := range t.events.events {
		if e.Kind == issue.EventReviewed && e.Detail.Review != nil {
			said := t.said[e.Detail.Review.ID]
			t.reviewAt[e.Detail.Review.ID] = len(texts)
			texts = append(texts, text.Source{Access: t.in[e.RepoID], Body: &said})
		}
	}
	return texts
}

// ReviewedPayload is GitHub's timeline-reviewed-event (decision 28).
type ReviewedPayload struct {
	ID     int64           `json:"id"`
	NodeID string          `json:"node_id"`
	User   *account.Simple `json:"user"`
	text.Payload
	State       string               `json:"state"`
	Commit      string               `json:"commit_id"`
	HTMLURL     string               `json:"html_url"`
	PullURL     string               `json:"pull_request_url"`
	Association string               `json:"author_association"`
	Links       issuekit.ReviewLinks `json:"_links"`
	SubmittedAt db.Time              `json:"submitted_at"`
	Event       string               `json:"event"`
}

// reviewed returns the payload of a review. It returns an error if the body cannot be rendered.
func (t *timeline) reviewed(e *issue.Event) (*ReviewedPayload, error) {
	p, d := t.events, e.Detail.Review
	number := strconv.FormatInt(d.Number, 10)
	pull := p.at[e.RepoID].API + "/pulls/" + number
	html := p.at[e.RepoID].Page + "/pull/" + number + "#pullrequestreview-" + strconv.FormatInt(d.ID, 10)
	body, err := t.reviews.At(t.reviewAt[d.ID])
	return &ReviewedPayload{
		ID: d.ID, NodeID: account.NodeID("PullRequestReview", d.ID), User: p.User(e.ActorID), Payload: body,
		State: d.State, Commit: d.Commit, HTMLURL: html, PullURL: pull,
		Association: p.Association(e.RepoID, e.ActorID),
		Links:       issuekit.ReviewLinks{HTML: issuekit.Link{Href: html}, Pull: issuekit.Link{Href: pull}},
		SubmittedAt: e.CreatedAt, Event: e.Kind.String(),
	}, err
}
