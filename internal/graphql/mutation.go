package graphql

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mutations are the fields of Mutation. Each calls operations of the features, with the access that the route of
// the same operation in REST grants.
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
		"enablePullRequestAutoMerge": enableAutoMerge, "disablePullRequestAutoMerge": disableAutoMerge,
		"enqueuePullRequest": enqueuePullRequest, "dequeuePullRequest": dequeuePullRequest,
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
		"createBranchProtectionRule": createProtection, "updateBranchProtectionRule": updateProtection,
		"deleteBranchProtectionRule": deleteProtection,
		"createRef":                  createRef, "updateRef": updateRef, "deleteRef": deleteRef, "mergeBranch": mergeBranch,
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
		"createDeployment":            createDeployment, "createDeploymentStatus": createDeploymentStatus,
		"deleteDeployment": deleteDeployment, "createEnvironment": createEnvironment,
		"updateEnvironment": updateEnvironment, "deleteEnvironment": deleteEnvironment, "updateRefs": updateRefs,
		"createRepositoryRuleset": createRuleset, "updateRepositoryRuleset": updateRuleset,
		"deleteRepositoryRuleset": deleteRuleset, "updateTeamsRepository": updateTeamsRepository,
		"removeOutsideCollaborator": removeOutsideCollaborator,
		"minimizeComment":           minimizeComment, "unminimizeComment": unminimizeComment,
	}
	fields := map[string]exec.Resolver{}
	for name, change := range table {
		fields[name] = root(func(ctx context.Context, f *exec.Field) (any, error) {
			m := &mutation{query: queryOf(ctx), input: f.Args["input"].(map[string]any)}
			if m.stopped != nil {
				return nil, m.stopped
			}
			payload, err := change(ctx, m)
			if err != nil {
				return nil, m.failed(err)
			}
			payload["clientMutationId"] = m.input["clientMutationId"]
			return bare{payloadType(name), payload}, nil
		})
	}
	return fields
}

// payloadType returns the payload type of a mutation: CreateIssuePayload for createIssue.
func payloadType(name string) string { return string(name[0]-'a'+'A') + name[1:] + "Payload" }

// mutation is one field of a mutation while it runs.
type mutation struct {
	*query
	input map[string]any
}

// failed notes the error of a mutation, and explains that of a full disk.
func (m *mutation) failed(err error) error {
	if _, ok := errors.AsType[*exec.Error](err); !ok {
		err = m.do.Explain(err)
	}
	return m.noteError(err)
}

// text returns a string of the input, or "".
func (m *mutation) text(name string) string {
	s, _ := m.input[name].(string)
	return s
}

// given reports an input that is neither missing nor null.
func (m *mutation) given(name string) bool { return m.input[name] != nil }

// opt returns a string of the input that may be missing or null.
func (m *mutation) opt(name string) web.Opt[string] {
	s, given := m.input[name].(string)
	return web.Opt[string]{Set: given, Value: s}
}

// textOrNil returns a pointer to a string of the input, or nil.
func (m *mutation) textOrNil(name string) *string {
	if s, given := m.input[name].(string); given {
		return &s
	}
	return nil
}

// flag returns a boolean of the input that may be missing or null.
func (m *mutation) flag(name string) web.Opt[bool] {
	yes, given := m.input[name].(bool)
	return web.Opt[bool]{Set: given, Value: yes}
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

// target finds the object that an input names by its node id, of one of the kinds. If it finds none, the mutation
// fails before it changes anything.
func (m *mutation) target(ctx context.Context, name string, kinds ...string) (*object, error) {
	v, err := m.find(ctx, m.text(name), kinds...)
	if err != nil {
		return nil, err
	}
	return v.(*object), nil
}

// forget discards all loaded values, because the mutation may change them.
func (m *mutation) forget() {
	clear(m.kept)
	clear(m.found)
}

// change returns the context and the access for an operation on a repository, as the route at the address grants
// them. Values loaded before are loaded again. Errors: those of the route before its handler.
func (m *mutation) change(ctx context.Context, in *object, address string) (context.Context, *repo.Access, error) {
	return m.changeAs(ctx, in, address, account.Pull)
}

// changeAs is change for an operation that needs a role besides the route's.
func (m *mutation) changeAs(
	ctx context.Context, in *object, address string, role account.Role,
) (context.Context, *repo.Access, error) {
	m.forget()
	return m.access(ctx, in, address, role)
}

// act calls an operation on an object that an input names, with the access that the route at the address grants. It
// returns the object in its state before the operation.
func (m *mutation) act(
	ctx context.Context, name, kind, address string, do func(ctx context.Context, a *repo.Access, o *object) error,
) (*object, error) {
	o, err := m.target(ctx, name, kind)
	if err != nil {
		return nil, err
	}
	in := o
	if o.repo != nil {
		in = o.repo
	}
	to, a, err := m.change(ctx, in, address)
	if err == nil {
		err = do(to, a, o)
	}
	return o, err
}

// actShown is act for a payload that shows the object in its state after the operation.
func (m *mutation) actShown(
	ctx context.Context, payload, name, kind, address string,
	do func(ctx context.Context, a *repo.Access, o *object) error,
) (map[string]any, error) {
	o, err := m.act(ctx, name, kind, address, do)
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{payload: o}, err
}

// own returns the context for an operation on the caller's own things, as change does.
func (m *mutation) own(ctx context.Context, address string) (context.Context, *account.Caller, error) {
	m.forget()
	ctx, _, err := m.permit(showing(ctx, "raw"), address)
	return ctx, account.CallerFrom(ctx), err
}

// again loads something after it was changed.
func (m *mutation) again(ctx context.Context, o *object) (*object, error) {
	m.forget()
	if o.kind == "Repository" {
		if err := m.identify(ctx, o); err != nil {
			return nil, err
		}
		return m.repositoryShown(ctx, repo.ID(o.id))
	}
	fresh := *o
	fresh.whole = false
	return m.whole(ctx, &fresh)
}

// shown loads something of a repository that was made or changed. at has its number or its name, or it has an id.
func (m *mutation) shown(ctx context.Context, kind string, in *object, at spot, id int64) (*object, error) {
	m.forget()
	return m.whole(ctx, at.object(kind, in, id))
}

// repositoryShown loads a repository that was made or changed.
func (m *mutation) repositoryShown(ctx context.Context, id repo.ID) (*object, error) {
	m.forget()
	repos, err := m.repositoriesByID(ctx, []int64{int64(id)})
	if err == nil && repos[int64(id)] == nil {
		err = errs.Absent()
	}
	return repos[int64(id)], err
}

// logins returns the logins of accounts by their node ids.
func (m *mutation) logins(ctx context.Context, name string) ([]string, error) {
	list := []string{}
	for _, id := range m.ids(name) {
		v, err := m.find(ctx, id, "User", "Bot")
		if err != nil {
			return nil, err
		}
		list = append(list, v.(*object).name)
	}
	return list, nil
}

// labelNames returns the names of the repository's labels by their node ids, with one query.
func (m *mutation) labelNames(ctx context.Context, in *object, name string) ([]string, error) {
	if err := m.identify(ctx, in); err != nil {
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
	err := m.do.DB.Read(ctx, func(tx *db.Tx) error {
		found, err := label.OfIssues(tx, ids)
		names = names[:0]
		for n, id := range ids {
			l := found[id]
			if l == nil || int64(l.RepoID) != in.id { // labels of others do not exist here
				return unresolvedNode(given[n])
			}
			names = append(names, l.Name)
		}
		return err
	})
	return names, err
}

// milestoneNumber returns the number of a milestone of the repository, or null.
func (m *mutation) milestoneNumber(ctx context.Context, in *object) (found web.Opt[int64], err error) {
	id := m.text("milestoneId")
	if id == "" {
		return web.Opt[int64]{Set: true, Null: true}, nil
	}
	kind, number, _, ok := parseNode(id)
	if !ok || kind != "Milestone" {
		return found, unresolvedNode(id)
	}
	if err := m.identify(ctx, in); err != nil {
		return found, err
	}
	err = m.do.DB.Read(ctx, func(tx *db.Tx) error {
		list, err := milestone.ByIDs(tx, []int64{number})
		if at := list[number]; at != nil && int64(at.RepoID) == in.id {
			found = web.Some(at.Number)
			return err
		}
		return unresolvedNode(id)
	})
	return found, err
}

// relations are the labels, assignees and milestone of issues and pull requests that an input names. Null removes the
// milestone, and leaves the others unchanged.
func (m *mutation) relations(ctx context.Context, in *object) (e issue.Edit, err error) {
	if m.given("assigneeIds") {
		logins, err := m.logins(ctx, "assigneeIds")
		if err != nil {
			return e, err
		}
		if len(logins) > issue.MaxAssignees {
			return e, tooManyAssignees()
		}
		e.Assignees = web.Some(logins)
	}
	if m.given("labelIds") {
		names, err := m.labelNames(ctx, in, "labelIds")
		if err != nil {
			return e, err
		}
		e.Labels = web.Some(names)
	}
	if _, there := m.input["milestoneId"]; there {
		if e.Milestone, err = m.milestoneNumber(ctx, in); err != nil {
			return e, err
		}
	}
	if len(m.ids("projectIds")) > 0 {
		return e, refused("Arbor has no projects.")
	}
	return e, nil
}

func tooManyAssignees() error {
	return errs.Newf(errs.Invalid, "An issue has %d assignees at most.", issue.MaxAssignees)
}

// relates reports that an edit changes labels, assignees or the milestone.
func relates(e issue.Edit) bool { return e.Labels.Set || e.Assignees.Set || e.Milestone.Set }

// mayRelate returns an error unless the caller may set labels, assignees and milestones, which operations ignore
// below the role Triage.
func mayRelate(ctx context.Context, in *object, e issue.Edit) error {
	if !relates(e) {
		return nil
	}
	role, err := roleOn(ctx, in)
	if err == nil && role < account.Triage {
		err = errs.New(errs.Forbidden, "Must have triage access to Repository.")
	}
	return err
}
