package graphql

import "arbor/internal/graphql/exec"

// issueMembers are the members of an issue's payload that its fields read. A query of these fields alone has
// its lists made of these members alone, which takes half the time of a whole payload: its addresses are most
// of it.
var issueMembers = map[string][]string{
	"__typename": nil, "repository": nil,
	"id": {"node_id"}, "databaseId": {"id"}, "number": {"number"}, "title": {"title"}, "titleHTML": {"title"},
	"url": {"html_url"}, "resourcePath": {"html_url"}, "state": {"state"}, "closed": {"state"},
	"stateReason": {"state_reason"}, "createdAt": {"created_at"}, "updatedAt": {"updated_at"},
	"closedAt": {"closed_at"}, "locked": {"locked"}, "activeLockReason": {"active_lock_reason"},
	"author":            {"user"},
	"authorAssociation": {"author_association"}, "body": {"body"}, "labels": {"labels"},
	"assignees": {"assignees"},
	"milestone": {"milestone"},
}

// membersOfIssues are the members that a connection of issues needs; nil: all.
func membersOfIssues(f *exec.Field) []string {
	// An issue with its number alone would be asked for, see numberedIssues. The others make cursors.
	needed := []string{"number", "state", "id", "updated_at", "comments"}
	for _, path := range [][]string{{"nodes"}, {"edges", "node"}} {
		for _, name := range f.Below(path...) {
			members, known := issueMembers[name]
			if !known {
				return nil
			}
			needed = append(needed, members...)
		}
	}
	return needed
}
