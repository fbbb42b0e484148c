package notification

import (
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue/subscription"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// threadJSON is GitHub's thread.
type threadJSON struct {
	ID              string        `json:"id"`
	Repository      *repo.Payload `json:"repository"`
	Subject         subjectJSON   `json:"subject"`
	Reason          string        `json:"reason"`
	Unread          bool          `json:"unread"`
	UpdatedAt       db.Time       `json:"updated_at"`
	LastReadAt      *db.Time      `json:"last_read_at"`
	URL             string        `json:"url"`
	SubscriptionURL string        `json:"subscription_url"`
}

type subjectJSON struct {
	Title            string `json:"title"`
	URL              string `json:"url"`
	LatestCommentURL string `json:"latest_comment_url"`
	Type             string `json:"type"`
}

func threadURL(id int64, i *web.Info) string {
	return i.API(web.Path("notifications", "threads", strconv.FormatInt(id, 10)))
}

func newThread(t *Thread, a *repo.Access, i *web.Info) *threadJSON {
	out := &threadJSON{ID: strconv.FormatInt(t.ID, 10), Repository: repo.NewPayload(a, i),
		Reason: t.Reason.String(),
		Unread: t.Unread, UpdatedAt: t.UpdatedAt, URL: threadURL(t.ID, i), Subject: subjectOfThread(t, a, i)}
	out.SubscriptionURL = out.URL + "/subscription"
	if !t.ReadAt.IsZero() {
		out.LastReadAt = &t.ReadAt
	}
	return out
}

func subjectOfThread(t *Thread, a *repo.Access, i *web.Info) subjectJSON {
	s := subjectJSON{Title: t.Title}
	at := i.API(web.Path("repos", a.Owner.Login, a.Name))
	comments := at + "/issues/comments/"
	switch {
	case t.Pull:
		s.Type, s.URL = "PullRequest", at+"/pulls/"+strconv.FormatInt(t.Number, 10)
	case t.Issue != 0:
		s.Type, s.URL = "Issue", at+"/issues/"+strconv.FormatInt(t.Number, 10)
	case t.Release != 0:
		s.Type, s.URL = "Release", at+"/releases/"+strconv.FormatInt(t.Release, 10)
	default:
		s.Type, s.URL, comments = "Commit", at+"/commits/"+string(t.Commit), at+"/comments/"
	}
	s.LatestCommentURL = s.URL
	if t.Comment != 0 {
		s.LatestCommentURL = comments + strconv.FormatInt(t.Comment, 10)
	}
	return s
}

// subscriptionJSON is GitHub's thread-subscription.
type subscriptionJSON struct {
	Subscribed bool    `json:"subscribed"`
	Ignored    bool    `json:"ignored"`
	Reason     *string `json:"reason"`
	CreatedAt  db.Time `json:"created_at"` // null: no subscription
	URL        string  `json:"url"`
	ThreadURL  string  `json:"thread_url"`
}

func newSubscription(id int64, s subscription.Subscription, i *web.Info) *subscriptionJSON {
	out := &subscriptionJSON{Subscribed: s.Subscribed, Ignored: s.Ignored, CreatedAt: s.Since,
		ThreadURL: threadURL(id, i)}
	out.URL = out.ThreadURL + "/subscription"
	if s.Reason != "" {
		out.Reason = &s.Reason
	}
	return out
}
