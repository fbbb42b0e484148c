package graphql_test

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// The edits of a text are listed with the text after each. Texts from when the repository was private are shown to
// writers alone.
func TestUserContentEdits(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for _, name := range []string{"alice", "bob", "carol"} {
		s.User(t, name)
	}
	r := s.Repo(t, "alice/garden", true)
	s.Grant(t, r, "bob", account.Push)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "Peas", "body": "one"}`,
		Status: 201})
	edits := `{repository(owner:"alice",name:"garden"){issue(number:1){editor{login} includesCreatedEdit lastEditedAt
		userContentEdits(first:9){totalCount nodes{id editor{login} diff editedAt}}}}}`
	is := func(as, want string) {
		t.Helper()
		ask{as: as, query: edits, want: `{"data": {"repository": {"issue": ` + want + `}}}`}.check(t, s)
	}
	is("bob", `{"editor": null, "includesCreatedEdit": false, "lastEditedAt": null, "userContentEdits": {"totalCount": 0,
		"nodes": []}}`)
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/1", As: "bob", Send: `{"body": "two"}`, Status: 200})
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200})
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/1", As: "alice", Send: `{"body": "three"}`, Status: 200})
	is("bob", `{"editor": {"login": "alice"}, "includesCreatedEdit": true, "userContentEdits": {"totalCount": 3, "nodes": [
		{"editor": {"login": "alice"}, "diff": "three"}, {"editor": {"login": "bob"}, "diff": "two"},
		{"editor": {"login": "alice"}, "diff": "one"}]}}`)
	// What was written while the repository was private is not for everybody.
	is("carol", `{"editor": {"login": "alice"}, "userContentEdits": {"totalCount": 3, "nodes": [
		{"diff": "three"}, {"editor": {"login": "bob"}, "diff": "two"}, {"diff": null}]}}`)
}

// Comments on commits keep their former texts as others do, and are hidden as others are.
func TestEditsOfCommitComments(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol", "dave")
		r := s.Repo(t, "alice/garden", true)
		s.Grant(t, r, "bob", account.Push)
		s.Grant(t, r, "dave", account.Triage)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		ask{as: "alice", query: `{repository(owner:"alice",name:"garden"){object(expression:"main"){...on Commit{history{
			nodes{messageHeadline}}}}}}`, want: `{"data": {"repository": {"object": {"history": {"nodes": [{
			"messageHeadline": "A"}]}}}}}`}.check(t, s)
		id := posted(t, s, "alice", "/repos/alice/garden/commits/main/comments", `{"body": "one"}`, "node_id")
		v := map[string]any{"id": id}
		is := func(as, want string) {
			t.Helper()
			ask{as: as, variables: v, query: `query($id:ID!){node(id:$id){...on CommitComment{editor{login} includesCreatedEdit
				userContentEdits(first:9){totalCount nodes{editor{login} diff deletedAt}}}}}`,
				want: `{"data": {"node": ` + want + `}}`}.check(t, s)
		}
		edit := func(as, body string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/comments/1", As: as, Send: `{"body": "` + body + `"}`,
				Status: 200})
		}
		is("bob", `{"editor": null, "includesCreatedEdit": false, "userContentEdits": {"totalCount": 0, "nodes": []}}`)
		edit("bob", "two")
		edit("bob", "two") // changes nothing
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200})
		edit("alice", "three")
		is("bob", `{"editor": {"login": "alice"}, "includesCreatedEdit": true, "userContentEdits": {"totalCount": 3, "nodes": [
			{"editor": {"login": "alice"}, "diff": "three"}, {"editor": {"login": "bob"}, "diff": "two"},
			{"editor": {"login": "alice"}, "diff": "one"}]}}`)
		// What was written while the repository was private is not for everybody.
		is("carol", `{"editor": {"login": "alice"}, "userContentEdits": {"totalCount": 3, "nodes": [
			{"diff": "three"}, {"editor": {"login": "bob"}, "diff": "two"}, {"diff": null}]}}`)
		s.Check(t, apitest.Case{Do: "GET /alice/garden/commit/main", As: "carol", Status: 200})

		const hide = `mutation($id:ID!){minimizeComment(input:{subjectId:$id,classifier:SPAM}){minimizedComment{
			isMinimized minimizedReason viewerCanMinimize}}}`
		ask{as: "carol", query: hide, variables: v, want: `{"errors": [{"type": "FORBIDDEN"}]}`}.check(t, s)
		ask{as: "dave", query: hide, variables: v, want: `{"data": {"minimizeComment": {"minimizedComment": {
			"isMinimized": true, "minimizedReason": "spam", "viewerCanMinimize": true}}}}`}.check(t, s)
		ask{as: "carol", query: `query($id:ID!){node(id:$id){...on CommitComment{isMinimized minimizedReason viewerCanMinimize
			body}}}`, variables: v, want: `{"data": {"node": {"isMinimized": true, "minimizedReason": "spam",
			"viewerCanMinimize": false, "body": "three"}}}`}.check(t, s)
		ask{as: "dave", query: `mutation($id:ID!){unminimizeComment(input:{subjectId:$id}){unminimizedComment{isMinimized}}}`,
			variables: v, want: `{"data": {"unminimizeComment": {"unminimizedComment": {"isMinimized": false}}}}`}.check(t, s)

		// Private again, it is absent for others, and with the comment its edits are gone.
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": true}`, Status: 200})
		ask{as: "carol", query: hide, variables: v, want: `{"errors": [{"type": "NOT_FOUND"}]}`}.check(t, s)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/garden/comments/1", As: "alice", Status: 204})
		var left int
		err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
			return tx.QueryRow(`SELECT count(*) FROM commit_comment_edits`).Scan(&left)
		})
		if err != nil || left != 0 {
			t.Errorf("%d edits are left: %v", left, err)
		}
	})
}

// Comparisons, sizes, blame and files of commits, and the pull requests of branches, labels and milestones.
func TestCommitsAndLists(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	put := func(path, branch, text string) {
		t.Helper()
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice", Status: 201,
			Send: `{"message": "Add ` + path + `\n\nMore <b>", "branch": "` + branch + `", "content": "` + text + `"}`})
	}
	put("docs/a", "main", "YQpiCg==")
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice", Status: 201,
		Send: `{"ref": "refs/heads/bed", "sha": "` + s.Tip(t, "alice", "alice/garden", "main") + `"}`})
	put("b", "bed", "Yg==")
	put("c", "bed", "Yw==")
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/milestones", As: "alice", Status: 201,
		Send: `{"title": "Spring"}`})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: `{"title": "Peas", "labels": ["bug"], "milestone": 1}`})
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "alice", Status: 201,
		Send: `{"title": "Beans", "head": "bed", "base": "main"}`})
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/2", As: "alice", Status: 200,
		Send: `{"labels": ["bug"], "milestone": 1}`})
	ask{query: `mutation($id:ID!){pinIssue(input:{issueId:$id}){issue{number}}}`, variables: map[string]any{
		"id": member(t, s, "alice", "/repos/alice/garden/issues/1", "node_id")},
		want: `{"data": {"pinIssue": {"issue": {"number": 1}}}}`}.check(t, s)
	for _, a := range []ask{
		{query: `{repository(owner:"alice",name:"garden"){ref(qualifiedName:"main"){compare(headRef:"bed"){aheadBy
			headTarget{oid} baseTarget{abbreviatedOid} commits(first:1){totalCount authorCount pageInfo{hasNextPage}
			nodes{messageHeadline additions deletions changedFiles changedFilesIfAvailable authoredByCommitter committedViaWeb
			messageBodyHTML commitUrl treeUrl tarballUrl zipballUrl}}}}}}`,
			want: `{"data": {"repository": {"ref": {"compare": {"aheadBy": 2, "commits": {"totalCount": 2, "authorCount": 1,
				"pageInfo": {"hasNextPage": true}, "nodes": [{"messageHeadline": "Add b", "additions": 1, "deletions": 0,
				"changedFiles": 1, "changedFilesIfAvailable": 1, "authoredByCommitter": true,
				"messageBodyHTML": "More &lt;b&gt;"}]}}}}}}`},
		{query: `{repository(owner:"alice",name:"garden"){object(expression:"bed"){...on Commit{
			blame(path:"docs/a"){ranges{startingLine endingLine age commit{messageHeadline}}}
			file(path:"docs/a"){name path mode type size} none:file(path:"docs/x"){name} root:file(path:"b"){path}}}}}`,
			want: `{"data": {"repository": {"object": {"blame": {"ranges": [{"startingLine": 1, "endingLine": 2, "age": 1,
				"commit": {"messageHeadline": "Add docs/a"}}]}, "file": {"name": "a", "path": "docs/a", "mode": 33188,
				"type": "blob", "size": 4}, "none": null, "root": {"path": "b"}}}}}`},
		{query: `{repository(owner:"alice",name:"garden"){object(expression:"bed"){...on Commit{
			blame(path:"docs"){ranges{age}}}}}}`,
			want: `{"errors": [{"type": "NOT_FOUND", "message": "Could not resolve to a file with the path 'docs'."}]}`},
		{query: `{repository(owner:"alice",name:"garden"){bed:ref(qualifiedName:"bed"){associatedPullRequests(first:3){
			totalCount nodes{number}}} main:ref(qualifiedName:"main"){associatedPullRequests(first:3){totalCount}}
			closed:ref(qualifiedName:"bed"){associatedPullRequests(first:3,states:CLOSED){totalCount}}
			label(name:"bug"){issues(first:3){totalCount nodes{number}} pullRequests(first:3){nodes{number}}
			none:issues(states:CLOSED){totalCount}}
			milestone(number:1){issues(first:3){nodes{number}} pullRequests(first:3,states:OPEN){totalCount nodes{number}}
			progressPercentage viewerCanClose viewerCanReopen}}}`,
			want: `{"data": {"repository": {"bed": {"associatedPullRequests": {"totalCount": 1, "nodes": [{"number": 2}]}},
				"main": {"associatedPullRequests": {"totalCount": 0}}, "closed": {"associatedPullRequests": {"totalCount": 0}},
				"label": {"issues": {"totalCount": 1, "nodes": [{"number": 1}]}, "pullRequests": {"nodes": [{"number": 2}]},
				"none": {"totalCount": 0}}, "milestone": {"issues": {"nodes": [{"number": 1}]},
				"pullRequests": {"totalCount": 1, "nodes": [{"number": 2}]}, "progressPercentage": 0, "viewerCanClose": true,
				"viewerCanReopen": false}}}}`},
		{query: `{repository(owner:"alice",name:"garden"){pullRequest(number:2){participants(first:3){totalCount nodes{login}}
			viewerSubscription viewerCanEditFiles viewerCanDeleteHeadRef viewerCanClose viewerCanReopen viewerCanLabel
			viewerCannotUpdateReasons totalCommentsCount checksUrl}}}`,
			want: `{"data": {"repository": {"pullRequest": {"participants": {"totalCount": 1, "nodes": [{"login": "alice"}]},
				"viewerSubscription": "SUBSCRIBED", "viewerCanEditFiles": true, "viewerCanDeleteHeadRef": false,
				"viewerCanClose": true, "viewerCanReopen": false, "viewerCanLabel": true, "viewerCannotUpdateReasons": [],
				"totalCommentsCount": 0, "checksUrl": "{base}/alice/garden/pull/2/checks"}}}}`},
		{query: `{repository(owner:"alice",name:"garden"){pinnedIssues(first:3){totalCount nodes{issue{number title}
			pinnedBy{login} repository{name}}}}}`,
			want: `{"data": {"repository": {"pinnedIssues": {"totalCount": 1, "nodes": [{"issue": {"number": 1,
				"title": "Peas"}, "pinnedBy": {"login": "alice"}, "repository": {"name": "garden"}}]}}}}`},
		{query: `{repository(owner:"alice",name:"garden"){pullRequest(number:2){closingIssuesReferences(first:1,
			userLinkedOnly:true){totalCount}}}}`, want: `{"data": {"repository": {"pullRequest":
			{"closingIssuesReferences": {"totalCount": 0}}}}}`},
	} {
		a.check(t, s)
	}
}
