package graphql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/web"
)

// viewer returns the caller.
func viewer(ctx context.Context) *account.Caller { return account.CallerFrom(ctx) }

// on returns the context of operations that read in place of a route outside repositories, such as
// "GET /users/{username}", and the caller as they see it. Errors: those of a request before its handler.
func (q *query) on(ctx context.Context, address string) (context.Context, *account.Caller, error) {
	if q.stopped != nil {
		return nil, nil, q.stopped
	}
	p := q.permitRead(ctx, address)
	if p.err != nil {
		return nil, nil, q.noteError(p.err)
	}
	return showing(account.WithCaller(ctx, p.caller), "raw", nil), p.caller, nil
}

// viewerAccount resolves the caller's account, which may be an App's bot.
func viewerAccount(ctx context.Context, _ *exec.Field) (any, error) {
	q := queryOf(ctx)
	if viewer(ctx).App != 0 {
		data, err := q.accountNamed(ctx, viewer(ctx).Login)
		return &object{kind: "User", data: data, whole: true}, err
	}
	ctx, caller, err := q.on(ctx, "GET /user")
	if err != nil {
		return nil, err
	}
	me, err := q.load.Accounts.FullSelf(ctx, caller)
	if err != nil {
		return nil, q.noteError(err)
	}
	data, err := q.show(ctx, me)
	return &object{kind: "User", data: data, whole: true}, err
}

// accountAt returns the account of a login, with the type that REST reports. Error: 404.
func (q *query) accountAt(ctx context.Context, login string) (any, error) {
	data, err := q.accountNamed(ctx, login)
	if err != nil {
		return nil, err
	}
	o := newAccount(data).(*object)
	o.whole = true
	return o, nil
}

// accountNamed loads the full payload of an account by its login. Error: 404.
func (q *query) accountNamed(ctx context.Context, login string) (payload, error) {
	key := "account " + account.Fold(login)
	if k, ok := q.kept[key]; ok {
		data, _ := k.value.(payload)
		return data, k.err
	}
	data, err := q.readAccount(ctx, login)
	q.kept[key] = kept{value: data, err: err}
	return data, err
}

func (q *query) readAccount(ctx context.Context, login string) (payload, error) {
	ctx, caller, err := q.on(ctx, "GET /users/{username}")
	if err != nil {
		return nil, err
	}
	found, err := q.load.Accounts.FullByLogins(ctx, caller, []string{login})
	if err != nil {
		return nil, q.noteError(err)
	}
	a, there := found[account.Fold(login)]
	if !there {
		return nil, errs.Absent()
	}
	return q.show(ctx, a)
}

// show renders a feature's value as REST does, and counts its memory.
func (q *query) show(ctx context.Context, v any) (payload, error) {
	data, err := payloadOf(v)
	if err != nil {
		return nil, err
	}
	return data, q.hold(ctx, bytesOfRow(data))
}

// accountsByID loads the full payloads of accounts. Unknown ids are missing.
func (q *query) accountsByID(ctx context.Context, ids []int64) (map[int64]payload, error) {
	ctx, caller, err := q.on(ctx, "GET /users")
	if err != nil {
		return nil, err
	}
	found, err := q.load.Accounts.FullByIDs(ctx, caller, asIDs[account.ID](ids))
	if err != nil {
		return nil, q.noteError(err)
	}
	accounts := map[int64]payload{}
	for id, a := range found {
		if accounts[int64(id)], err = q.show(ctx, a); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}

// findAccounts finds accounts by their node ids.
func (q *query) findAccounts(ctx context.Context, ids []nodeID) []lookup {
	accounts, err := q.accountsByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		found[n].value = newAccount(accounts[id.number])
	}
	return found
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
		missing := map[int64][]*object{}
		for _, o := range objectsOf(parents) {
			if id := byIdentity(o); !o.whole && id != 0 {
				missing[id] = append(missing[id], o)
			}
		}
		if len(missing) > 0 {
			found, err := q.accountsByID(ctx, slices.Collect(maps.Keys(missing)))
			if err != nil {
				return failed(asError(err), len(parents))
			}
			for id, data := range found {
				for _, o := range missing[id] {
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
	fields["repository"], fields["repositories"] = ownedRepository(), connections(ownedRepositories)
	fields["organizations"], fields["projectsV2"] = connections(organizations), none("ProjectV2Connection")
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
	fields["repository"], fields["repositories"] = ownedRepository(), connections(ownedRepositories)
	fields["teams"], fields["team"] = none("TeamConnection"), always(nil)
	fields["projectsV2"] = none("ProjectV2Connection")
	return fields
}

// accountPager loads pages of a list that accounts have, one account after another.
type accountPager struct {
	name string // distinguishes its pages from those of others
	read func(ctx context.Context, q *query, login string, page web.Page) (*web.List[payload], error)
}

func (l accountPager) group() string { return l.name }

func (l accountPager) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	for _, o := range objects {
		l.pageOf(ctx, q, o, number, size)
	}
}

func (l accountPager) pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[payload], error) {
	login := o.text(ctx, "login")
	key := fmt.Sprint(l.name, " ", login, " ", number, "/", size)
	if k, ok := q.kept[key]; ok {
		page, _ := k.value.(*web.List[payload])
		return page, k.err
	}
	page, err := l.read(ctx, q, login, web.Page{Number: int64(number), Size: int64(size)})
	if err = q.noteError(err); err == nil {
		err = q.hold(ctx, bytesOf(page))
	}
	q.kept[key] = kept{value: page, err: err}
	return page, err
}

// showList renders a page of a feature's values as REST does. Error: err, or that of rendering.
func showList[V any](ctx context.Context, list *web.List[V], err error) (*web.List[payload], error) {
	shown, err := listsOf(ctx, map[int]*web.List[V]{0: list}, err)
	return shown[0], err
}

// organizations resolves the organizations of a user that are visible to the caller.
func organizations(ctx context.Context, _ *exec.Field, o *object) (pages, error) {
	address := "GET /users/{username}/orgs"
	if o.text(ctx, "login") == viewer(ctx).Login {
		address = "GET /user/orgs"
	}
	read := func(ctx context.Context, q *query, login string, page web.Page) (*web.List[payload], error) {
		ctx, caller, err := q.on(ctx, address)
		if err != nil {
			return nil, err
		}
		list, err := q.load.Accounts.Organizations(ctx, caller, login, page)
		return showList(ctx, list, err)
	}
	return pages{kind: "OrganizationConnection", many: accountPager{address, read}, rank: byID(false),
		node: func(data payload) (any, error) { return newAccount(data), nil }}, nil
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
func ownedRepositories(_ context.Context, f *exec.Field, _ *object) (pages, error) {
	c := list.Choice{Affiliation: "owner,collaborator"} // GitHub's default
	if privacy, ok := f.Args["privacy"].(string); ok {
		c.Visibility = strings.ToLower(privacy)
	}
	if fork, ok := f.Args["isFork"].(bool); ok {
		c.Kind = map[bool]string{true: "forks", false: "sources"}[fork]
	}
	if given, ok := f.Args["ownerAffiliations"].([]any); ok {
		c.Affiliation = strings.ToLower(strings.Join(namesIn(given), ","))
	}
	o := list.Order{By: "full_name"}
	by, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"PUSHED_AT": "pushed", "NAME": "full_name"})
	if err != nil {
		return pages{}, err
	}
	if by != "" {
		o = list.Order{By: by, Desc: desc}
	}
	rank := byMembers(o.Desc, o.By+"_at", "id")
	if o.By == "full_name" {
		rank = byName(o.Desc, "full_name")
	}
	read := func(ctx context.Context, q *query, login string, page web.Page) (*web.List[payload], error) {
		ctx, caller, err := q.on(ctx, "GET /users/{username}/repos")
		if err != nil {
			return nil, err
		}
		found, total, err := q.load.Lists.OfAccount(ctx, caller, login, c, o, page)
		shown := &web.List[*repo.Payload]{Rows: repo.NewPayloads(found, web.From(ctx)), Total: total,
			More: page.Number*page.Size < total}
		return showList(ctx, shown, err)
	}
	return pages{kind: "RepositoryConnection", many: accountPager{fmt.Sprint("repositories ", c, o), read}, rank: rank,
		node: repositoryNode}, nil
}

// namesIn returns the texts of a list in the arguments.
func namesIn(list []any) []string {
	var out []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func repositoryNode(data payload) (any, error) { return newRepository(data), nil }

// orderBy reads orderBy: REST's name of the order, empty for none, and whether it descends. Error: for an
// order that REST does not have.
func orderBy(f *exec.Field, sorts map[string]string) (by string, desc bool, err error) {
	order, ok := f.Args["orderBy"].(map[string]any)
	if !ok {
		return "", false, nil
	}
	field, _ := order["field"].(string)
	if by, ok = sorts[field]; !ok {
		return "", false, &exec.Error{Message: "Arbor does not order by " + clip(field) + " here."}
	}
	return by, order["direction"] == "DESC", nil
}
