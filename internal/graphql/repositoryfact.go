package graphql

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"slices"

	"arbor/internal/account"
	sshkey "arbor/internal/account/key"
	"arbor/internal/detect"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// idOfName returns the node id of what a name names, as REST makes that of a license.
func idOfName(kind, name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + name))
}

// repositoryFacts returns fields of repositories that need no more than the repository's name.
func repositoryFacts() map[string]exec.Resolver {
	type payload = *repo.FullPayload
	word := func(name string, of func(m *repo.MergingPayload) string) exec.Resolver {
		return ofRepository(func(p payload) any {
			if p.MergingPayload == nil {
				return repo.Merging(0).Word(name)
			}
			return of(p.MergingPayload)
		})
	}
	known := map[string]exec.Resolver{
		"descriptionHTML": ofRepository(func(p payload) any { return htmlOf(p.Description) }),
		"shortDescriptionHTML": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			return htmlOf(new(shortened(orEmpty(o.value.(payload).Description), f))), nil
		}),
		"projectsUrl":          ofRepository(func(p payload) any { return projectsOf(p.HTMLURL) }),
		"projectsResourcePath": ofRepository(func(p payload) any { return pathOf(projectsOf(p.HTMLURL)) }),
		"viewerCanSubscribe": one(func(ctx context.Context, _ *exec.Field, _ *object) (any, error) {
			return viewer(ctx).App == 0, nil
		}),
		"viewerCanUpdateTopics": ofRepository(func(p payload) any {
			return p.Permissions.Role() >= account.Maintain
		}),
		"webCommitSignoffRequired": ofRepository(func(p payload) any { return p.SignoffRequired }),
	}
	return merge(after(isKnown, known), after(isWhole, map[string]exec.Resolver{
		"mergeCommitTitle": word("merge_commit_title", func(m *repo.MergingPayload) string { return m.MergeTitle }),
		"mergeCommitMessage": word("merge_commit_message",
			func(m *repo.MergingPayload) string { return m.MergeMessage }),
		"squashMergeCommitTitle": word("squash_merge_commit_title",
			func(m *repo.MergingPayload) string { return m.SquashTitle }),
		"squashMergeCommitMessage": word("squash_merge_commit_message",
			func(m *repo.MergingPayload) string { return m.SquashMessage }),
		"squashPrTitleUsedAsDefault": setting(false, func(m *repo.MergingPayload) bool { return m.UsesPullTitle }),
	}), map[string]exec.Resolver{
		"deployKeys":       deployKeys,
		"assignableUsers":  suggested("UserConnection", itself, plain),
		"mentionableUsers": suggested("UserConnection", itself, plain),
		"contributingGuidelines": health(func(h *gitdata.Health) any {
			return healthFile("ContributingGuidelines", h.Contributing, map[string]any{})
		}),
		"isSecurityPolicyEnabled": health(func(h *gitdata.Health) any { return h.Security != nil }),
		"securityPolicyUrl": health(func(h *gitdata.Health) any {
			if h.Security == nil {
				return nil
			}
			return h.Security.Page
		}),
		"planFeatures": always(bare{"RepositoryPlanFeatures", map[string]any{"codeowners": true, "draftPullRequests": true,
			"maximumAssignees": issue.MaxAssignees, "maximumManualReviewRequests": pull.MaxReviewers,
			"teamReviewRequests": true}}),
		"viewerDefaultCommitEmail": commitEmails(func(list []any) any {
			if len(list) == 0 {
				return nil
			}
			return list[0]
		}),
		"viewerPossibleCommitEmails": commitEmails(func(list []any) any { return list }),
		"codeOfConduct": health(func(h *gitdata.Health) any {
			return healthFile("CodeOfConduct", h.Conduct,
				map[string]any{"id": idOfName("CodeOfConduct", "other"), "key": "other", "name": "Other"})
		}),
	})
}

// commitEmails resolves a field with the addresses by which the viewer can commit, the primary one first; null if the
// token does not tell them.
func commitEmails(show func(list []any) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		in, caller, err := queryOf(ctx).on(ctx, "GET /user/emails")
		if errs.Is(err, errs.Forbidden) || errs.Is(err, errs.NotFound) || err == nil && caller.App != 0 {
			return values
		}
		if err != nil {
			return failed(asError(err), len(parents))
		}
		emails, err := queryOf(ctx).load.Accounts.OwnEmails(in, caller)
		if err != nil {
			return failed(asError(queryOf(ctx).noteError(err)), len(parents))
		}
		list := []any{}
		for _, e := range emails {
			switch {
			case e.Verified && e.Primary:
				list = slices.Insert(list, 0, any(e.Address))
			case e.Verified:
				list = append(list, e.Address)
			}
		}
		for n := range values {
			values[n] = show(list)
		}
		return values
	}
}

// health resolves what repositories tell contributors.
func health(show func(h *gitdata.Health) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		l := perRepository("health", "/contents", queryOf(ctx).load.Git.Health)
		return l.values(ctx, parents, func(_ *object, h *gitdata.Health) (any, error) {
			if h == nil {
				h = &gitdata.Health{}
			}
			return show(h), nil
		})
	}
}

// healthFile returns a file as an object with more fields, or nil.
func healthFile(kind string, file *gitdata.HealthFile, fields map[string]any) any {
	if file == nil {
		return nil
	}
	fields["url"], fields["resourcePath"], fields["body"] = file.Page, pathOf(file.Page), orNil(file.Text)
	return bare{kind, fields}
}

// deployKeys resolves the deploy keys of repositories, for those who administer them; others see none.
func deployKeys(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := perRepository("deploy keys", "/keys", func(ctx context.Context, list []*repo.Access) (
		map[repo.ID][]sshkey.Key, error) {
		ids := make([]int64, len(list))
		for n, a := range list {
			ids[n] = int64(a.ID)
		}
		found, err := q.load.Keys.OfMany(ctx, true, ids)
		out := map[repo.ID][]sshkey.Key{}
		for id, keys := range found {
			out[repo.ID(id)] = keys
		}
		return out, err
	})
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		keys, err := l.get(ctx, q, o)
		if err != nil && !errs.Is(err, errs.Forbidden) && !errs.Is(err, errs.NotFound) {
			values[n] = asError(err)
			continue
		}
		var all []any
		for _, k := range keys {
			all = append(all, bare{"DeployKey", map[string]any{"id": account.NodeID("DeployKey", k.ID), "key": k.PublicKey,
				"title": k.Title, "readOnly": k.ReadOnly, "verified": true, "enabled": true, "createdAt": k.CreatedAt}})
		}
		values[n] = orError(connectAll(f, "DeployKeyConnection", all))
	}
	return values
}

// newLanguage returns a language.
func newLanguage(name string) bare {
	return bare{"Language", map[string]any{"id": idOfName("Language", name), "name": name,
		"color": orNil(detect.Color(name))}}
}

// languages resolves the languages of the code, without orderBy most of it first.
func languages(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	_, desc, err := orderBy(f, map[string]string{"SIZE": "size"})
	if err != nil {
		return failed(asError(err), len(parents))
	}
	l := perRepository("languages", "/languages", queryOf(ctx).load.Languages.LanguagesOf)
	return l.values(ctx, parents, func(_ *object, sizes map[string]int64) (any, error) {
		names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
			return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
		})
		if f.Args["orderBy"] != nil && !desc {
			slices.Reverse(names)
		}
		all, sum := make([]any, len(names)), int64(0)
		for n, name := range names {
			all[n] = &edge{kind: "LanguageEdge", node: newLanguage(name), fields: map[string]any{"size": sizes[name]}}
			sum += sizes[name]
		}
		v, err := connectAll(f, "LanguageConnection", all)
		if c, ok := v.(*connection); ok {
			c.sum = sum
		}
		return v, err
	})
}
