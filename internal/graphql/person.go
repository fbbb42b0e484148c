package graphql

import (
	"context"
	"fmt"
	"html"

	"arbor/internal/account"
	sshkey "arbor/internal/account/key"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/follow"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// htmlOf returns a line of text as HTML, as GitHub does; empty for none.
func htmlOf(text *string) string {
	if text == nil || *text == "" {
		return ""
	}
	return "<div>" + html.EscapeString(*text) + "</div>"
}

// shortened returns a text with at most as many characters as the argument limit says.
func shortened(s string, f *exec.Field) string {
	text := []rune(s)
	if limit, ok := f.Args["limit"].(int); ok && limit >= 0 && len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return s
}

// projectsOf are the addresses that GitHub has for projects of what a page is about.
func projectsOf(page string) string { return page + "/projects" }

// personFields are the fields of users about people, and what they do.
func personFields() map[string]exec.Resolver {
	return merge(followFields(), after(isWhole, map[string]exec.Resolver{
		"bioHTML":         pick(func(a account.Full) any { return htmlOf(a.Bio) }),
		"companyHTML":     pick(func(a account.Full) any { return htmlOf(a.Company) }),
		"twitterUsername": pick(func(a account.Full) any { return a.TwitterUsername }),
	}), map[string]exec.Resolver{
		"starredRepositories": connections(starredRepositories), "watching": connections(watching),
		"commitComments": connections(commitCommentsBy), "issueComments": connections(commentsBy),
		"issues": connections(issuesBy), "pullRequests": connections(pullsBy),
		"repositoriesContributedTo": contributedTo(false), "topRepositories": contributedTo(true),
		"contributionsCollection": contributionsCollection,
		"publicKeys":              publicKeys, "organization": organizationOf,
		"projectsUrl":          ofAccount(func(a *account.Simple) any { return projectsOf(a.HTMLURL) }),
		"projectsResourcePath": ofAccount(func(a *account.Simple) any { return pathOf(projectsOf(a.HTMLURL)) }),
	})
}

// organizationOf resolves the organization with a login for those of the users who are in it, as far as the caller
// sees that.
func organizationOf(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values, users := queryOf(ctx), make([]any, len(parents)), make([]account.ID, len(parents))
	org, err := q.accountAt(ctx, f.Args["login"].(string))
	if errs.Is(err, errs.NotFound) || err == nil && org.kind != "Organization" {
		return values
	}
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, o := range objectsOf(parents) {
		users[n] = account.ID(o.id)
	}
	in, caller, err := q.on(ctx, "GET /orgs/{org}/members/{username}")
	if err != nil {
		return failed(asError(err), len(parents))
	}
	seen, err := q.load.Accounts.SeenMembers(in, caller, account.ID(org.id), db.Unique(users))
	if err != nil {
		return failed(asError(q.noteError(err)), len(parents))
	}
	for n, id := range users {
		if seen[id] {
			values[n] = org
		}
	}
	return values
}

// publicKeys resolves the SSH keys of users.
func publicKeys(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	l := accountsPager[sshkey.Key]{"keys", "GET /users/{username}/keys", func(
		ctx context.Context, q *query, of []account.ID, _ web.Page,
	) (map[account.ID]*web.List[sshkey.Key], error) {
		ids := make([]int64, len(of))
		for n, id := range of {
			ids[n] = int64(id)
		}
		found, err := q.load.Keys.OfMany(ctx, false, ids)
		out := map[account.ID]*web.List[sshkey.Key]{}
		for id, list := range found {
			out[account.ID(id)] = &web.List[sshkey.Key]{Rows: list}
		}
		return out, err
	}}
	l.loadPage(ctx, q, objects, 1, 1)
	for n, o := range objects {
		page, err := l.pageOf(ctx, q, o, 1, 1)
		if err != nil {
			values[n] = asError(err)
			continue
		}
		all := []any{}
		if page != nil {
			for _, k := range page.Rows {
				shown := map[string]any{"id": account.NodeID("PublicKey", k.ID), "key": k.PublicKey, "fingerprint": k.Fingerprint}
				if o.id == int64(viewer(ctx).ID) { // others learn no more than the key
					shown["isReadOnly"], shown["accessedAt"] = k.ReadOnly, k.LastUsedAt
					shown["createdAt"], shown["updatedAt"] = k.CreatedAt, k.CreatedAt
				}
				all = append(all, bare{"PublicKey", shown})
			}
		}
		values[n] = orError(connectAll(f, "PublicKeyConnection", all))
	}
	return values
}

// ofOrganizations resolves a field of organizations by an operation that reads a value for all of them.
func ofOrganizations[V any](read func(
	s *account.Service, ctx context.Context, caller *account.Caller, orgs []account.ID,
) (map[account.ID]V, error), part func(v V) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		values, ids := make([]any, len(parents)), make([]account.ID, len(parents))
		for n, o := range objectsOf(parents) {
			ids[n] = account.ID(o.id)
		}
		in, caller, err := queryOf(ctx).on(ctx, "GET /orgs/{org}")
		if err != nil {
			return failed(asError(err), len(parents))
		}
		found, err := read(queryOf(ctx).load.Accounts, in, caller, db.Unique(ids))
		if err != nil {
			return failed(asError(queryOf(ctx).noteError(err)), len(parents))
		}
		for n, id := range ids {
			values[n] = leaf(part(found[id]))
		}
		return values
	}
}

// ofOrganization resolves what the caller may do with organizations.
func ofOrganization(part func(may account.OrgAccess) bool) exec.Resolver {
	return ofOrganizations((*account.Service).AccessTo, func(may account.OrgAccess) any { return part(may) })
}

// privileged resolves the rules of organizations for their members as far as the caller sees them.
func privileged(part func(p account.Privileges) any) exec.Resolver {
	return ofOrganizations((*account.Service).PrivilegesOf, part)
}

// membersWithRole resolves the members of an organization that the caller sees.
func membersWithRole(ctx context.Context, _ *exec.Field, _ *object) (pages[*account.Membership], error) {
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*account.Membership], error) {
		return q.load.Accounts.MembersOfEach(ctx, viewer(ctx), of, page)
	}
	return pages[*account.Membership]{kind: "OrganizationMemberConnection",
		rank: rankByID(func(m *account.Membership) int64 { return int64(m.User.ID) }),
		many: accountsPager[*account.Membership]{"members", "GET /orgs/{org}/members", read},
		node: func(m *account.Membership) (any, error) {
			return &edge{kind: "OrganizationMemberEdge", node: person(ctx, m.User),
				fields: map[string]any{"role": map[bool]string{true: "ADMIN", false: "MEMBER"}[m.Owner]}}, nil
		}}, nil
}

// pendingMembers resolves the people who are invited to an organization, for its owners.
func pendingMembers(context.Context, *exec.Field, *object) (pages[*account.Simple], error) {
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*account.Simple], error) {
		return q.load.Invitations.InvitedToEach(ctx, viewer(ctx), of, page)
	}
	return pages[*account.Simple]{kind: "UserConnection",
		key:  func(a *account.Simple) string { return decimal(int64(a.ID)) },
		many: accountsPager[*account.Simple]{"invited", "GET /orgs/{org}/invitations", read}, node: accountNode}, nil
}

// mannequins resolves the people without an account that imports named in repositories of an organization.
// Only owners see them.
func mannequins(_ context.Context, f *exec.Field, _ *object) (pages[*account.Simple], error) {
	by, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created", "LOGIN": "login"})
	l := account.MannequinList{ByLogin: by == "login", Desc: desc}
	l.Login, _ = f.Args["login"].(string)
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*account.Simple], error) {
		return q.load.Accounts.MannequinsOfEach(ctx, viewer(ctx), of, l, page)
	}
	rank := rankBy(desc, func(a *account.Simple) []any { return []any{int64(a.ID)} })
	if l.ByLogin {
		rank = rankBy(desc, func(a *account.Simple) []any { return []any{account.Fold(a.Login)} })
	}
	return pages[*account.Simple]{kind: "MannequinConnection", rank: rank, node: accountNode,
		many: accountsPager[*account.Simple]{fmt.Sprint("mannequins ", l), "GET /orgs/{org}/invitations", read}}, err
}

// companyFields are the fields of organizations about people, rights and addresses.
func companyFields() map[string]exec.Resolver {
	owner := ofOrganization(func(may account.OrgAccess) bool { return may.Owner })
	page := func(path ...string) func(ctx context.Context, o *object) string {
		return func(ctx context.Context, o *object) string {
			return web.Path(append([]string{"orgs", o.name}, path...)...)
		}
	}
	fields := merge(after(isWhole, map[string]exec.Resolver{
		"descriptionHTML": pick(func(a account.Full) any { return orNil(htmlOf(a.Bio)) }),
		"twitterUsername": pick(func(a account.Full) any { return a.TwitterUsername }),
	}), addressed("teams", page("people", "teams")), addressed("newTeam", page("people", "new-team")),
		addressed("projects", page("projects")))
	return merge(fields, map[string]exec.Resolver{
		"viewerCanAdminister": owner, "viewerCanCreateTeams": owner, "viewerCanChangePinnedItems": owner,
		"viewerCanCreateRepositories":       ofOrganization(func(may account.OrgAccess) bool { return may.Member }),
		"viewerIsFollowing":                 resolveFollows(follow.Following),
		"membersWithRole":                   connections(membersWithRole),
		"pendingMembers":                    connections(pendingMembers),
		"membersCanForkPrivateRepositories": privileged(func(p account.Privileges) any { return p.PrivateForks }),
		"organizationBillingEmail":          privileged(func(p account.Privileges) any { return p.BillingEmail }),
		"requiresTwoFactorAuthentication":   privileged(func(p account.Privileges) any { return p.Factors }),
		"auditLog":                          connections(auditLog),
		"mannequins":                        connections(mannequins),
		"rulesets":                          loadingRulesets(organizationRulesets),
		"ruleset":                           loadingRulesets(organizationRuleset),
	})
}

// addressed returns the fields of the address of a page and its path: teamsUrl and teamsResourcePath.
func addressed(name string, path func(ctx context.Context, o *object) string) map[string]exec.Resolver {
	url, resource := name+"Url", name+"ResourcePath"
	if name == "" {
		url, resource = "url", "resourcePath"
	}
	return map[string]exec.Resolver{
		url: one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return web.From(ctx).Page(path(ctx, o)), nil
		}),
		resource: one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return path(ctx, o), nil }),
	}
}
