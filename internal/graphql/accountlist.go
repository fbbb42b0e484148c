package graphql

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
	"arbor/internal/web"
)

// accountPager loads pages of a list that accounts have, one account after another.
type accountPager[V any] struct {
	name string // distinguishes its pages from those of others
	read func(ctx context.Context, q *query, login string, page web.Page) (*web.List[V], error)
}

func (l accountPager[V]) group() string { return l.name }

func (l accountPager[V]) loadPage(ctx context.Context, q *query, objects []*object, number, size int) {
	for _, o := range objects {
		l.pageOf(ctx, q, o, number, size)
	}
}

func (l accountPager[V]) pageOf(ctx context.Context, q *query, o *object, number, size int) (*web.List[V], error) {
	key := fmt.Sprint(l.name, " ", o.name, " ", number, "/", size)
	if k, ok := q.kept[key]; ok {
		page, _ := k.value.(*web.List[V])
		return page, k.err
	}
	page, err := l.read(ctx, q, o.name, web.Page{Number: int64(number), Size: int64(size)})
	if err = q.noteError(err); err == nil {
		err = q.hold(ctx, sizeOfList(page))
	}
	q.kept[key] = kept{value: page, err: err}
	return page, err
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

// ownedRepository resolves a repository of an owner by its name.
func ownedRepository() exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		r, err := queryOf(ctx).repositoryNamed(ctx, f, o.name+"/"+f.Args["name"].(string))
		if errs.Is(err, errs.NotFound) {
			return nil, nil
		}
		return r, err
	})
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
		out := map[account.ID]*web.List[*repo.Payload]{}
		for id, l := range found {
			out[id] = &web.List[*repo.Payload]{Rows: repo.NewPayloads(l.Rows, web.From(ctx)), Total: l.Total, More: l.More}
		}
		return out, err
	}}
}

// rankOfOwned is the order of repositories of an owner.
func rankOfOwned(o list.Order) *rank[*repo.Payload] {
	if o.By == "full_name" {
		return &rank[*repo.Payload]{desc: o.Desc, of: func(p *repo.Payload) string { return foldedName(p.FullName) }}
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
