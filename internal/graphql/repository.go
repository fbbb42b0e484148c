package graphql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
)

// repository finds a repository by OWNER/NAME, also by a former one. Error: 404.
func (q *query) repository(ctx context.Context, name string) (*object, error) {
	r := repositoryAt(name)
	return r, q.loadOne(ctx, r, isWhole)
}

// repositoryNamed is repository for a field with the argument followRenames. Error: 404.
func (q *query) repositoryNamed(ctx context.Context, f *exec.Field, name string) (*object, error) {
	r, err := q.repository(ctx, name)
	if err == nil && f.Args["followRenames"] == false && !strings.EqualFold(r.name, name) {
		err = errs.Absent()
	}
	return r, err
}

// wholeRepositories loads whole repositories by their names.
func wholeRepositories(q *query) loader[string, *repo.FullPayload] {
	return perRepository("repositories", "", q.load.Lists.Full)
}

// repositoriesByID returns repositories by id. It omits those that are hidden from the caller.
func (q *query) repositoriesByID(ctx context.Context, ids []int64) (map[int64]*object, error) {
	ctx, caller, err := q.on(ctx, "GET /repositories/{repository_id}")
	if err != nil {
		return nil, err
	}
	repos := map[int64]*object{}
	for part := range slices.Chunk(db.Unique(ids), maxLoaded) {
		found, err := q.load.Lists.ByIDs(ctx, caller, asIDs[repo.ID](part))
		if err != nil {
			return nil, q.noteError(err)
		}
		full, err := q.load.Lists.Full(ctx, slices.Collect(maps.Values(found)))
		if err != nil {
			return nil, q.noteError(err)
		}
		for id, shown := range full {
			if err := q.hold(ctx, sizeOf(shown)); err != nil {
				return nil, err
			}
			repos[int64(id)] = &object{kind: "Repository"}
			repos[int64(id)].set(shown)
		}
	}
	return repos, nil
}

// repositoryByName is Query.repository.
func repositoryByName(ctx context.Context, f *exec.Field) (any, error) {
	owner, name := f.Args["owner"].(string), f.Args["name"].(string)
	r, err := queryOf(ctx).repositoryNamed(ctx, f, owner+"/"+name)
	if err != nil {
		return nil, orUnresolved(err, fmt.Sprintf("a Repository with the name '%s/%s'",
			clip(owner), clip(name)))
	}
	return r, nil
}

// ofRepository is pick for repositories.
func ofRepository(part func(p *repo.FullPayload) any) exec.Resolver { return pick(part) }

func repositoryFields() map[string]exec.Resolver {
	return merge(after(isKnown, repositoryTables()), after(isKnown, repositoryQueues()), after(isWhole, map[string]exec.Resolver{
		"parent":             otherRepository(func(p *repo.FullPayload) *repo.Payload { return p.Parent }),
		"templateRepository": otherRepository(func(p *repo.FullPayload) *repo.Payload { return p.Template }),
		// REST returns the merge settings only with push access. Other callers get the values of a new
		// repository.
		"viewerDefaultMergeMethod": ofRepository(func(p *repo.FullPayload) any {
			switch m := p.MergingPayload; {
			case m == nil || m.MergeCommit:
				return "MERGE"
			case m.Squash:
				return "SQUASH"
			}
			return "REBASE"
		}),
		"mergeCommitAllowed": setting(true, func(m *repo.MergingPayload) bool { return m.MergeCommit }),
		"squashMergeAllowed": setting(true, func(m *repo.MergingPayload) bool { return m.Squash }),
		"rebaseMergeAllowed": setting(true, func(m *repo.MergingPayload) bool { return m.Rebase }),
		"autoMergeAllowed":   setting(false, func(m *repo.MergingPayload) bool { return m.AutoMerge }),
		"deleteBranchOnMerge": setting(false, func(m *repo.MergingPayload) bool {
			return m.DeletesHead
		}),
		"allowUpdateBranch": setting(false, func(m *repo.MergingPayload) bool { return m.UpdateBranch }),
	}), map[string]exec.Resolver{
		"nameWithOwner": key(func(o *object) any { return o.name }),
		"name":          key(func(o *object) any { _, name, _ := strings.Cut(o.name, "/"); return name }),
		"stargazers":    connections(stargazers), "collaborators": collaborators, "forks": forks, "languages": languages,
		"viewerHasStarred": viewerHasStarred, "viewerSubscription": viewerSubscription,
	}, repositoryTemplates(), repositoryIssues(), repositoryPulls(), repositoryGit(), repositoryReleases(), repositoryRules(),
		repositoryFacts(), repositoryDeployments())
}

func repositoryTables() map[string]exec.Resolver {
	type payload = *repo.FullPayload
	return map[string]exec.Resolver{
		"id":                    ofRepository(func(p payload) any { return p.NodeID }),
		"databaseId":            ofRepository(func(p payload) any { return int64(p.ID) }),
		"owner":                 ofRepository(func(p payload) any { return newAccount(p.Owner) }),
		"description":           ofRepository(func(p payload) any { return p.Description }),
		"url":                   ofRepository(func(p payload) any { return p.HTMLURL }),
		"resourcePath":          ofRepository(func(p payload) any { return pathOf(p.HTMLURL) }),
		"sshUrl":                ofRepository(func(p payload) any { return p.SSHURL }),
		"homepageUrl":           ofRepository(func(p payload) any { return p.Homepage }),
		"createdAt":             ofRepository(func(p payload) any { return p.CreatedAt }),
		"updatedAt":             ofRepository(func(p payload) any { return p.UpdatedAt }),
		"pushedAt":              ofRepository(func(p payload) any { return p.PushedAt }),
		"isEmpty":               ofRepository(func(p payload) any { return p.PushedAt.IsZero() }),
		"diskUsage":             ofRepository(func(p payload) any { return p.Size }),
		"isPrivate":             ofRepository(func(p payload) any { return p.Private }),
		"isFork":                ofRepository(func(p payload) any { return p.Fork }),
		"isArchived":            ofRepository(func(p payload) any { return p.Archived }),
		"isDisabled":            ofRepository(func(p payload) any { return p.Disabled }),
		"isTemplate":            ofRepository(func(p payload) any { return p.IsTemplate }),
		"visibility":            ofRepository(func(p payload) any { return enumName(p.Visibility) }),
		"forkCount":             ofRepository(func(p payload) any { return p.ForksCount }),
		"stargazerCount":        ofRepository(func(p payload) any { return p.StargazersCount }),
		"forkingAllowed":        ofRepository(func(p payload) any { return p.AllowForking }),
		"hasIssuesEnabled":      ofRepository(func(p payload) any { return p.HasIssues }),
		"hasProjectsEnabled":    ofRepository(func(p payload) any { return p.HasProjects }),
		"hasWikiEnabled":        ofRepository(func(p payload) any { return p.HasWiki }),
		"hasDiscussionsEnabled": ofRepository(func(p payload) any { return p.HasDiscussions }),
		"mirrorUrl":             ofRepository(func(p payload) any { return p.MirrorURL }),
		"isMirror":              ofRepository(func(p payload) any { return p.MirrorURL != nil }),
		"openGraphImageUrl":     ofRepository(func(p payload) any { return p.Owner.AvatarURL }),
		"isInOrganization":      ofRepository(func(p payload) any { return p.Owner.Type == "Organization" }),
		"isUserConfigurationRepository": ofRepository(func(p payload) any {
			return p.Owner.Type == "User" && p.Owner.Login == p.Name
		}),
		"viewerPermission": ofRepository(func(p payload) any { return permissionOf(p.Permissions) }),
		"viewerCanAdminister": ofRepository(func(p payload) any {
			return p.Permissions.Role() == account.Admin
		}),
		"primaryLanguage": ofRepository(func(p payload) any {
			if p.Language == nil {
				return nil
			}
			return newLanguage(*p.Language)
		}),
		"licenseInfo": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			if l := o.value.(payload).License; l != nil {
				return newLicense(ctx, &l.Key), nil
			}
			return nil, nil
		}),
		"repositoryTopics": one(repositoryTopics),
	}
}

// otherRepository is a repository that stands in a value; null if there is none, or it is not to be seen.
func otherRepository(which func(p *repo.FullPayload) *repo.Payload) exec.Resolver {
	return ofRepository(func(p *repo.FullPayload) any {
		if other := which(p); other != nil {
			return newRepository(other)
		}
		return nil
	})
}

// setting is a member that REST returns only to some callers.
func setting(otherwise bool, of func(m *repo.MergingPayload) bool) exec.Resolver {
	return ofRepository(func(p *repo.FullPayload) any {
		if p.MergingPayload == nil {
			return otherwise
		}
		return of(p.MergingPayload)
	})
}

// roleOn returns the caller's role on a repository.
func roleOn(ctx context.Context, in *object) (account.Role, error) {
	if err := queryOf(ctx).loadOne(ctx, in, isKnown); err != nil {
		return account.None, err
	}
	return in.value.(*repo.FullPayload).Permissions.Role(), nil
}

// permissionOf returns a role as RepositoryPermission.
func permissionOf(p *repo.Permissions) string { return strings.ToUpper(p.Role().Name()) }

// merge joins tables of fields.
func merge(tables ...map[string]exec.Resolver) map[string]exec.Resolver {
	all := map[string]exec.Resolver{}
	for _, t := range tables {
		for name, r := range t {
			all[name] = r
		}
	}
	return all
}
