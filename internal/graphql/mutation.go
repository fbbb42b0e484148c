package graphql

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
)

// mutations are the fields of Mutation. Each is a request to the REST API, or some, made for the same caller:
// what that needs of a role and of the token, the mutation needs.
func mutations() map[string]exec.Resolver {
	table := map[string]func(context.Context, *mutation) (map[string]any, error){
		"createIssue": createIssue, "closeIssue": closeIssue, "reopenIssue": reopenIssue,
		"updateIssue": updateIssue,
		"deleteIssue": deleteIssue, "transferIssue": transferIssue, "pinIssue": pinIssue,
		"unpinIssue": unpinIssue,
		"addComment": addComment, "updateIssueComment": updateIssueComment,
		"deleteIssueComment":   deleteIssueComment,
		"addLabelsToLabelable": addLabels, "removeLabelsFromLabelable": removeLabels,
		"clearLabelsFromLabelable": clearLabels,
		"addAssigneesToAssignable": addAssignees, "removeAssigneesFromAssignable": removeAssignees,
		"lockLockable": lock, "unlockLockable": unlock,
		"createPullRequest": createPullRequest, "updatePullRequest": updatePullRequest,
		"closePullRequest":  closePullRequest,
		"reopenPullRequest": reopenPullRequest, "mergePullRequest": mergePullRequest,
		"markPullRequestReadyForReview": markReady, "convertPullRequestToDraft": convertToDraft,
		"updatePullRequestBranch": updatePullRequestBranch, "revertPullRequest": revertPullRequest,
		"addPullRequestReview": addPullRequestReview,
		"requestReviews":       requestReviews, "requestReviewsByLogin": requestReviewsByLogin,
		"addPullRequestReviewThread": addReviewThread, "addPullRequestReviewThreadReply": addThreadReply,
		"addPullRequestReviewComment":    addReviewComment,
		"updatePullRequestReviewComment": updateReviewComment,
		"deletePullRequestReviewComment": deleteReviewComment, "resolveReviewThread": resolveThread,
		"unresolveReviewThread":      unresolveThread,
		"replaceActorsForAssignable": replaceActors,
		"createLinkedBranch":         createLinkedBranch, "cloneTemplateRepository": cloneTemplate,
		"deleteLinkedBranch": deleteLinkedBranch,
		"createRepository":   createRepository, "updateRepository": updateRepository,
		"archiveRepository":   archiveRepository,
		"unarchiveRepository": unarchiveRepository, "addStar": addStar, "removeStar": removeStar,
		"submitPullRequestReview": submitReview, "updatePullRequestReview": updateReview,
		"deletePullRequestReview": deleteReview, "dismissPullRequestReview": dismissReview,
		"createRef": createRef, "updateRef": updateRef, "deleteRef": deleteRef, "mergeBranch": mergeBranch,
		"createCommitOnBranch": createCommitOnBranch,
		"createLabel":          createLabel, "updateLabel": updateLabel, "deleteLabel": deleteLabel,
		"updateTopics": updateTopics,
		"addReaction":  addReaction, "removeReaction": removeReaction, "followUser": followUser,
		"followOrganization": followOrganization, "unfollowOrganization": unfollowOrganization,
		"markFileAsViewed": markViewed, "unmarkFileAsViewed": unmarkViewed,
		"updateSubscription": updateSubscription,
		"createCheckRun":     createCheckRun, "updateCheckRun": updateCheckRun, "createCheckSuite": createCheckSuite,
		"rerequestCheckSuite":         rerequestCheckSuite,
		"updateCheckSuitePreferences": updateCheckSuitePreferences,
		"unfollowUser":                unfollowUser,
	}
	maps.Copy(table, refusals())
	fields := map[string]exec.Resolver{}
	for name, change := range table {
		fields[name] = root(func(ctx context.Context, f *exec.Field) (any, error) {
			m := &mutation{query: queryOf(ctx), input: f.Args["input"].(map[string]any)}
			payload, err := change(ctx, m)
			if err != nil {
				return nil, err
			}
			payload["clientMutationId"] = m.input["clientMutationId"]
			return bare{payloadType(name), payload}, nil
		})
	}
	return fields
}

// payloadType is the type of what a mutation gives: createIssue has CreateIssuePayload.
func payloadType(name string) string { return string(name[0]-'a'+'A') + name[1:] + "Payload" }

// mutation is one field of a mutation while it runs.
type mutation struct {
	*query
	input map[string]any
}

// text returns a string of the input, or "".
func (m *mutation) text(name string) string {
	s, _ := m.input[name].(string)
	return s
}

// given reports an input that is neither missing nor null.
func (m *mutation) given(name string) bool { return m.input[name] != nil }

// copy puts an input, if it was given, into a body under REST's name.
func (m *mutation) copy(body map[string]any, name, as string) {
	if m.given(name) {
		body[as] = m.input[name]
	}
}

// ids returns a list of ids of the input.
func (m *mutation) ids(name string) []string {
	list, _ := m.input[name].([]any)
	ids := make([]string, 0, len(list))
	for _, id := range list {
		if s, ok := id.(string); ok {
			ids = append(ids, s)
		}
	}
	return ids
}

// target finds what an input names, of one of the kinds. Nothing is changed without it.
func (m *mutation) target(ctx context.Context, name string, kinds ...string) (*object, error) {
	v, err := m.find(ctx, m.text(name), kinds...)
	if err != nil {
		return nil, err
	}
	return v.(*object), nil
}

// numbered is the path of an issue or a pull request, as one or the other.
func numbered(o *object, segments ...string) string {
	return o.repo.path(append([]string{segments[0], string(o.data.get("number"))}, segments[1:]...)...)
}

// again reloads something after it was changed.
func (m *mutation) again(ctx context.Context, o *object) (*object, error) {
	clear(m.kept)
	clear(m.found)
	fresh := &object{kind: o.kind, repo: o.repo, source: o.source, of: o.of}
	data, err := m.wholeOf(ctx, o)
	if err != nil {
		return nil, err
	}
	fresh.data, fresh.whole = data, true
	return fresh, nil
}

// patch changes something by PATCH of its own address, and gives it as it is then.
func (m *mutation) patch(ctx context.Context, o *object, body map[string]any) (*object, error) {
	data, err := m.change(ctx, http.MethodPatch, o.source.Path, body)
	if err != nil {
		return nil, err
	}
	return &object{kind: o.kind, repo: o.repo, source: o.source, data: data, whole: true}, nil
}

// logins returns the logins of accounts by their node ids.
func (m *mutation) logins(ctx context.Context, name string) ([]string, error) {
	list := []string{}
	for _, id := range m.ids(name) {
		v, err := m.find(ctx, id, "User", "Bot")
		if err != nil {
			return nil, err
		}
		list = append(list, v.(*object).text(ctx, "login"))
	}
	return list, nil
}

// labelNames returns the names of the repository's labels by their node ids, with one query.
func (m *mutation) labelNames(ctx context.Context, in *object, name string) ([]string, error) {
	repository, err := repositoryID(ctx, in)
	if err != nil {
		return nil, err
	}
	given := m.ids(name)
	ids := make([]int64, len(given))
	for n, id := range given {
		kind, number, _, ok := parseNode(id)
		if ids[n] = number; !ok || kind != "Label" {
			return nil, unresolvedNode(id)
		}
	}
	names := []string{}
	err = m.with.DB.Read(ctx, func(tx *db.Tx) error {
		found, err := label.OfIssues(tx, ids)
		names = names[:0]
		for n, id := range ids {
			l := found[id]
			if l == nil || int64(l.RepoID) != repository { // labels of others do not exist here
				return unresolvedNode(given[n])
			}
			names = append(names, l.Name)
		}
		return err
	})
	return names, err
}

// milestoneNumber returns the number of a milestone of the repository, or nil for null.
func (m *mutation) milestoneNumber(ctx context.Context, in *object) (any, error) {
	id := m.text("milestoneId")
	if id == "" {
		return nil, nil
	}
	kind, number, _, ok := parseNode(id)
	if !ok || kind != "Milestone" {
		return nil, unresolvedNode(id)
	}
	repository, err := repositoryID(ctx, in)
	if err != nil {
		return nil, err
	}
	var found any
	err = m.with.DB.Read(ctx, func(tx *db.Tx) error {
		list, err := milestone.ByIDs(tx, []int64{number})
		if at := list[number]; at != nil && int64(at.RepoID) == repository {
			found = at.Number
			return err
		}
		return unresolvedNode(id)
	})
	return found, err
}

// repositoryID is the number of a repository.
func repositoryID(ctx context.Context, o *object) (int64, error) {
	v, err := o.value(ctx, "id")
	number, _ := v.(json.Number)
	n, _ := number.Int64()
	return n, err
}

// equipment is the fields of issues and pull requests other than their texts, as a body of REST. Null removes
// the milestone, and leaves the other fields unchanged.
func (m *mutation) equipment(ctx context.Context, in *object) (map[string]any, error) {
	body := map[string]any{}
	if m.given("assigneeIds") {
		logins, err := m.logins(ctx, "assigneeIds")
		if err != nil {
			return nil, err
		}
		if len(logins) > issue.MaxAssignees {
			return nil, errs.Newf(errs.Invalid, "An issue has %d assignees at most.", issue.MaxAssignees)
		}
		body["assignees"] = logins
	}
	if m.given("labelIds") {
		names, err := m.labelNames(ctx, in, "labelIds")
		if err != nil {
			return nil, err
		}
		body["labels"] = names
	}
	if _, there := m.input["milestoneId"]; there {
		number, err := m.milestoneNumber(ctx, in)
		if err != nil {
			return nil, err
		}
		body["milestone"] = number
	}
	if len(m.ids("projectIds")) > 0 {
		return nil, refused("Arbor has no projects.")
	}
	return body, nil
}

// checkRelations returns an error if the caller sets labels, assignees or a milestone without push access, which
// REST would ignore.
func checkRelations(ctx context.Context, in *object, body map[string]any) error {
	if len(body) == 0 {
		return nil
	}
	may, err := permissionOn(ctx, in)
	if err == nil && may == "READ" {
		err = errs.New(errs.Forbidden, "Must have push access to Repository.")
	}
	return err
}
