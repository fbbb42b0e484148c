package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// auditActions are the actions that GitHub's schema has a type for.
var auditActions = []audit.Action{audit.OrgCreate, audit.OrgAddMember, audit.OrgUpdateMember, audit.OrgRemoveMember,
	audit.OrgInvite, audit.OrgFactorsOn, audit.OrgFactorsOff, audit.OAuthAppCreate, audit.TeamAddMember,
	audit.TeamRemoveMember, audit.TeamAddRepo, audit.TeamRemoveRepo, audit.RepoCreate, audit.RepoAccess,
	audit.RepoArchived, audit.RepoDestroy, audit.RepoAddMember, audit.RepoRemoveMember}

// auditKind returns the type of the entries of an action: org.add_member is an OrgAddMemberAuditEntry.
func auditKind(a audit.Action) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(string(a), func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "AuditEntry"
}

// auditRow is an event with its repository, if the caller sees that.
type auditRow struct {
	*account.OrgEvent
	repo *object
}

// auditLog resolves the audit logs of organizations for their owners, as far as GitHub's schema has types for what
// happened. Others have an empty list.
func auditLog(ctx context.Context, f *exec.Field, o *object) (pages[auditRow], error) {
	const address = "GET /orgs/{org}/audit-log"
	var filter audit.Filter
	phrase, _ := f.Args["query"].(string)
	if err := filter.Parse(phrase); err != nil {
		return pages[auditRow]{}, err
	}
	filter.Actions = slices.DeleteFunc(slices.Clone(auditActions), func(a audit.Action) bool {
		return len(filter.Actions) > 0 && !slices.Contains(filter.Actions, a)
	})
	if order, is := f.Args["orderBy"].(map[string]any); is {
		filter.Ascending = order["direction"] == "ASC"
	}
	p := pages[auditRow]{kind: "OrganizationAuditEntryConnection",
		rank: rankBy(!filter.Ascending, func(r auditRow) []any { return []any{r.CreatedAt, r.ID} }),
		node: func(r auditRow) (any, error) { return newAuditEntry(ctx, o, r), nil }}
	p.many = accountsPager[auditRow]{fmt.Sprint("audit log ", phrase, filter.Ascending), address, func(
		ctx context.Context, q *query, of []account.ID, page web.Page) (map[account.ID]*web.List[auditRow], error) {
		if len(filter.Actions) == 0 {
			return nil, nil
		}
		found, err := q.load.Accounts.EventsOfEach(ctx, viewer(ctx), of, filter, page)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, list := range found {
			for _, e := range list.Rows {
				if e.Repo.ID != 0 {
					ids = append(ids, e.Repo.ID)
				}
			}
		}
		repos, err := q.repositoriesByID(ctx, ids)
		if errs.Is(err, errs.Forbidden) { // the token is for the log alone
			repos, err = nil, nil
		}
		return shownList(found, func(e *account.OrgEvent) auditRow { return auditRow{e, repos[e.Repo.ID]} }), err
	}}
	return p, nil
}

// newAuditEntry returns an event in the audit log of an organization.
func newAuditEntry(ctx context.Context, org *object, r auditRow) any {
	var changes map[string]any
	_ = json.Unmarshal(r.Changes, &changes) // an object
	told := func(name string) string { s, _ := changes[name].(string); return s }
	fields := map[string]any{"id": account.NodeID("AuditEntry", r.ID), "action": string(r.Action),
		"createdAt":     r.CreatedAt.Time().UTC().Format("2006-01-02T15:04:05.000Z"),
		"operationType": operationOf(r.Action), "actor": person(ctx, r.Actor),
		"actorIp": orNil(r.Event.Actor.Address), "organization": org}
	name := func(prefix, suffix, name, path string) {
		if name != "" {
			fields[prefix+suffix] = name
			fields[prefix+"Url"], fields[prefix+"ResourcePath"] = web.From(ctx).Page(path), path
		}
	}
	name("actor", "Login", r.Event.Actor.Login, web.Path(r.Event.Actor.Login))
	name("organization", "Name", r.Org.Name, web.Path(r.Org.Name))
	if u, is := person(ctx, r.User).(*object); is && u.kind == "User" {
		fields["user"] = u
	}
	name("user", "Login", r.Event.User.Name, web.Path(r.Event.User.Name))
	if r.repo != nil {
		fields["repository"] = r.repo
	}
	name("repository", "Name", r.Repo.Name, "/"+r.Repo.Name)
	team := told("team")
	name("team", "Name", team, "/orgs/"+url.PathEscape(r.Org.Name)+"/teams/"+url.PathEscape(team))
	roles := map[string]any{"admin": "ADMIN", "member": "READ"}
	switch r.Action {
	case audit.OrgAddMember, audit.OrgUpdateMember:
		fields["permission"], fields["permissionWas"] = roles[told("role")], roles[told("old_role")]
	case audit.RepoCreate, audit.RepoAccess, audit.RepoArchived, audit.RepoDestroy, audit.RepoAddMember, audit.RepoRemoveMember:
		if told("visibility") != "" {
			fields["visibility"] = strings.ToUpper(told("visibility"))
		}
	}
	return bare{auditKind(r.Action), fields}
}

// operationOf returns the sort of an action.
func operationOf(a audit.Action) string {
	_, verb, _ := strings.Cut(string(a), ".")
	switch verb, _, _ = strings.Cut(verb, "_"); verb {
	case "create", "add", "invite":
		return "CREATE"
	case "destroy", "remove":
		return "REMOVE"
	}
	return "MODIFY"
}
