//go:build long

package conformance

import "fmt"

// pulls: from a fork and from branches; of each, the number.
func (w *world) pulls() {
	w.do("bob", "POST "+garden+"/forks")
	w.do("alice", "POST "+garden+"/forks", `{"organization": "orchard", "name": "garden-copy"}`)
	w.do("", "GET "+garden+"/forks")
	w.do("", "GET /repos/bob/garden")
	w.do("alice", "GET /repos/orchard/garden-copy")
	w.branch("bob", "bob/garden", "ferns", "main")
	w.put("bob", "bob/garden", "ferns", "beds/ferns.txt", "one\ntwo\nthree\nfour\nfive\nsix\n", "")
	w.put("bob", "bob/garden", "ferns", "beds/README.md", "# Beds\n\nOf roses and ferns.\n",
		w.do("", "GET /repos/bob/garden/contents/beds/README.md").get("sha"))
	// 5 from a fork.
	w.do("bob", "POST "+garden+"/pulls",
		`{"title": "Add ferns", "body": "fixes #1, @alice", "head": "bob:ferns", "base": "main", "maintainer_can_modify": true}`)
	// 6 conflicts with main, once that has moved; 7 is a draft; 8 stays open.
	for _, name := range []string{"moss", "grass", "stones"} {
		w.branch("alice", "alice/garden", name, "main")
		w.put("alice", "alice/garden", name, name+".txt", name+"\n", "")
	}
	w.put("alice", "alice/garden", "main", "moss.txt", "other moss\n", "")
	w.do("alice", "POST "+garden+"/pulls", `{"title": "Add moss", "head": "moss", "base": "main"}`)
	w.do("alice", "POST "+garden+"/pulls",
		`{"title": "Add grass", "head": "grass", "base": "main", "draft": true}`)
	w.do("alice", "POST "+garden+"/pulls", `{"title": "Add stones", "head": "stones", "base": "main"}`)
	w.do("alice", "PATCH "+garden+"/issues/5", `{"labels": ["bug"], "milestone": 1, "assignees": ["bob"]}`)
	w.do("alice", "PATCH "+garden+"/pulls/6", `{"title": "Add some moss", "body": "Soft", "state": "closed"}`)
	w.do("alice", "PATCH "+garden+"/pulls/6", `{"state": "open"}`)
	w.do("alice", "PATCH "+garden+"/pulls/8", `{"base": "grass"}`)
	w.do("", "GET "+garden+"/issues/8/events")
	w.do("", "GET "+garden+"/issues/8/timeline")
	w.do("alice", "PATCH "+garden+"/pulls/8", `{"base": "main"}`)
	w.do("bob", "PATCH "+garden+"/pulls/5", `{"maintainer_can_modify": false}`)
	w.do("bob", "PATCH "+garden+"/pulls/5", `{"maintainer_can_modify": true}`)
	w.do("alice", "PUT "+garden+"/issues/6/lock", `{"lock_reason": "off-topic"}`)
	for _, n := range []string{"5", "6", "7"} {
		w.do("alice", "GET "+garden+"/pulls/"+n)
		w.do("", "GET "+garden+"/pulls/"+n+"/commits")
		w.do("", "GET "+garden+"/pulls/"+n+"/files")
	}
	for _, kind := range []string{"raw", "text", "html", "full"} {
		w.accept("application/vnd.github.v3."+kind+"+json", "", "GET "+garden+"/pulls/5")
		w.accept("application/vnd.github.v3."+kind+"+json", "", "GET "+garden+"/pulls")
	}
	head := w.do("", "GET "+garden+"/pulls/5").get("head.sha")
	w.do("alice", "POST "+garden+"/statuses/"+head, `{"state": "failure", "context": "ci"}`)
	w.do("alice", "GET "+garden+"/pulls/5")
	w.do("", "GET "+garden+"/commits/"+head+"/pulls")
	w.do("bob", "POST "+garden+"/pulls/5/requested_reviewers", `{"reviewers": ["alice", "carol"]}`)
	w.do("", "GET "+garden+"/pulls/5/requested_reviewers")
	w.do("", "GET "+garden+"/pulls?state=all")
	w.do("bob", "DELETE "+garden+"/pulls/5/requested_reviewers", `{"reviewers": ["carol"]}`)
}

// reviews: in every state, with comments on lines, on several, on a whole file,
// outdated ones and replies.
func (w *world) reviews() {
	const pull = garden + "/pulls/5"
	head := w.do("", "GET "+pull).get("head.sha")
	comment := func(rest string) string {
		return w.do("alice", "POST "+pull+"/comments",
			fmt.Sprintf(`{"body": "Which **ferns**?", "commit_id": %q, "path": "beds/ferns.txt", %s}`, head,
				rest)).get("id")
	}
	line := comment(`"line": 2, "side": "RIGHT"`)
	comment(`"start_line": 3, "start_side": "RIGHT", "line": 5, "side": "RIGHT"`)
	whole := comment(`"subject_type": "file"`)
	w.do("bob", "POST "+pull+"/comments/"+line+"/replies", `{"body": "All of them"}`)
	w.do("alice", "PATCH "+garden+"/pulls/comments/"+line, `{"body": "Which ferns, exactly?"}`)
	for _, content := range []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"} {
		w.do("bob", "POST "+garden+"/pulls/comments/"+line+"/reactions",
			fmt.Sprintf(`{"content": %q}`, content))
	}
	extra := w.do("carol", "POST "+garden+"/pulls/comments/"+line+"/reactions",
		`{"content": "eyes"}`).get("id")
	w.do("", "GET "+garden+"/pulls/comments/"+line+"/reactions")
	w.do("carol", "DELETE "+garden+"/pulls/comments/"+line+"/reactions/"+extra)
	w.do("alice", "DELETE "+garden+"/pulls/comments/"+whole)

	draft := w.do("alice", "POST "+pull+"/reviews",
		`{"body": "Later", "comments": [{"path": "beds/ferns.txt", "line": 1, "side": "RIGHT", "body": "First"}]}`).get("id")
	w.do("alice", "GET "+pull+"/reviews/"+draft)
	w.do("alice", "DELETE "+pull+"/reviews/"+draft)
	pending := w.do("alice", "POST "+pull+"/reviews",
		`{"body": "Soon", "comments": [{"path": "beds/ferns.txt", "line": 1, "side": "RIGHT", "body": "First"},
		{"path": "beds/ferns.txt", "start_line": 3, "start_side": "RIGHT", "line": 4, "side": "RIGHT", "body": "Two lines"}]}`).get("id")
	w.do("alice", "PUT "+pull+"/reviews/"+pending, `{"body": "Now **really**"}`)
	w.do("alice", "POST "+pull+"/reviews/"+pending+"/events",
		`{"event": "REQUEST_CHANGES", "body": "Please change"}`)
	w.do("carol", "POST "+pull+"/reviews", `{"event": "APPROVE", "body": "Fine"}`)
	w.do("erin", "POST "+pull+"/reviews", `{"event": "COMMENT", "body": "Nice"}`)
	w.do("", "GET "+pull+"/reviews/"+pending+"/comments")
	w.do("alice", "PUT "+pull+"/reviews/"+pending+"/dismissals", `{"message": "It was changed"}`)
	// The head moves: what was said of its lines is outdated.
	w.put("bob", "bob/garden", "ferns", "beds/ferns.txt", "other\nlines\n",
		w.do("", "GET /repos/bob/garden/contents/beds/ferns.txt?ref=ferns").get("sha"))
	w.do("", "GET "+pull+"/reviews")
	w.do("", "GET "+pull+"/comments")
	w.do("", "GET "+garden+"/pulls/comments")
	w.do("", "GET "+garden+"/pulls/comments/"+line)
	for _, kind := range []string{"text", "html", "full"} {
		media := "application/vnd.github." + kind + "+json"
		w.accept(media, "", "GET "+pull+"/reviews/"+pending)
		w.accept(media, "", "GET "+garden+"/pulls/comments/"+line)
		w.accept(media, "", "GET "+pull+"/reviews/"+pending+"/comments")
	}
}

// merging: 5 is brought up to date and merged, 7 squashed, and a branch goes.
func (w *world) merging() {
	w.do("alice", "PUT "+garden+"/pulls/5/update-branch")
	w.do("alice", "GET "+garden+"/pulls/5")
	head := w.do("", "GET "+garden+"/pulls/5").get("head.sha")
	w.do("alice", "PUT "+garden+"/pulls/5/merge",
		fmt.Sprintf(`{"sha": %q, "commit_title": "Ferns", "commit_message": "At last"}`, head))
	w.do("", "GET "+garden+"/pulls/5/merge")
	w.do("alice", "GET "+garden+"/pulls/5")
	w.do("alice", "DELETE "+garden+"/git/refs/heads/moss") // which closes 6
	w.do("alice", "GET "+garden+"/pulls/6")
	w.do("bob", "DELETE /repos/bob/garden") // the head of 5 has no repository any more
	w.do("alice", "GET "+garden+"/pulls/5")
	w.do("", "GET "+garden+"/pulls?state=all")
}
