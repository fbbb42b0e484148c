package graphql

import (
	"context"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// viewer returns the caller.
func viewer(ctx context.Context) *account.Caller { return account.CallerFrom(ctx) }

// accountAt returns the account of a login, with the type that REST reports.
func (q *query) accountAt(ctx context.Context, login string) (any, error) {
	source := Question{Path: web.Path("users", login)}
	data, err := q.object(ctx, source)
	if err != nil {
		return nil, err
	}
	o := newAccount(data).(*object)
	o.whole = o.kind != "Organization"
	return o, nil
}

// accountOf finds an account of one kind, whose name in errors begins with its article.
func accountOf(kind, article string) exec.Resolver {
	return root(func(ctx context.Context, f *exec.Field) (any, error) {
		login := f.Args["login"].(string)
		what := article + " with the login of '" + clip(login) + "'"
		o, err := queryOf(ctx).accountAt(ctx, login)
		if err != nil {
			return nil, orUnresolved(err, what)
		}
		if kind != "" && o.(*object).kind != kind {
			return nil, unresolved(what)
		}
		return o, nil
	})
}

// root returns a resolver for a field of the root, whose value the function returns.
func root(value func(ctx context.Context, f *exec.Field) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, _ []exec.Object) []any {
		v, err := value(ctx, f)
		if err != nil {
			return []any{asError(err)}
		}
		return []any{v}
	}
}

// fillUsers loads the users in the payloads for the fields that the payloads lack, all with one call.
func fillUsers(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		missing := map[string][]*object{}
		var ids []string
		for _, p := range parents {
			o := p.(*object)
			id := string(o.data.get("id"))
			if o.whole || id == "" {
				continue
			}
			if missing[id] == nil {
				ids = append(ids, id)
			}
			missing[id] = append(missing[id], o)
		}
		if len(ids) > 1 {
			list, _, err := q.list(ctx, Question{Path: "/users",
				Query:   url.Values{"ids": {strings.Join(ids, ",")}},
				Handler: q.with.Accounts.ListChosen})
			if err != nil {
				return failed(asError(err), len(parents))
			}
			for _, data := range list {
				for _, o := range missing[string(data.get("id"))] {
					o.data, o.whole = data, true
				}
			}
		}
		return next(ctx, f, parents)
	}
}

// failed returns the error for each of n parents.
func failed(err error, n int) []any {
	values := make([]any, n)
	for k := range values {
		values[k] = err
	}
	return values
}

// emptyIsNull is like same, but null for an empty text.
func emptyIsNull(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == "" {
			v = nil
		}
		return v, err
	})
}

// accountFields returns the fields that all accounts have, from any payload that contains them.
func accountFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "login": same("login"),
		"avatarUrl": same("avatar_url"),
		"url":       same("html_url"), "resourcePath": resourcePath("html_url"),
	}
}

func userFields() map[string]exec.Resolver {
	fields := accountFields()
	for name, r := range map[string]exec.Resolver{
		"name": same("name"), "email": orEmpty("email"), "bio": same("bio"), "company": same("company"),
		"location": same("location"), "websiteUrl": emptyIsNull("blog"),
		"createdAt": same("created_at"), "updatedAt": same("updated_at"),
	} {
		fields[name] = fillUsers(r)
	}
	fields["isSiteAdmin"] = same("site_admin")
	fields["isViewer"] = one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		return o.text(ctx, "login") == viewer(ctx).Login, nil
	})
	fields["repository"], fields["repositories"] = ownedRepository(), ownedRepositories()
	fields["organizations"], fields["projectsV2"] = organizations(), none("ProjectV2Connection")
	return fields
}

func botFields() map[string]exec.Resolver {
	fields := accountFields()
	fields["createdAt"], fields["updatedAt"] = fillUsers(same("created_at")), fillUsers(same("updated_at"))
	return fields
}

func organizationFields() map[string]exec.Resolver {
	fields := accountFields()
	for name, member := range map[string]string{"name": "name", "email": "email",
		"description": "description",
		"location":    "location", "createdAt": "created_at", "updatedAt": "updated_at"} {
		fields[name] = same(member)
	}
	fields["websiteUrl"] = emptyIsNull("blog")
	fields["viewerIsAMember"] = isNull("default_repository_permission", false)
	fields["repository"], fields["repositories"] = ownedRepository(), ownedRepositories()
	fields["teams"], fields["team"] = none("TeamConnection"), always(nil)
	fields["projectsV2"] = none("ProjectV2Connection")
	return fields
}

// organizations resolves the organizations of a user that are visible to the caller.
func organizations() exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		q, login := queryOf(ctx), o.text(ctx, "login")
		path := web.Path("users", login, "orgs")
		if login == viewer(ctx).Login {
			path = "/user/orgs"
		}
		return q.connect(ctx, f, pages{kind: "OrganizationConnection", question: Question{Path: path},
			rank: byID(false),
			node: func(data payload) (any, error) { return newAccount(data), nil }})
	})
}

// ownedRepository resolves a repository of an owner by its name.
func ownedRepository() exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		name := f.Args["name"].(string)
		r, err := queryOf(ctx).repository(ctx, o.text(ctx, "login"), name)
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		return r, err
	})
}

// ownedRepositories resolves the repositories of an owner, and for a user those with another affiliation.
func ownedRepositories() exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		q := queryOf(ctx)
		question := Question{Path: web.Path("users", o.text(ctx, "login"), "repos"), Query: url.Values{},
			Handler: q.with.Repositories.ListChosen}
		set := question.Query.Set
		if privacy, ok := f.Args["privacy"].(string); ok {
			set("visibility", strings.ToLower(privacy))
		}
		if fork, ok := f.Args["isFork"].(bool); ok {
			set("kind", map[bool]string{true: "forks", false: "sources"}[fork])
		}
		affiliations := []string{"owner", "collaborator"} // GitHub's default
		if list, ok := f.Args["ownerAffiliations"].([]any); ok {
			affiliations = nil
			for _, a := range list {
				if name, ok := a.(string); ok {
					affiliations = append(affiliations, strings.ToLower(name))
				}
			}
		}
		set("affiliation", strings.Join(affiliations, ","))
		orders := map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated", "PUSHED_AT": "pushed",
			"NAME": "full_name"}
		if err := setOrder(f, question.Query, orders); err != nil {
			return nil, err
		}
		return q.connect(ctx, f, pages{kind: "RepositoryConnection", question: question,
			rank: rankOfRepositories(question.Query), node: repositoryNode})
	})
}

// rankOfRepositories returns the order that sort and direction name.
func rankOfRepositories(values url.Values) *rank {
	desc := values.Get("direction") == "desc"
	if sort := values.Get("sort"); sort != "" && sort != "full_name" {
		return byMembers(desc, sort+"_at", "id")
	}
	return byName(desc, "full_name")
}

func repositoryNode(data payload) (any, error) { return newRepository(data), nil }

// setOrder sets sort and direction from orderBy. Error: for an order that REST does not have.
func setOrder(f *exec.Field, values url.Values, sorts map[string]string) error {
	order, ok := f.Args["orderBy"].(map[string]any)
	if !ok {
		return nil
	}
	field, _ := order["field"].(string)
	direction, _ := order["direction"].(string)
	sort, ok := sorts[field]
	if !ok {
		return &exec.Error{Message: "Arbor does not order by " + clip(field) + " here."}
	}
	values.Set("sort", sort)
	values.Set("direction", strings.ToLower(direction))
	return nil
}
