//go:build long

package clients

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"arbor/internal/test/testkit"

	"github.com/google/go-github/v89/github"
)

// hooks tell a program that receives them with go-github of what happens: it takes their signatures and their
// types.
func hooks(t *testing.T, h *hub) {
	tracker(t, h)
	ctx, alice := t.Context(), h.as(t, "alice")
	got[*github.RepositoryContentResponse](t)(alice.Repositories.CreateFile(ctx, "garden",
		"plot", "README.md", &github.RepositoryContentFileOptions{Message: github.Ptr("Begin"),
			Content: []byte("Peas")}))
	told := make(chan any, 100)
	secret := []byte("pêas")
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, err := github.ValidatePayload(r, secret)
		if err != nil {
			t.Errorf("the signature: %v", err)
		}
		event, err := github.ParseWebHook(github.WebHookType(r), payload)
		if err != nil {
			t.Errorf("%s: %v", payload, err)
		}
		_, _ = io.WriteString(w, "thanks")
		told <- event
	}))
	t.Cleanup(receiver.Close)
	config := &github.HookConfig{URL: &receiver.URL, ContentType: github.Ptr("form"),
		Secret: github.Ptr(string(secret))}
	hook := got[*github.Hook](t)(alice.Repositories.CreateHook(ctx, "garden", "plot",
		&github.Hook{Config: config, Events: []string{"issues", "commit_comment", "repository_dispatch"}}))
	equal(t, "the ping's hook", next[*github.PingEvent](t, told).GetHookID(), hook.GetID())
	made := got[*github.Issue](t)(alice.Issues.Create(ctx, "garden", "plot",
		&github.IssueRequest{Title: github.Ptr("Slugs")}))
	opened := next[*github.IssuesEvent](t, told)
	equal(t, "the action", opened.GetAction(), "opened")
	equal(t, "the issue", opened.GetIssue().GetNumber(), made.GetNumber())
	equal(t, "where", opened.GetRepo().GetFullName(), "garden/plot")
	got[*github.Repository](t)(alice.Repositories.Dispatch(ctx, "garden", "plot",
		github.DispatchRequestOptions{EventType: "sow"}))
	equal(t, "what was dispatched", next[*github.RepositoryDispatchEvent](t, told).GetAction(), "sow")
	got[*github.RepositoryComment](t)(alice.Repositories.CreateComment(ctx, "garden", "plot", "main",
		&github.RepositoryComment{Body: github.Ptr("Why?")}))
	equal(t, "the comment", next[*github.CommitCommentEvent](t, told).GetComment().GetBody(), "Why?")
	deliveries(t, alice, hook.GetID())
	next[*github.CommitCommentEvent](t, told) // the redelivery
	organization := got[*github.Hook](t)(alice.Organizations.CreateHook(ctx, "garden", &github.Hook{
		Name: github.Ptr("web"), Config: config, Events: []string{"organization"}}))
	equal(t, "the organization's hook", next[*github.PingEvent](t, told).GetHookID(), organization.GetID())
	got[*github.Membership](t)(alice.Organizations.EditOrgMembership(ctx, "will", "garden",
		&github.Membership{Role: github.Ptr("member")}))
	joined := next[*github.OrganizationEvent](t, told)
	equal(t, "who joined", joined.GetAction()+" "+joined.GetMembership().GetUser().GetLogin(),
		"member_added will")
}

// deliveries are read page by page, and the newest is sent once more.
func deliveries(t *testing.T, alice *github.Client, hook int64) {
	var all []*github.HookDelivery
	for end := time.Now().Add(testkit.Patience); len(all) < 4 &&
		time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		all = deliveryPages(t, alice, hook) // the last one is noted when its answer was read
	}
	var events string
	for _, d := range all {
		events += d.GetEvent() + " "
	}
	equal(t, "the deliveries", events, "commit_comment repository_dispatch issues ping ")
	_, _, err := alice.Repositories.RedeliverHookDelivery(t.Context(), "garden", "plot", hook, all[0].GetID())
	if _, accepted := err.(*github.AcceptedError); err != nil && !accepted {
		t.Fatal(err)
	}
}

// deliveryPages reads the list by its cursors.
func deliveryPages(t *testing.T, alice *github.Client, hook int64) (all []*github.HookDelivery) {
	for page := (&github.ListCursorOptions{PerPage: 3}); ; {
		list, answer, err := alice.Repositories.ListHookDeliveries(t.Context(), "garden", "plot", hook, page)
		testkit.NoError(t, err)
		if all = append(all, list...); answer.Cursor == "" {
			return all
		}
		page.Cursor = answer.Cursor
	}
}

// next returns the next event that a receiver gets.
func next[T any](t *testing.T, told <-chan any) (event T) {
	t.Helper()
	select {
	case e := <-told:
		found, ok := e.(T)
		if !ok {
			t.Fatalf("a hook was told of %T, want %T", e, event)
		}
		return found
	case <-time.After(testkit.Patience):
		t.Fatalf("no hook was told of %T", event)
	}
	return event
}
