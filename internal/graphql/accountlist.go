package graphql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/team"
	"arbor/internal/web"
)

// eachPager loads pages of a list that accounts or teams have, of all of them together. Objects that found misses have
// none.
type eachPager[K ~int64, V any] struct {
	name    string // distinguishes its pages from those of others
	address string // of the route that lists the same
	read    func(ctx context.Context, q *query, of []K, page web.Page) (found map[K]*web.List[V], err error)
}

// accountsPager and teamsPager are those of accounts and of teams.
type (
	accountsPager[V any] = eachPager[account.ID, V]
	teamsPager[V any]    = eachPager[team.ID, V]
)

func (l eachPager[K, V]) group() string { return l.name }

func (l eachPager[K, V]) keyOf(id K, number, size int) string {
	return fmt.Sprint(l.name, " ", int64(id), " ", number, "/", size)
}

func (l eachPager[K, V]) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	var missing []K
	for _, o := range objects {
		if _, known := q.kept[l.keyOf(K(o.id), number, size)]; !known {
			missing = append(missing, K(o.id))
		}
	}
	for ids := range slices.Chunk(db.Unique(missing), maxLoaded) {
		var found map[K]*web.List[V]
		in, _, err := q.on(ctx, l.address)
		if err == nil {
			found, err = l.read(in, q, ids, web.Page{Number: int64(number), Size: int64(size)})
		}
		err = q.noteError(err)
		for _, id := range ids {
			k := kept{value: found[id], err: err}
			if err == nil {
				k.err = q.hold(ctx, sizeOfList(found[id]))
			}
			q.kept[l.keyOf(id, number, size)] = k
		}
	}
}

func (l eachPager[K, V]) pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[V], error) {
	l.loadPage(ctx, q, []*object{o}, number, size)
	k := q.kept[l.keyOf(K(o.id), number, size)]
	page, _ := k.value.(*web.List[V])
	return page, k.err
}

// shownList returns pages with the values that show returns.
func shownList[K comparable, V, W any](lists map[K]*web.List[V], show func(V) W) map[K]*web.List[W] {
	out := make(map[K]*web.List[W], len(lists))
	for k, l := range lists {
		out[k] = &web.List[W]{Total: l.Total, More: l.More}
		for _, v := range l.Rows {
			out[k].Rows = append(out[k].Rows, show(v))
		}
	}
	return out
}

// organizations resolves the organizations of a user that are visible to the caller.
func organizations(ctx context.Context, f *exec.Field, o *object) (pages[*account.Simple], error) {
	if _, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created"}); err != nil || desc {
		return pages[*account.Simple]{}, refused("Arbor lists organizations by when they were made only, the oldest first.")
	}
	address := "GET /users/{username}/orgs"
	if o.name == viewer(ctx).Login {
		address = "GET /user/orgs"
	}
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*account.Simple], error) {
		return q.load.Accounts.Organizations(ctx, viewer(ctx), of, page)
	}
	return pages[*account.Simple]{kind: "OrganizationConnection", rank: rankByID(idOfAccount),
		many: accountsPager[*account.Simple]{address, address, read}, node: accountNode}, nil
}

func accountNode(a *account.Simple) (any, error) { return newAccount(a), nil }

// ownedRepository resolves repositories of owners by their name, of all owners together.
func ownedRepository(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, named := queryOf(ctx), make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		named[n] = repositoryAt(o.name + "/" + f.Args["name"].(string))
	}
	wholeRepositories(q).load(ctx, q, named)
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		r, err := q.repositoryNamed(ctx, f, o.name+"/"+f.Args["name"].(string))
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		return r, err
	})(ctx, f, parents)
}

// ownedBy reads the arguments that choose among the repositories of an owner.
func ownedBy(ctx context.Context, f *exec.Field, o *object) (c list.Choice, err error) {
	c.Affiliation = "owner,collaborator" // GitHub's default
	for _, name := range [...]string{"privacy", "visibility"} {
		word, ok := f.Args[name].(string)
		if word = strings.ToLower(word); ok && c.Visibility != "" && c.Visibility != word {
			err = refused("privacy and visibility exclude each other.")
		} else if ok {
			c.Visibility = word
		}
	}
	if c.Visibility == "internal" {
		err = refused("Arbor has no internal repositories.")
	}
	if fork, ok := f.Args["isFork"].(bool); ok {
		c.Kind = map[bool]string{true: "forks", false: "sources"}[fork]
	}
	for name, to := range map[string]*web.Opt[bool]{"isArchived": &c.Archived, "hasIssuesEnabled": &c.HasIssues} {
		to.Value, to.Set = f.Args[name].(bool)
	}
	if f.Args["isLocked"] == true {
		err = refused("Arbor locks no repositories.")
	}
	if given, ok := f.Args["ownerAffiliations"].([]any); ok {
		c.Affiliation = strings.ToLower(strings.Join(namesIn(given), ","))
	}
	// affiliations are those of the caller: of the caller's own repositories both mean the same.
	if given, ok := f.Args["affiliations"].([]any); ok {
		if o.name != viewer(ctx).Login || !isDefault(f, "ownerAffiliations", f.Args["ownerAffiliations"]) {
			return c, refused("Arbor chooses by affiliations only among the viewer's own repositories.")
		}
		c.Affiliation = strings.ToLower(strings.Join(namesIn(given), ","))
	}
	return c, err
}

// ownedRepositories resolves the repositories of an owner, and for a user those with another affiliation.
func ownedRepositories(ctx context.Context, f *exec.Field, of *object) (pages[*repo.Payload], error) {
	c, err := ownedBy(ctx, f, of)
	if err != nil {
		return pages[*repo.Payload]{}, err
	}
	o := list.Order{By: "full_name"}
	by, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"PUSHED_AT": "pushed", "NAME": "full_name", "STARGAZERS": "stars"})
	if err != nil {
		return pages[*repo.Payload]{}, err
	}
	if by != "" {
		o = list.Order{By: by, Desc: desc}
	}
	return pages[*repo.Payload]{kind: "RepositoryConnection", rank: rankOfOwned(o), many: repositoriesOf(c, o),
		node: repositoryNode}, nil
}

// repositoriesOf loads the repositories of accounts.
func repositoriesOf(c list.Choice, o list.Order) accountsPager[*repo.Payload] {
	return accountsPager[*repo.Payload]{fmt.Sprint("repositories ", c, o), "GET /users/{username}/repos", func(
		ctx context.Context, q *query, of []account.ID, page web.Page,
	) (map[account.ID]*web.List[*repo.Payload], error) {
		found, err := q.load.Lists.OfAccounts(ctx, viewer(ctx), of, c, o, page)
		return payloadsOf(ctx, found), err
	}}
}

// payloadsOf returns pages of repositories as they are shown.
func payloadsOf[K comparable](ctx context.Context, lists map[K]*web.List[*repo.Access]) map[K]*web.List[*repo.Payload] {
	return shownList(lists, func(a *repo.Access) *repo.Payload { return repo.NewPayload(a, web.From(ctx)) })
}

// rankOfOwned is the order of repositories of an owner.
func rankOfOwned(o list.Order) *sortKey[*repo.Payload] {
	if o.By == "full_name" {
		return &sortKey[*repo.Payload]{desc: o.Desc, of: func(p *repo.Payload) string { return foldedName(p.FullName) }}
	}
	return rankBy(o.Desc, func(p *repo.Payload) []any {
		if o.By == "stars" {
			return []any{p.StargazersCount, int64(p.ID)}
		}
		at := map[string]db.Time{"created": p.CreatedAt, "updated": p.UpdatedAt, "pushed": p.PushedAt}[o.By]
		return []any{at, int64(p.ID)}
	})
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

func repositoryNode(p *repo.Payload) (any, error) { return newRepository(p), nil }

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
