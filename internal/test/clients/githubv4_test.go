//go:build long

package clients

import (
	"net/http"
	"testing"

	"github.com/shurcooL/githubv4"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// bearer signs requests with a token.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Go programs ask by GraphQL with githubv4, whose decoder takes no field that was not asked for.
func TestGitHubV4(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		for _, title := range []string{"Peas", "Beans", "Hops"} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
				Send: `{"title": "` + title + `", "labels": ["bug"]}`, Status: 201})
		}
		hub := githubv4.NewEnterpriseClient(s.URL+"/api/graphql",
			&http.Client{Transport: bearer(s.Token(t, "alice"))})
		var list struct {
			Viewer     struct{ Login githubv4.String }
			Repository struct {
				ID     githubv4.ID
				Issues struct {
					Nodes []struct {
						ID     githubv4.ID
						Title  githubv4.String
						State  githubv4.IssueState
						URL    githubv4.URI
						Labels struct {
							Nodes []struct{ Name githubv4.String }
						} `graphql:"labels(first: 5)"`
					}
					PageInfo struct {
						EndCursor   githubv4.String
						HasNextPage githubv4.Boolean
					}
				} `graphql:"issues(first: 2, after: $after, states: $states)"`
			} `graphql:"repository(owner: $owner, name: $name)"`
		}
		variables := map[string]any{"owner": githubv4.String("alice"), "name": githubv4.String("garden"),
			"after":  (*githubv4.String)(nil),
			"states": []githubv4.IssueState{githubv4.IssueStateOpen}}
		var titles []githubv4.String
		for more := true; more; {
			testkit.NoError(t, hub.Query(t.Context(), &list, variables))
			for _, i := range list.Repository.Issues.Nodes {
				titles = append(titles, i.Title)
			}
			variables["after"] = githubv4.NewString(list.Repository.Issues.PageInfo.EndCursor)
			more = bool(list.Repository.Issues.PageInfo.HasNextPage)
		}
		if len(titles) != 3 || titles[0] != "Peas" || list.Viewer.Login != "alice" {
			t.Errorf("%v by %s", titles, list.Viewer.Login)
		}
		var made struct {
			CreateIssue struct {
				Issue struct {
					Number githubv4.Int
					Title  githubv4.String
				}
			} `graphql:"createIssue(input: $input)"`
		}
		body := githubv4.String("They climb")
		input := githubv4.CreateIssueInput{RepositoryID: list.Repository.ID, Title: "Gourds", Body: &body}
		if err := hub.Mutate(t.Context(), &made, input, nil); err != nil ||
			made.CreateIssue.Issue.Number != 4 {
			t.Errorf("%+v, %v", made, err)
		}
		input.Title = ""
		if err := hub.Mutate(t.Context(), &made, input, nil); err == nil {
			t.Error("an issue without a title was made")
		}
	})
}
