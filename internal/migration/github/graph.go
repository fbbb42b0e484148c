package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// conversations asks for the pins of issues, and for the conversations of a page of pull requests.
const conversations = `query($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    issues { totalCount }
    pinnedIssues(first: 10) { nodes { issue { number } pinnedBy { login } } }
    pullRequests(first: 50, after: $after) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { number updatedAt reviewThreads(first: 100) {
        pageInfo { hasNextPage }
        nodes { isResolved resolvedBy { login __typename } comments(first: 1) { nodes { databaseId } } }
      } }
    }
  }
}`

type conversationsAnswer struct {
	Data struct {
		Repository *struct {
			Issues struct{ TotalCount int64 }
			Pinned struct {
				Nodes []struct {
					Issue    struct{ Number int64 }
					PinnedBy *graphUser
				}
			} `json:"pinnedIssues"`
			Pulls struct {
				TotalCount int64
				PageInfo   graphPage
				Nodes      []graphPull
			} `json:"pullRequests"`
		}
	}
	Errors []struct{ Message string }
}

type graphPage struct {
	HasNextPage bool
	EndCursor   string
}

type graphUser struct {
	Login string
	Type  string `json:"__typename"`
}

type graphPull struct {
	Number    int64
	UpdatedAt time.Time
	Threads   struct {
		PageInfo graphPage
		Nodes    []struct {
			IsResolved bool
			ResolvedBy *graphUser
			Comments   struct {
				Nodes []struct{ DatabaseID int64 }
			}
		}
	} `json:"reviewThreads"`
}

// graph reads what only GraphQL tells. Without it an import is not whole, and not wrong: a server without GraphQL, or
// a caller without a token, leaves it out.
func (s *Source) graph(ctx context.Context) error {
	address := s.graphAddress()
	owner, name, _ := strings.Cut(s.about.FullName, "/")
	variables := map[string]any{"owner": owner, "name": name}
	for range remote.MaxPages {
		var a conversationsAnswer
		ask := map[string]any{"query": conversations, "variables": variables}
		err := s.JSON(ctx, http.MethodPost, address, nil, ask, &a)
		if err == nil && a.Data.Repository == nil {
			err = &remote.Refusal{Status: http.StatusNotFound, Text: "no repository"}
			if len(a.Errors) > 0 {
				err = &remote.Refusal{Status: http.StatusNotFound, Text: a.Errors[0].Message}
			}
		}
		if remote.Absent(err) {
			s.Leave("resolved conversations and pins, which only GraphQL tells: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
		r := a.Data.Repository
		s.issues = r.Issues.TotalCount + r.Pulls.TotalCount
		for _, pin := range r.Pinned.Nodes {
			s.pins[pin.Issue.Number] = s.graphLogin(pin.PinnedBy)
		}
		for _, p := range r.Pulls.Nodes {
			if err := s.threads(p); err != nil {
				return err
			}
		}
		if !r.Pulls.PageInfo.HasNextPage {
			return nil
		}
		variables["after"] = r.Pulls.PageInfo.EndCursor
	}
	return fmt.Errorf("the list of pull requests has no end")
}

// graphAddress is beside the REST API: /api/v3/ and /api/graphql, or / and /graphql.
func (s *Source) graphAddress() string {
	at := *s.API
	at.Path = strings.TrimSuffix(at.Path, "v3/") + "graphql"
	return (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}).String()
}

func (s *Source) graphLogin(u *graphUser) string {
	if u == nil {
		return ""
	}
	return s.People.Login(&remote.User{Login: u.Login, Type: u.Type})
}

// threads writes the resolved conversations of a pull request. GraphQL does not tell when they were resolved.
func (s *Source) threads(p graphPull) error {
	if p.Threads.PageInfo.HasNextPage {
		s.Leave("pull request %d: which of its conversations after the first 100 are resolved", p.Number)
	}
	for _, t := range p.Threads.Nodes {
		if !t.IsResolved || len(t.Comments.Nodes) == 0 || t.Comments.Nodes[0].DatabaseID == 0 {
			continue
		}
		err := s.Out.Add(migration.Threads, &migration.Thread{Pull: p.Number, ResolvedAt: p.UpdatedAt,
			Comment: strconv.FormatInt(t.Comments.Nodes[0].DatabaseID, 10), ResolvedBy: s.graphLogin(t.ResolvedBy)})
		if err != nil {
			return err
		}
	}
	return nil
}
