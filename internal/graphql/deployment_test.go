package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// Deployments and environments are those of REST, for whom may see them.
func TestDeployments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/garden/shed/contents/a", As: "alice", Send: `{"message": "A", "content": "YQ=="}`, Status: 201},
			{Do: "POST /repos/garden/shed/deployments", As: "will", Send: `{"ref": "main", "environment": "stage",
				"description": "Peas", "payload": {"a": 1}}`, Status: 201},
			{Do: "POST /repos/garden/shed/deployments", As: "will", Send: `{"ref": "main"}`, Status: 201},
			{Do: "POST /repos/garden/shed/deployments/1/statuses", As: "will", Send: `{"state": "success",
				"log_url": "https://ci.example/1"}`, Status: 201},
		})
		const query = `{repository(owner:"garden",name:"shed"){deployments(first:1){totalCount nodes{databaseId environment task
			state description payload commitOid commit{messageHeadline} creator{login} latestStatus{state logUrl creator{login}}}
			pageInfo{hasNextPage}} last:deployments(first:5,environments:["production"],orderBy:{field:CREATED_AT,
			direction:DESC}){totalCount nodes{databaseId state latestStatus{state}}} environments(first:5){totalCount nodes{name}}
			environment(name:"STAGE"){name} none:environment(name:"moon"){name}}}`
		for _, login := range []string{"will", "rae"} {
			ask{as: login, query: query, want: `{"data": {"repository": {"deployments": {"totalCount": 2,
				"pageInfo": {"hasNextPage": true}, "nodes": [{"databaseId": 1, "environment": "stage", "task": "deploy",
				"state": "ACTIVE", "description": "Peas", "payload": "{\"a\":1}", "commit": {"messageHeadline": "A"},
				"creator": {"login": "will"}, "latestStatus": {"state": "SUCCESS", "logUrl": "https://ci.example/1",
				"creator": {"login": "will"}}}]}, "last": {"totalCount": 1, "nodes": [{"databaseId": 2, "state": "PENDING",
				"latestStatus": null}]}, "environments": {"totalCount": 2, "nodes": [{"name": "production"}, {"name": "stage"}]},
				"environment": {"name": "stage"}, "none": null}}}`}.check(t, s)
		}
		ask{as: "sam", query: query, want: `{"data": {"repository": null}, "errors": [{"type": "NOT_FOUND"}]}`}.check(t, s)
	})
}
